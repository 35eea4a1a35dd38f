"""The time of one micro-batch: what Spark's offset log records before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.kernel.port import END_OF_TIME, Time
from penstock.kernel.watermark import Mark, Place, Watermarks, advance
from penstock.model.physical import Scan


@dataclass(frozen=True, slots=True)
class Batch:
    """Both clocks before a batch, and the clock during it.

    `marks` are the watermarks of all partitions before the batch, as `marks_json` writes
    them. A batch that `ends` the input is the last one.
    """

    clock: int
    clock_before: int
    marks: Mapping[str, Any]
    ends: bool = False

    @property
    def before(self) -> Time:
        """Both clocks as the batch before left them."""
        return Time(int(self.marks["reached"]), self.clock_before)

    def after(self, scans: tuple[Scan, ...], candidates: Mapping[Place, int | None]) -> Watermarks:
        """Give the watermarks that the rows of this batch lead to."""
        found = advance(watermarks_of(self.marks, scans), candidates, self.clock)
        if not self.ends:
            return found
        ended = {place: replace(mark, watermark=END_OF_TIME) for place, mark in found.marks.items()}
        return replace(found, marks=ended, reached=END_OF_TIME)

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return {
            "clock": self.clock,
            "clock_before": self.clock_before,
            "marks": self.marks,
            "ends": self.ends,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Batch:
        """Read what `to_json` gave."""
        return cls(found["clock"], found["clock_before"], found["marks"], found["ends"])


def marks_json(watermarks: Watermarks) -> dict[str, Any]:
    """Give watermarks as JSON has them; `watermarks_of` reads it."""
    return {
        "reached": watermarks.reached,
        "started_at": watermarks.started_at,
        "marks": [
            (*place, mark.watermark, mark.active_at, mark.since)
            for place, mark in sorted(watermarks.marks.items())
        ],
    }


def watermarks_of(found: Mapping[str, Any], scans: tuple[Scan, ...]) -> Watermarks:
    """Read what `marks_json` wrote; the idle timeouts are those of the program of now."""
    started = Watermarks.start(scans, found["started_at"])
    marks = {
        (scan, partition): Mark(watermark, active_at, since)
        for scan, partition, watermark, active_at, since in found["marks"]
        if scan in started.idle
    }
    return replace(started, marks=marks, reached=found["reached"])
