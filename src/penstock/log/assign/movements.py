"""The moves made while balancing, so that two members never swap partitions of one topic."""

from __future__ import annotations

from penstock.log.record import TopicPartition


class Movements:
    """Remembers where each moved partition came from and where it is."""

    __slots__ = ("_along", "_of")

    def __init__(self) -> None:
        self._of: dict[TopicPartition, tuple[str, str]] = {}
        self._along: dict[tuple[str, str, str], set[TopicPartition]] = {}

    def route(
        self, partition: TopicPartition, holder: str, target: str
    ) -> list[tuple[TopicPartition, str]]:
        """Say what goes where so that the target gains what the holder loses.

        Where a partition came from the target to where this one began, both go home
        instead: the sizes come out the same and the two members have not swapped.
        """
        source = self._of[partition][0] if partition in self._of else holder
        homesick = self._along.get((partition.topic, target, source))
        if not homesick:
            return [(partition, target)]
        homeward = [(min(homesick), target)]
        return homeward if source == holder else [*homeward, (partition, source)]

    def record(self, partition: TopicPartition, holder: str, target: str) -> None:
        """Note a move; one that leads back to where it began was none."""
        source = holder
        if partition in self._of:
            source, end = self._of.pop(partition)
            self._along[partition.topic, source, end].discard(partition)
        if source != target:
            self._of[partition] = (source, target)
            self._along.setdefault((partition.topic, source, target), set()).add(partition)
