"""The time of one micro-batch: what Spark's offset log records before it runs.

A plain value, so that the process which plans batches need not load the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Batch:
    """Both clocks before a batch, and the clock during it.

    `marks` are the watermarks of all partitions before the batch, as `spark.batch_time` writes
    them. A batch that `ends` the input is the last one. `notes` is the file that leads to what
    buckets remember (`spark.notes`), none where a generation begins.
    """

    clock: int
    clock_before: int
    marks: Mapping[str, Any]
    ends: bool = False
    notes: str = ""

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return {
            "clock": self.clock,
            "clock_before": self.clock_before,
            "marks": self.marks,
            "ends": self.ends,
            "notes": self.notes,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Batch:
        """Read what `to_json` gave."""
        known = (found[name] for name in ("clock", "clock_before", "marks", "ends", "notes"))
        return cls(*known)


def first_marks(clock: int) -> dict[str, Any]:
    """Give the watermarks before the first batch, as `spark.batch_time` reads them."""
    return {"reached": None, "started_at": clock, "marks": []}
