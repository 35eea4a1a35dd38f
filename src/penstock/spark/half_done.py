"""What a crash has left half done: the batch that was planned last, and how many records it has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.spark.job_files import JobFiles, current_files
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import read_start
from penstock.spark.standby_files import planned


@dataclass(frozen=True, slots=True)
class HalfDone:
    """The last batch that was planned, its records where it was not done, and where it ends."""

    batch: int
    records: int
    reached: dict[str, Any] | None = None


def half_done(checkpoint: Path) -> HalfDone:
    """Look at a checkpoint before it is gone on with."""
    files = current_files(checkpoint)
    begun, committed = files.begun, files.committed
    reached = planned(files, begun)
    if begun == committed:
        return HalfDone(begun, 0, reached)
    return HalfDone(begun, records_of(_offset(files, committed), reached), reached)


def records_from_start(checkpoint: Path, half: HalfDone) -> int:
    """Give the records that a job reads again which begins anew with what the log has."""
    return records_of(_offset(current_files(checkpoint), -1), half.reached)


def records_of(begin: dict[str, Any] | None, end: dict[str, Any] | None) -> int:
    """Give the records between two offsets."""
    if begin is None or end is None:
        return 0
    start, stop = (ProgramOffset.from_json(found).positions for found in (begin, end))
    return sum(max(0, at - start.get(place, at)) for place, at in stop.items())


def _offset(files: JobFiles, number: int) -> dict[str, Any] | None:
    if number >= 0:
        return planned(files, number)
    start = read_start(files.start)
    return None if start is None else start.offset.to_json()
