"""Consumer groups of the embedded log: seats, their partitions and their offsets."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from penstock.clock import Clock
from penstock.errors import GroupError, TopicError, did_you_mean
from penstock.log.assign.assign import assignor as assignor_named
from penstock.log.embedded.decisions import TransactionDecisions
from penstock.log.embedded.group_files import GroupFiles, group_names
from penstock.log.embedded.group_state import GroupState, Member
from penstock.log.embedded.membership import EmbeddedMembership
from penstock.log.port import Assignor, GroupInfo, GroupMemberInfo
from penstock.log.record import TopicPartition
from penstock.log.storage import Storage

DEFAULT_SESSION_TIMEOUT = timedelta(seconds=10)
_READABLE_LENGTH = 60


class GroupCoordinator:
    """Opens the groups of one log; it holds nothing itself."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        partitions_of: Callable[[str], int],
        decisions: TransactionDecisions,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._partitions_of = partitions_of
        self._decisions = decisions

    def join(
        self,
        group: str,
        topics: Sequence[str],
        *,
        assignor: Assignor = "range",
        client: str = "",
        session_timeout: timedelta = DEFAULT_SESSION_TIMEOUT,
        instance_id: str | None = None,
    ) -> EmbeddedMembership:
        """Take a seat; the first `heartbeat` gives the partitions that are free by then."""
        assignor_named(assignor)
        for topic in topics:
            self._partitions_of(topic)
        member = Member(
            member_id=_member_id(client),
            client=client,
            topics=tuple(dict.fromkeys(topics)),
            instance_id=instance_id,
            session_timeout=session_timeout // timedelta(milliseconds=1),
            joined_at=self._clock.now(),
        )
        return self._seat(GroupFiles(self._storage, group), member, assignor)

    def groups(self) -> tuple[str, ...]:
        """The names of all groups, sorted."""
        return tuple(group_names(self._storage))

    def group(self, name: str) -> GroupInfo:
        """Describe a group: its live members, what they hold, what it has committed."""
        files = self._existing(name)
        state = files.state()
        members = [
            _member_info(member, files.last_beat(member.member_id))
            for member in state.members.values()
            if member.instance_id is not None or files.is_alive(member.member_id)
        ]
        return GroupInfo(
            name, state.generation, state.assignor, tuple(members), self.committed(name)
        )

    def committed(self, group: str) -> dict[TopicPartition, int]:
        """The offsets a group has committed, those of committed transactions among them."""
        files = GroupFiles(self._storage, group)
        while True:
            stored = files.offsets()
            settled = stored.settled(self._decisions)
            # An outcome is kept until the offsets that wait for it are written down: it was
            # true if they still wait after it was asked for.
            if not stored.pending or files.offsets() == stored:
                return dict(settled.committed)

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Set offsets from outside; refused while a live member reads those partitions."""
        self._check(offsets)
        files = GroupFiles(self._storage, group)
        with files.locked():
            for member in _live_members(files, files.state()):
                if (member.owned | member.target) & offsets.keys():
                    raise _active(group, member)
            stored = files.offsets().settled(self._decisions)
            files.save_offsets(stored.with_committed(offsets))

    def stage(
        self,
        group: str,
        offsets: Mapping[TopicPartition, int],
        writer_id: int,
        epoch: int,
        number: int,
    ) -> None:
        """Let offsets become committed when a transaction is, and vanish when it is aborted."""
        self._check(offsets)
        files = GroupFiles(self._storage, group)
        with files.locked():
            stored = files.offsets().settled(self._decisions)
            files.save_offsets(stored.with_pending(offsets, (writer_id, epoch, number)))

    def settle(self, group: str) -> None:
        """Write down what transactions have decided, so that their outcome may be forgotten."""
        files = GroupFiles(self._storage, group)
        if not files.exist():
            return
        with files.locked():
            stored = files.offsets()
            settled = stored.settled(self._decisions)
            if settled != stored:
                files.save_offsets(settled)

    def delete(self, group: str) -> None:
        """Remove a group without live members, its offsets included."""
        files = self._existing(group)
        with files.locked():
            for member in _live_members(files, files.state()):
                raise _active(group, member)
            files.remove()

    def forget_topic(self, topic: str) -> None:
        """Drop every group's offsets of a topic, since a new one of that name begins at 0."""
        for name in self.groups():
            files = GroupFiles(self._storage, name)
            with files.locked():
                stored = files.offsets()
                kept = stored.without_topic(topic)
                if kept != stored:
                    files.save_offsets(kept)

    def _seat(self, files: GroupFiles, member: Member, assignor: Assignor) -> EmbeddedMembership:
        with files.locked():
            state = files.state()
            live = {found.member_id for found in _kept_members(files, state)}
            state = state.without(state.members.keys() - live)
            if state.members and state.assignor != assignor:
                raise GroupError(
                    "GROUP_ASSIGNOR",
                    f'group "{files.group}" shares out by "{state.assignor}", not "{assignor}"',
                    hint="Join with the same assignor, or let all members leave first.",
                )
            return self._sit_down(files, member, replace(state, assignor=assignor))

    def _sit_down(self, files: GroupFiles, member: Member, state: GroupState) -> EmbeddedMembership:
        lock = files.seat_lock(member.member_id)
        try:
            lock.acquire()
            state = self._with(state, member)
            seat = EmbeddedMembership(
                files,
                member,
                lock,
                clock=self._clock,
                partitions_of=self._partitions_of,
                decisions=self._decisions,
            )
            files.save_state(state)
            files.sweep(state.members)
        except BaseException:
            lock.close()
            raise
        return seat

    def _with(self, state: GroupState, member: Member) -> GroupState:
        """Seat a member; one that comes back under its instance id takes its old place."""
        for old in state.members.values():
            if old.instance_id is not None and old.instance_id == member.instance_id:
                state = state.without([old.member_id])
                member = replace(member, target=old.target)
                if old.topics == member.topics:
                    return state.with_member(member)
                break
        return state.with_member(member).shared_out(self._partitions_of)

    def _existing(self, name: str) -> GroupFiles:
        files = GroupFiles(self._storage, name)
        if not files.exist():
            raise GroupError(
                "GROUP_MISSING",
                f'group "{name}" does not exist',
                hint=did_you_mean(name, self.groups())
                or "List what exists with `penstock groups list`.",
            )
        return files

    def _check(self, offsets: Mapping[TopicPartition, int]) -> None:
        for topic, partition in offsets:
            count = self._partitions_of(topic)
            if not 0 <= partition < count:
                raise TopicError(
                    "PARTITION_RANGE",
                    f'partition {partition} of topic "{topic}" does not exist',
                    hint=f"Its partitions are 0 to {count - 1}.",
                )


def _member_id(client: str) -> str:
    """A name nobody had before, which begins as the client's and can be a file's."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", client)[:_READABLE_LENGTH] or "member"
    return f"{readable}-{uuid.uuid4().hex}"


def _kept_members(files: GroupFiles, state: GroupState) -> Iterable[Member]:
    """The members that live, and static ones that may come back."""
    for member in state.members.values():
        if member.instance_id is not None or files.is_alive(member.member_id):
            yield member


def _live_members(files: GroupFiles, state: GroupState) -> Iterable[Member]:
    return (member for member in state.members.values() if files.is_alive(member.member_id))


def _active(group: str, member: Member) -> GroupError:
    return GroupError(
        "GROUP_ACTIVE",
        f'group "{group}" is being read by member "{member.member_id}"',
        hint="Stop its consumers first, then try again.",
    )


def _member_info(member: Member, beat: bytes) -> GroupMemberInfo:
    return GroupMemberInfo(
        member.member_id,
        member.client,
        member.topics,
        tuple(sorted(member.target)),
        tuple(sorted(member.owned)),
        int(beat.split()[-1]) if beat else member.joined_at,
    )
