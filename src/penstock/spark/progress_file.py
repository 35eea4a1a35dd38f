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
from penstock.spark.job_files import JobFiles, read_json, write_json
from penstock.spark.program_offset import ProgramOffset

BEFORE_ALL = -1
"""The number of the batch before the first."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a batch has left: `at` is the offset it ended at, `told` what people may know."""

    batch: int
    at: ProgramOffset
    marks: Mapping[str, Any]
    wake_at: int | None = None
    told: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a generation of a checkpoint began, and what the one before it left."""

    offset: ProgramOffset
    left: Left | None = None


def write_left(path: Path, left: Left) -> None:
    """Store what a batch leaves; when this returns it is on disk."""
    write_json(path, _left_json(left))


def read_left(path: Path) -> Left | None:
    """Give what the last batch left; none before the first."""
    found = read_json(path)
    return None if found is None else _left(found)


def write_start(path: Path, start: Start) -> None:
    """Store where a generation begins."""
    write_json(path, start_document(start))


def read_start(path: Path) -> Start | None:
    """Give where a generation began; none where it has not."""
    found = read_json(path)
    return None if found is None else start_of(found)


def start_document(start: Start) -> dict[str, Any]:
    """Give where a generation begins as JSON has it."""
    left = None if start.left is None else _left_json(start.left)
    return {"offset": start.offset.to_json(), "left": left}


def start_of(found: Mapping[str, Any]) -> Start:
    """Read what `start_document` gave."""
    left = None if found["left"] is None else _left(found["left"])
    return Start(ProgramOffset.from_json(found["offset"]), left)


def left_before(files: JobFiles) -> Left | None:
    """Give what the last batch left, of this generation or of the one before."""
    left = read_left(files.progress)
    if left is not None:
        return left
    start = read_start(files.start)
    return None if start is None else start.left


def left_at(files: JobFiles, offset: ProgramOffset) -> Left | None:
    """Give what the batch that ended at an offset left; none where no batch has run."""
    left = left_before(files)
    if left is None and offset.marks is None:
        return None
    if left is None or left.at != offset:
        raise StateError(
            "PROGRESS_MISMATCH",
            f'"{files.progress}" does not belong to the last batch of this checkpoint',
            hint="Files of the checkpoint were changed or copied apart: start from a savepoint, or"
            " with a new checkpoint.",
        )
    return left


def _left_json(left: Left) -> dict[str, Any]:
    return {
        "batch": left.batch,
        "at": left.at.to_json(),
        "marks": left.marks,
        "wake_at": left.wake_at,
        "told": left.told,
    }


def _left(found: Mapping[str, Any]) -> Left:
    at = ProgramOffset.from_json(found["at"])
    return Left(found["batch"], at, found["marks"], found["wake_at"], found["told"])
