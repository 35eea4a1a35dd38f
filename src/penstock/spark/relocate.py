"""A stopped job goes on in a copy of its topics: with its state, at the place that it had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from penstock.errors import StateError
from penstock.spark.job_files import current_files
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import Start
from penstock.spark.standby_files import STANDBY
from penstock.spark.stored_program import stored_bytes
from penstock.spark.stored_states import require_program, stored_states
from penstock.spark.transfer import Entry, begun_anew, enter, found_job


def place_of(checkpoint: Path) -> ProgramOffset:
    """Give where a stopped job is; one that cannot go on elsewhere is refused."""
    if current_files(checkpoint).program is None or (checkpoint / STANDBY).exists():
        raise StateError(
            "MIGRATE_JOB",
            f'what "{checkpoint}" remembers cannot be moved: it is not that of a job on Spark, or'
            " it has a standby",
            hint="Submit the job without a standby; let a program that is run in its own"
            " process begin anew on Kafka, and move its folder away.",
        )
    job = found_job(checkpoint)
    if job.half_done:
        raise StateError(
            "MIGRATE_HALF_DONE",
            f'the last batch of "{checkpoint}" is half done',
            hint="Start the job once more, and stop it with `penstock jobs stop`.",
        )
    return job.start.offset if job.left is None else job.left.at


def relocate(checkpoint: Path, moved: Callable[[ProgramOffset], ProgramOffset]) -> None:
    """Begin a generation of a checkpoint at the places that are told for those it had."""
    job = found_job(checkpoint)
    notes = list(stored_states(None, job.files, job.identity))
    identity = replace(job.identity.moved(job.files), job=uuid4().hex)
    place = job.start if job.left is None else begun_anew(job.left)
    left = place.left and replace(place.left, at=moved(place.left.at))
    start = Start(moved(place.offset), left)
    enter(checkpoint, Entry(identity, start, stored_bytes(require_program(job.files)), notes))
