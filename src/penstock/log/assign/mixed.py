"""Sharing out as evenly as subscriptions allow, where members read different topics."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence

from penstock.log.assign.movements import Movements
from penstock.log.assign.ownership import Ownership
from penstock.log.assign.racks import RackMap
from penstock.log.record import TopicPartition


def share_mixed(
    partitions: Sequence[TopicPartition],
    readers: Mapping[str, Sequence[str]],
    members: Iterable[str],
    ownership: Ownership,
    racks: RackMap,
) -> dict[str, list[TopicPartition]]:
    """Move owned partitions only where a reader holds at least two fewer than the holder."""
    share = _MixedShare(readers, members, ownership, racks)
    # Those with the fewest readers first: they have the least choice.
    ordered = sorted(partitions, key=lambda item: (len(readers[item.topic]), item))
    lost = share.keep_owned(ordered)
    fresh = [partition for partition in ordered if partition not in share.holder]
    share.place(fresh)
    # Balance by what is new alone as far as that goes, unless partitions must move anyway.
    if not lost:
        share.even_out(fresh)
    share.even_out(ordered)
    return {member: list(held) for member, held in share.held.items()}


class _MixedShare:
    """The assignment in the making, with members ranked by how much they hold."""

    def __init__(
        self,
        readers: Mapping[str, Sequence[str]],
        members: Iterable[str],
        ownership: Ownership,
        racks: RackMap,
    ) -> None:
        self.held: dict[str, dict[TopicPartition, None]] = {member: {} for member in members}
        self.holder: dict[TopicPartition, str] = {}
        self._readers = {topic: frozenset(names) for topic, names in readers.items()}
        self._ownership = ownership
        self._racks = racks
        self._ranking = sorted((0, member) for member in self.held)
        self._movements = Movements()

    def keep_owned(self, partitions: Iterable[TopicPartition]) -> bool:
        """Leave members what they own and still read nearby; tell whether anyone lost any."""
        lost = False
        for partition in partitions:
            owner = self._ownership.owner.get(partition)
            if owner is None:
                continue
            if owner in self._readers[partition.topic] and not self._racks.far(owner, partition):
                self._give(partition, owner)
            else:
                lost = True
        return lost

    def place(self, partitions: Iterable[TopicPartition]) -> None:
        """Give each partition to the reader that holds least, near a replica where one is."""
        left = []
        for partition in partitions:
            member = self._lightest(partition, nearby=True)
            if member is None:
                left.append(partition)
            else:
                self._give(partition, member)
        for partition in left:
            member = self._lightest(partition)
            if member is not None:
                self._give(partition, member)

    def even_out(self, partitions: Sequence[TopicPartition]) -> None:
        """Move partitions until none has a reader that holds at least two fewer.

        Every move takes from a member and gives to one with at least two fewer, so the
        sum of the squared sizes falls and this ends.
        """
        while self._move_some(partitions):
            pass

    def _move_some(self, partitions: Iterable[TopicPartition]) -> bool:
        moved = False
        for partition in partitions:
            target = self._better_member(partition)
            if target is None:
                continue
            moved = True
            for item, member in self._movements.route(partition, self.holder[partition], target):
                self._movements.record(item, self.holder[item], member)
                self._give(item, member)
        return moved

    def _better_member(self, partition: TopicPartition) -> str | None:
        size = len(self.held[self.holder[partition]])
        former = self._ownership.former.get(partition)
        if former in self._readers[partition.topic] and size > len(self.held[former]) + 1:
            return former
        lightest = self._lightest(partition)
        return lightest if lightest and size > len(self.held[lightest]) + 1 else None

    def _lightest(self, partition: TopicPartition, *, nearby: bool = False) -> str | None:
        readers = self._readers[partition.topic]
        for _, member in self._ranking:
            if member in readers and not (nearby and self._racks.far(member, partition)):
                return member
        return None

    def _give(self, partition: TopicPartition, member: str) -> None:
        holder = self.holder.get(partition)
        if holder == member:
            return
        if holder is not None:
            self._unrank(holder)
            del self.held[holder][partition]
            self._rank(holder)
        self._unrank(member)
        self.held[member][partition] = None
        self._rank(member)
        self.holder[partition] = member

    def _rank(self, member: str) -> None:
        insort(self._ranking, (len(self.held[member]), member))

    def _unrank(self, member: str) -> None:
        del self._ranking[bisect_left(self._ranking, (len(self.held[member]), member))]
