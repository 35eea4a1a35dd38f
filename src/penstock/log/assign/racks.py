"""Keeping a partition near its reader: members and replicas by rack."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from penstock.log.assign.subscription import Subscription
from penstock.log.record import TopicPartition

ReplicaRacks: TypeAlias = Mapping[TopicPartition, Collection[str]]

NO_RACKS: ReplicaRacks = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RackMap:
    """Where members and replicas stand; empty where racks make no difference."""

    members: Mapping[str, str] = field(default_factory=dict)
    partitions: Mapping[TopicPartition, frozenset[str]] = field(default_factory=dict)

    def near(self, member: str, partition: TopicPartition) -> bool:
        """Whether a member with a rack finds a replica there."""
        rack = self.members.get(member)
        return rack is not None and rack in self.partitions.get(partition, ())

    def far(self, member: str, partition: TopicPartition) -> bool:
        """Whether a member with a rack finds no replica there; one without is never far."""
        return member in self.members and not self.near(member, partition)

    def readers_nearby(self, partition: TopicPartition) -> int:
        """Count the members that find a replica of a partition in their rack."""
        return sum(self.near(member, partition) for member in self.members)


def racks_matter(readers: Collection[str], replicas: Collection[frozenset[str]]) -> bool:
    """Tell whether choosing by rack can gain anything.

    It can where readers and replicas share a rack and some partition lacks a rack that
    another has.
    """
    everywhere = frozenset[str]().union(*replicas)
    return not everywhere.isdisjoint(readers) and any(racks != everywhere for racks in replicas)


def rack_map(
    members: Mapping[str, Subscription], partitions: Iterable[TopicPartition], racks: ReplicaRacks
) -> RackMap:
    """Note every rack that is known."""
    stands = {name: member.rack for name, member in members.items() if member.rack}
    if not stands:
        return RackMap()
    return RackMap(stands, {item: frozenset(racks.get(item, ())) for item in partitions})


def useful_rack_map(
    members: Mapping[str, Subscription], partitions: Iterable[TopicPartition], racks: ReplicaRacks
) -> RackMap:
    """Note the racks where choosing by them can gain anything, and none otherwise."""
    known = rack_map(members, partitions, racks)
    matter = racks_matter(set(known.members.values()), known.partitions.values())
    return known if matter else RackMap()
