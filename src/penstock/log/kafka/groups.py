"""Consumer groups of a cluster, seen from outside."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError
from confluent_kafka import TopicPartition as KafkaPartition

from penstock.errors import GroupError, did_you_mean
from penstock.log.kafka.clients import LASTING, Clients
from penstock.log.kafka.documents import DOCUMENTS
from penstock.log.kafka.failures import error_of
from penstock.log.kafka.stored import StoredOffsets
from penstock.log.port import GroupInfo, GroupMemberInfo
from penstock.log.record import TopicPartition

_NOTE = "_penstock-note."
NOTE_PLACE = TopicPartition(DOCUMENTS, 0)
"""The partition whose offset bears notes."""
_ABSENT = {KafkaError.GROUP_ID_NOT_FOUND}


def note_group(transactional_id: str) -> str:
    """The group whose offset bears the note of a transactional id."""
    return _NOTE + transactional_id


class Groups:
    """Lists, describes, sets and removes groups; threads may share it."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._guard = threading.Lock()
        self._metadata: dict[str, object] = {}
        self._stored = StoredOffsets(clients)

    def names(self) -> tuple[str, ...]:
        """The names of all groups but those of notes, sorted."""
        found = self._clients.ask(
            "listing groups",
            lambda: self._clients.admin.list_consumer_groups(request_timeout=LASTING),
        )
        named = (group.group_id for group in found.valid)
        return tuple(sorted(name for name in named if not name.startswith(_NOTE)))

    def describe(self, name: str) -> GroupInfo:
        """Describe a group: members, assignment, committed offsets."""
        committed = self.committed(name)
        try:
            found = self._clients.ask(
                f'describing group "{name}"',
                lambda: self._clients.admin.describe_consumer_groups(
                    [name], request_timeout=LASTING
                )[name],
            )
        except Exception as failure:
            if _code(failure) not in _ABSENT:
                raise
            raise self._missing(name) from failure
        members = tuple(_member(member) for member in found.members)
        if not members and not committed and name not in self.names():
            raise self._missing(name)
        return GroupInfo(name, None, found.partition_assignor or "", members, committed)

    def committed(self, group: str, *, stable: bool = False) -> dict[TopicPartition, int]:
        """The offsets a group has committed; `stable` waits for those of a transaction."""
        return {place: at for place, (at, _) in self._stored.of(group, stable=stable).items()}

    def note(self, transactional_id: str) -> tuple[str, int]:
        """The note of a transactional id, and how many were noted."""
        found = self._stored.of(note_group(transactional_id), NOTE_PLACE, stable=True)
        note, commits = found.get(NOTE_PLACE, (0, ""))[::-1]
        return note, commits

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Set offsets from outside; refused while members read."""
        if not offsets:
            return
        places = [KafkaPartition(*place, at) for place, at in offsets.items()]
        asked = ConsumerGroupTopicPartitions(group, places)
        try:
            done = self._clients.ask(
                f'committing offsets of group "{group}"',
                lambda: self._clients.admin.alter_consumer_group_offsets(
                    [asked], request_timeout=LASTING
                )[group],
            )
        except GroupError as refusal:
            raise _active(group) from refusal
        for place in done.topic_partitions:
            if place.error is not None:
                raise _active(group)

    def delete(self, name: str) -> None:
        """Remove a group without live members, its offsets included."""
        try:
            self._clients.ask(
                f'deleting group "{name}"',
                lambda: self._clients.admin.delete_consumer_groups([name], request_timeout=LASTING)[
                    name
                ],
                once=True,
            )
        except Exception as failure:
            if _code(failure) not in _ABSENT:
                raise
            raise self._missing(name) from failure

    def metadata(self, group: str) -> object:
        """What a transaction has to know of a group whose offsets it commits."""
        with self._guard:
            known = self._metadata.get(group)
            if known is None:
                with self._clients.errors(f'opening group "{group}"'):
                    consumer = self._clients.consumer({"group.id": group})
                    known = self._metadata[group] = consumer.consumer_group_metadata()
                    consumer.close()
            return known

    def close(self) -> None:
        """Let go of what asks for offsets."""
        self._stored.close()

    def _missing(self, name: str) -> GroupError:
        return GroupError(
            "GROUP_MISSING",
            f'group "{name}" does not exist',
            hint=did_you_mean(name, self.names())
            or "List what exists with `penstock groups list`.",
        )


def _member(member: Any) -> GroupMemberInfo:  # noqa: ANN401  # its type has no name of its own
    places = tuple(
        sorted(
            TopicPartition(place.topic, place.partition)
            for place in (member.assignment.topic_partitions if member.assignment else ())
        )
    )
    topics = tuple(sorted({place.topic for place in places}))
    return GroupMemberInfo(member.member_id, member.client_id, topics, places, places, None)


def _code(failure: BaseException) -> int | None:
    error = None if failure.__cause__ is None else error_of(failure.__cause__)
    return None if error is None else error.code()


def _active(group: str) -> GroupError:
    return GroupError(
        "GROUP_ACTIVE",
        f'group "{group}" is being read by members',
        hint="Stop its consumers first, then try again.",
    )
