"""The round-robin assignor: all partitions of all topics dealt out in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from penstock.log.assign.racks import NO_RACKS, ReplicaRacks
from penstock.log.assign.subscription import (
    Assignment,
    Subscription,
    in_member_order,
    partitions_of,
    readers_by_topic,
)
from penstock.log.record import TopicPartition


def assign_round_robin(
    topics: Mapping[str, int],
    members: Mapping[str, Subscription],
    racks: ReplicaRacks = NO_RACKS,  # noqa: ARG001  dealing in turn leaves no choice of rack
) -> Assignment:
    """Deal partitions to members in turn, passing over those that do not read the topic."""
    given: dict[str, list[TopicPartition]] = {member: [] for member in members}
    readers = {
        topic: frozenset(names) for topic, names in readers_by_topic(topics, members).items()
    }
    turn = deque(in_member_order(members, members))
    for partition in partitions_of(topics, readers):
        while turn[0] not in readers[partition.topic]:
            turn.rotate(-1)
        given[turn[0]].append(partition)
        turn.rotate(-1)
    return {member: tuple(partitions) for member, partitions in given.items()}
