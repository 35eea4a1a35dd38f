"""Spark's logs of a job's batches, written as Spark does, without Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.spark.batch import first_marks
from penstock.spark.job_files import JobFiles
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import Left, read_start, write_left

TOLD: Mapping[str, Any] = {"base": {}, "counts": {}, "history": [], "ends": False}


def offset_after(files: JobFiles, number: int) -> ProgramOffset:
    """Give where a batch ends that has ten records of each partition."""
    start = read_start(files.start)
    assert start is not None
    positions = dict.fromkeys(start.offset.positions, 10 * (number + 1))
    return replace(start.offset, positions=positions, clock=number, marks=first_marks(0))


def write_batch(files: JobFiles, number: int, *, done: bool = True) -> None:
    """Write what Spark and the job write of a batch."""
    at = offset_after(files, number)
    for name in ("offsets", "commits"):
        (files.spark / name).mkdir(parents=True, exist_ok=True)
    said = json.dumps({"batchWatermarkMs": 0, "conf": {}})
    entry = f"v2\n{said}\ninputs:{json.dumps(at.to_json())}"
    (files.spark / "offsets" / str(number)).write_text(entry)
    if done:
        write_left(files.progress, Left(number, at, first_marks(0), told=TOLD))
        (files.spark / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')
