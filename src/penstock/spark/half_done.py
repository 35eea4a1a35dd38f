"""What a crash has left half done: the batch that was planned last, and how many records it has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.model.job_settings import Recovery
from penstock.spark.job_files import JobFiles, current_files
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import read_start
from penstock.spark.standby_files import planned


@dataclass(frozen=True, slots=True)
class HalfDone:
    """The last batch that was planned, and the records that must be read again."""

    batch: int
    records: int
    """Those of the batch itself; none where it was done."""
    again: int | None = None
    """Those of the batches before it that are run again for their states."""

    @property
    def replayed(self) -> int:
        """All records that are read again."""
        return self.records if self.again is None else self.again


def half_done(checkpoint: Path, recovery: Recovery = "passive") -> HalfDone:
    """Look at a checkpoint before it is gone on with."""
    files = current_files(checkpoint)
    begun, committed = files.begun, files.committed
    records = records_between(files, committed, begun) if begun > committed else 0
    again = records_between(files, -1, begun) if recovery == "upstream" else None
    return HalfDone(begun, records, again)


def records_between(files: JobFiles, one: int, other: int) -> int:
    """Give the records of the batches after one up to another."""
    return records_of(_offset(files, one), planned(files, other))


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
