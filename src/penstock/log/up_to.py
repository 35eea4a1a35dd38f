"""A log read up to given offsets and no further, though it may have more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from penstock.log.port import Bounds, Chunk, Log, ReadLimit
from penstock.log.record import TopicPartition


def up_to(log: Log, ends: Mapping[TopicPartition, int] | None) -> Log:
    """Give a log whose partitions end where it is said, those of others where they do."""
    return log if ends is None else cast("Log", _UpTo(log, ends))


class _UpTo:
    """Ends reads and bounds early; everything else is the log's own business."""

    def __init__(self, log: Log, ends: Mapping[TopicPartition, int]) -> None:
        self._log = log
        self._ends = ends

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a log has
        return getattr(self._log, name)

    def snapshot(self, topics: Iterable[str]) -> dict[TopicPartition, Bounds]:
        """Give the bounds of whole topics."""
        return {
            at: Bounds(bound.start, min(bound.end, self._ends.get(at, bound.end)))
            for at, bound in self._log.snapshot(topics).items()
        }

    def read(self, topic: str, partition: int, offset: int, limit: ReadLimit) -> Chunk:
        """Give the rows from an offset on."""
        end = self._ends.get(TopicPartition(topic, partition))
        if end is not None:
            limit = replace(limit, stop=end if limit.stop is None else min(limit.stop, end))
        return self._log.read(topic, partition, offset, limit)
