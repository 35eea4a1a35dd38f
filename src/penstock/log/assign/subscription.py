"""What a member tells its group before partitions are shared out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from penstock.log.record import TopicPartition

NO_GENERATION = -1

Assignment: TypeAlias = dict[str, tuple[TopicPartition, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """The topics a member wants, and what it holds from an earlier round.

    `generation` is that of the round in which `owned` was given; a member that has not
    been through one has `NO_GENERATION`.
    """

    topics: tuple[str, ...]
    instance_id: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int = NO_GENERATION
    rack: str | None = None


def in_member_order(members: Mapping[str, Subscription], among: Iterable[str]) -> list[str]:
    """Put static members first, by instance id, then the others by member id."""

    def rank(member: str) -> tuple[bool, str]:
        instance = members[member].instance_id
        return (True, member) if instance is None else (False, instance)

    return sorted(among, key=rank)


def readers_by_topic(
    topics: Mapping[str, int], members: Mapping[str, Subscription]
) -> dict[str, list[str]]:
    """List who reads each topic, topics sorted; those that nobody reads or that are empty go."""
    readers: dict[str, list[str]] = {topic: [] for topic in sorted(topics) if topics[topic] > 0}
    for member, subscription in members.items():
        for topic in dict.fromkeys(subscription.topics):
            if topic in readers:
                readers[topic].append(member)
    return {topic: names for topic, names in readers.items() if names}


def partitions_of(topics: Mapping[str, int], names: Iterable[str]) -> list[TopicPartition]:
    """List all partitions of the named topics, in the order of the names."""
    return [TopicPartition(name, number) for name in names for number in range(topics[name])]
