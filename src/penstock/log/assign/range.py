"""The range assignor: each topic by itself, cut into runs of neighbouring partitions.

Topics with the same readers and the same number of partitions are cut alike, so that
partition n of each goes to one member and they can be joined there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from penstock.log.assign.racks import NO_RACKS, RackMap, ReplicaRacks, rack_map, racks_matter
from penstock.log.assign.subscription import (
    Assignment,
    Subscription,
    in_member_order,
    readers_by_topic,
)
from penstock.log.record import TopicPartition


def assign_range(
    topics: Mapping[str, int],
    members: Mapping[str, Subscription],
    racks: ReplicaRacks = NO_RACKS,
) -> Assignment:
    """Give each member a run of every topic it reads; the first members get the remainders."""
    shares = [
        _TopicShare(topic, topics[topic], in_member_order(members, readers), members, racks)
        for topic, readers in readers_by_topic(topics, members).items()
    ]
    if any(share.racks_matter for share in shares):
        _match_racks(shares)
    given: dict[str, list[TopicPartition]] = {member: [] for member in members}
    for share in shares:
        share.cut()
        for member, partitions in share.given.items():
            given[member].extend(sorted(partitions))
    return {member: tuple(partitions) for member, partitions in given.items()}


class _TopicShare:
    """One topic being shared out."""

    def __init__(
        self,
        topic: str,
        count: int,
        readers: Sequence[str],
        members: Mapping[str, Subscription],
        racks: ReplicaRacks,
    ) -> None:
        self.topic = topic
        self.readers = readers
        self.left = dict.fromkeys(TopicPartition(topic, number) for number in range(count))
        self.given: dict[str, list[TopicPartition]] = {member: [] for member in readers}
        self.racks: RackMap = rack_map({name: members[name] for name in readers}, self.left, racks)
        self.racks_matter = racks_matter(
            set(self.racks.members.values()), self.racks.partitions.values()
        )
        self._low, self._extras = divmod(count, len(readers))

    def room(self, member: str) -> int:
        """How many more partitions a member may take."""
        return max(0, self._low + (self._extras > 0) - len(self.given[member]))

    def take(self, member: str, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            self.given[member].append(partition)
            del self.left[partition]
        if len(self.given[member]) > self._low:
            self._extras -= 1

    def cut(self, *, nearby: bool = False) -> None:
        """Let each reader in turn take what it has room for, or what of that is near it."""
        for member in self.readers:
            fitting = (
                partition
                for partition in self.left
                if not (nearby and self.racks.far(member, partition))
            )
            if taken := list(islice(fitting, self.room(member))):
                self.take(member, taken)


def _match_racks(shares: Iterable[_TopicShare]) -> None:
    alike: dict[tuple[tuple[str, ...], int], list[_TopicShare]] = {}
    for share in shares:
        if share.racks.members:
            alike.setdefault((tuple(share.readers), len(share.left)), []).append(share)
    for (readers, count), group in alike.items():
        if len(group) > 1:
            _match_racks_together(group, readers, count)
        elif group[0].racks_matter:
            group[0].cut(nearby=True)


def _match_racks_together(group: Sequence[_TopicShare], readers: Sequence[str], count: int) -> None:
    """Give partition n of all topics to the first reader that has a replica of each nearby."""
    for number in range(count):
        for member in readers:
            if all(_fits(share, member, number) for share in group):
                for share in group:
                    share.take(member, [TopicPartition(share.topic, number)])
                break


def _fits(share: _TopicShare, member: str, number: int) -> bool:
    partition = TopicPartition(share.topic, number)
    return share.room(member) > 0 and not share.racks.far(member, partition)
