"""Sharing out evenly and with few moves, where all members read the same topics."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from penstock.log.assign.ownership import Ownership
from penstock.log.assign.racks import RackMap
from penstock.log.record import TopicPartition


def share_uniformly(
    partitions: Sequence[TopicPartition],
    members: Iterable[str],
    ownership: Ownership,
    racks: RackMap,
) -> dict[str, list[TopicPartition]]:
    """Give each member the same number, or one more, keeping what it owns where that fits."""
    share = _UniformShare(members, len(partitions), racks)
    kept = share.keep_owned(ownership)
    left = [partition for partition in partitions if partition not in kept]
    if racks.members:
        left.sort(key=racks.readers_nearby)
        left = share.deal_nearby(left)
    share.deal(left)
    return share.given


class _UniformShare:
    """Members fill up to a low quota; a fixed number of them take one partition more."""

    def __init__(self, members: Iterable[str], count: int, racks: RackMap) -> None:
        self.given: dict[str, list[TopicPartition]] = {member: [] for member in members}
        self._racks = racks
        self._low, self._extras = divmod(count, max(1, len(self.given)))
        self._hungry: list[str] = []  # below the low quota
        self._willing: list[str] = []  # at the low quota, and may take one more

    def keep_owned(self, ownership: Ownership) -> set[TopicPartition]:
        """Leave members what they own, as far as their quota and their rack allow."""
        owned: dict[str, list[TopicPartition]] = {member: [] for member in self.given}
        for partition, owner in ownership.owner.items():
            if owner in owned and not self._racks.far(owner, partition):
                owned[owner].append(partition)
        # The last member first: among members that own too much alike, Kafka's tests let
        # the later one keep its surplus.
        for member in sorted(owned, reverse=True):
            self._keep(member, sorted(owned[member], key=lambda item: (item[1], item[0])))
        self._hungry.sort()
        self._willing.sort()
        return {partition for kept in self.given.values() for partition in kept}

    def _keep(self, member: str, owned: Sequence[TopicPartition]) -> None:
        quota = self._low
        if len(owned) < quota:
            self._hungry.append(member)
        elif len(owned) > quota and self._extras:
            quota += 1
            self._use_extra()
        elif self._extras:
            self._willing.append(member)
        self.given[member].extend(owned[:quota])

    def _use_extra(self) -> None:
        self._extras -= 1
        if not self._extras:
            self._willing.clear()

    def deal_nearby(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Deal partitions in turn to members of a replica's rack; give back the others."""
        left = []
        start = 0
        for partition in partitions:
            index = self._first_near(partition, self._hungry, start)
            if index is not None:
                start = self._feed(index, partition)
            elif (index := self._first_near(partition, self._willing, 0)) is not None:
                self.given[self._willing.pop(index)].append(partition)
                self._use_extra()
            else:
                left.append(partition)
        return left

    def _first_near(
        self, partition: TopicPartition, members: Sequence[str], start: int
    ) -> int | None:
        turns = ((start + step) % len(members) for step in range(len(members)))
        return next((turn for turn in turns if self._racks.near(members[turn], partition)), None)

    def _feed(self, index: int, partition: TopicPartition) -> int:
        """Give a partition to a hungry member and tell whose turn is next."""
        member = self._hungry[index]
        self.given[member].append(partition)
        if len(self.given[member]) < self._low:
            index += 1
        else:
            del self._hungry[index]
            if self._extras:
                self._willing.append(member)
        return index % len(self._hungry) if self._hungry else 0

    def deal(self, partitions: Iterable[TopicPartition]) -> None:
        """Deal all partitions in turn, first to members below the low quota."""
        hungry = deque(self._hungry)
        willing = deque(self._willing)
        for partition in partitions:
            member = hungry.popleft() if hungry else willing.popleft()
            held = self.given[member]
            held.append(partition)
            if len(held) < self._low:
                hungry.append(member)
            elif len(held) == self._low:
                willing.append(member)
