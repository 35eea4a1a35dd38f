"""Who is in a group, what each member holds now and what it is to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.errors import TopicError
from penstock.log.assign.assign import assign
from penstock.log.assign.subscription import NO_GENERATION, Assignment, Subscription
from penstock.log.embedded.sealed_json import seal, unseal
from penstock.log.record import TopicPartition

# "cooperative-sticky" leaves a partition that moves to a second round, after its owner gave it
# up; here every assignor's partitions wait for that, so both rounds are made at once.
_ROUNDS = {"cooperative-sticky": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One seat: `target` is what the member is to hold, `owned` what it holds now."""

    member_id: str
    client: str = ""
    topics: tuple[str, ...] = ()
    instance_id: str | None = None
    session_timeout: int = 10_000
    joined_at: int = 0
    target: frozenset[TopicPartition] = frozenset()
    owned: frozenset[TopicPartition] = frozenset()


@dataclass(frozen=True, slots=True)
class GroupState:
    """The members of a group; the generation counts how often partitions were shared out."""

    generation: int = 0
    assignor: str = "range"
    members: Mapping[str, Member] = field(default_factory=dict)

    def takeable(self, member_id: str) -> frozenset[TopicPartition]:
        """What a member is to hold and nobody holds now."""
        held = [member.owned for member in self.members.values()]
        return self.members[member_id].target.difference(*held)

    def with_member(self, member: Member) -> GroupState:
        """Add a seat, or change one."""
        return replace(self, members={**self.members, member.member_id: member})

    def without(self, member_ids: Iterable[str]) -> GroupState:
        """Take seats away; what their members held is free."""
        gone = set(member_ids)
        kept = {name: member for name, member in self.members.items() if name not in gone}
        return replace(self, members=kept)

    def shared_out(self, partitions_of: Callable[[str], int]) -> GroupState:
        """Give the next generation, in which the assignor has set every member's target."""
        wanted = {topic for member in self.members.values() for topic in member.topics}
        topics = {topic: count for topic in wanted if (count := _count(topic, partitions_of))}
        given: Assignment = {name: tuple(m.target) for name, m in self.members.items()}
        for _ in range(_ROUNDS.get(self.assignor, 1)):
            given = assign(self.assignor, topics, self._subscriptions(given))
        members = {
            name: replace(member, target=frozenset(given[name]))
            for name, member in self.members.items()
        }
        return GroupState(self.generation + 1, self.assignor, members)

    def _subscriptions(self, given: Assignment) -> dict[str, Subscription]:
        # The last targets, not what is owned: a partition on its way to a new owner stays his.
        return {
            name: Subscription(
                topics=member.topics,
                instance_id=member.instance_id,
                owned=tuple(sorted(given[name])),
                generation=self.generation if given[name] else NO_GENERATION,
            )
            for name, member in self.members.items()
        }


def encode_state(state: GroupState) -> bytes:
    """Give the content of a group's file of members."""
    return seal(
        {
            "generation": state.generation,
            "assignor": state.assignor,
            "members": [_member_document(member) for member in state.members.values()],
        }
    )


def decode_state(data: bytes) -> GroupState:
    """Read a group's file of members.

    It is not synced, so a power cut can leave it torn; since no member survives one,
    that is a group without members.
    """
    document = unseal(data)
    if document is None:
        return GroupState()
    members = [_member(item) for item in document["members"]]
    return GroupState(
        document["generation"],
        document["assignor"],
        {member.member_id: member for member in members},
    )


def _count(topic: str, partitions_of: Callable[[str], int]) -> int:
    try:
        return partitions_of(topic)
    except TopicError:
        return 0  # deleted since its reader joined


def _member_document(member: Member) -> dict[str, object]:
    return {
        "id": member.member_id,
        "client": member.client,
        "topics": list(member.topics),
        "instance": member.instance_id,
        "session_timeout": member.session_timeout,
        "joined_at": member.joined_at,
        "target": _by_topic(member.target),
        "owned": _by_topic(member.owned),
    }


def _member(document: Mapping[str, Any]) -> Member:
    return Member(
        member_id=document["id"],
        client=document["client"],
        topics=tuple(document["topics"]),
        instance_id=document["instance"],
        session_timeout=document["session_timeout"],
        joined_at=document["joined_at"],
        target=_partitions(document["target"]),
        owned=_partitions(document["owned"]),
    )


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        found.setdefault(topic, []).append(partition)
    return found


def _partitions(by_topic: Mapping[str, Iterable[int]]) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic, number) for topic, numbers in by_topic.items() for number in numbers
    )
