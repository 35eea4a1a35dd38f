"""The sticky assignor: as even as can be, and then as much as can be stays where it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from penstock.log.assign.mixed import share_mixed
from penstock.log.assign.ownership import resolve_claims, transfers
from penstock.log.assign.racks import NO_RACKS, ReplicaRacks, useful_rack_map
from penstock.log.assign.subscription import (
    NO_GENERATION,
    Assignment,
    Subscription,
    partitions_of,
    readers_by_topic,
)
from penstock.log.assign.uniform import share_uniformly
from penstock.log.record import TopicPartition


class StickyShare(NamedTuple):
    """Who is to hold what, and the partitions that another member must let go of first."""

    given: dict[str, list[TopicPartition]]
    transferring: dict[TopicPartition, str]


def share_stickily(
    topics: Mapping[str, int],
    members: Mapping[str, Subscription],
    racks: ReplicaRacks = NO_RACKS,
) -> StickyShare:
    """Share partitions out evenly, moving as few as possible from where they are."""
    readers = readers_by_topic(topics, members)
    partitions = partitions_of(topics, readers)
    ownership = resolve_claims({topic: topics[topic] for topic in readers}, members)
    useful = useful_rack_map(members, partitions, racks)
    if len({frozenset(member.topics) for member in members.values()}) <= 1:
        given = share_uniformly(partitions, members, ownership, useful)
    else:
        given = share_mixed(partitions, readers, members, ownership, useful)
    return StickyShare(given, transfers(ownership, given))


def vouched_claims(members: Mapping[str, Subscription]) -> dict[str, Subscription]:
    """Drop what members claim without a generation.

    Members of an eager group have let go of their partitions before they come back, so
    only the generation in which they were given vouches for a claim.
    """
    return {
        name: member if member.generation > NO_GENERATION else replace(member, owned=())
        for name, member in members.items()
    }


def assign_sticky(
    topics: Mapping[str, int],
    members: Mapping[str, Subscription],
    racks: ReplicaRacks = NO_RACKS,
) -> Assignment:
    """Share out at once what all members are to hold; each gives up everything before."""
    given, _ = share_stickily(topics, vouched_claims(members), racks)
    return {member: tuple(partitions) for member, partitions in given.items()}
