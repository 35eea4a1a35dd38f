"""Entries of Spark's own logs: which offset a batch ends at, and that it is done."""

from __future__ import annotations

import json
from pathlib import Path

from penstock.errors import StateError
from penstock.spark.job_files import JobFiles, write_durably
from penstock.spark.program_offset import ProgramOffset

_DONE = 'v1\n{"nextBatchWatermarkMs":0}'
"""What Spark writes for a query that has no watermark of Spark's."""


def offset_of(files: JobFiles, number: int) -> ProgramOffset:
    """Give the offset that Spark has written down for the end of a batch."""
    path = files.spark / "offsets" / str(number)
    # A version, what Spark knows of the batch, and an offset a source: we have one source.
    text = path.read_text(encoding="utf-8").splitlines()[-1]
    try:
        return ProgramOffset.from_json(json.loads(text[text.index("{") :]))
    except (ValueError, KeyError) as error:
        raise StateError(
            "JOB_FILE_BROKEN",
            f'"{path}" is not what Spark wrote for a program: {error}',
            hint="Restore the job from a savepoint, rewind it, or give it a new checkpoint.",
        ) from error


def write_commit(files: JobFiles, number: int) -> None:
    """Tell Spark that a batch is done, whose states are all stored."""
    folder = files.spark / "commits"
    forget_entry(folder, number)
    write_durably(folder / str(number), _DONE.encode())


def forget_entry(folder: Path, number: int) -> None:
    """Let Spark believe that it has not come to the end, or the beginning, of a batch."""
    for name in (str(number), f".{number}.crc"):
        (folder / name).unlink(missing_ok=True)
