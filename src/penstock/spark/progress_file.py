"""What a batch leaves for the next one: the watermarks after it, and when to wake up.

The sink writes the file when a batch's rows are ready and before they become visible; the
planner reads it before the next batch. Whatever crashes in between:

- before the file is written: Spark runs the batch again from its offset log. The planner is
  not asked, so nobody misses the file.
- after the file, before the log's transaction: the batch is run again from the same offsets,
  clock, watermarks and states, and writes the same file again.
- after the transaction, before Spark's own commit: the same, and the transaction's note says
  that the rows are there already.
- after Spark's commit: the file is that of the batch before the one to be planned.

So the planner always finds the file of the batch that ended at the offset it is asked from;
the file names that offset, and any other is refused rather than believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import StateError
from penstock.spark.job_files import read_json, write_json
from penstock.spark.program_offset import ProgramOffset


@dataclass(frozen=True, slots=True)
class Left:
    """What a batch has left: `at` is the offset it ended at, `told` what people may know."""

    batch: int
    at: Mapping[str, Any]
    marks: Mapping[str, Any]
    wake_at: int | None = None
    told: Mapping[str, Any] = field(default_factory=dict)


def write_left(path: Path, left: Left) -> None:
    """Store what a batch leaves; when this returns it is on disk."""
    write_json(
        path,
        {
            "batch": left.batch,
            "at": left.at,
            "marks": left.marks,
            "wake_at": left.wake_at,
            "told": left.told,
        },
    )


def read_left(path: Path) -> Left | None:
    """Give what the last batch left; none before the first."""
    found = read_json(path)
    if found is None:
        return None
    return Left(found["batch"], found["at"], found["marks"], found["wake_at"], found["told"])


def left_at(path: Path, offset: ProgramOffset) -> Left | None:
    """Give what the batch that ended at an offset left; none where no batch has run."""
    left = read_left(path)
    if left is None and offset.marks is None:
        return None
    if left is None or ProgramOffset.from_json(left.at) != offset:
        raise StateError(
            "PROGRESS_MISMATCH",
            f'"{path}" does not belong to the last batch of this checkpoint',
            hint="Files of the checkpoint were changed or copied apart: start from a savepoint, or"
            " with a new checkpoint.",
        )
    return left
