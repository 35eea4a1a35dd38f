"""When records were appended: what the frames of a partition say, whatever their timestamps."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.log.embedded.log import EmbeddedLog


@dataclass(frozen=True, slots=True)
class AppendTimes:
    """The clock at which the frames of a stretch were appended, by their first offsets."""

    offsets: Sequence[int]
    clocks: Sequence[int]

    def at(self, offset: int) -> int | None:
        """Give when a record was appended; none for one before the stretch."""
        place = bisect.bisect_right(self.offsets, offset) - 1
        return None if place < 0 else self.clocks[place]


def append_times(
    log: EmbeddedLog, topic: str, partition: int, start: int, stop: int
) -> AppendTimes:
    """Give when the records of a partition between two offsets were appended."""
    reader = log.partition(topic, partition).reader
    offsets: list[int] = []
    clocks: list[int] = []
    if start < stop:
        for stored in reader.frames(reader.view(), start):
            frame = stored.frame
            if frame.base_offset >= stop:
                break
            if frame.next_offset > start and not frame.is_marker:
                offsets.append(frame.base_offset)
                clocks.append(frame.appended_at)
    return AppendTimes(offsets, clocks)
