"""What a stopped job knows, taken out of its checkpoint, and put into a new generation of one.

Rescaling, savepoints and rewinding are made of these two. Until the last step, which replaces one
small file, the generation before is untouched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import SparkSession

from penstock.errors import StateError
from penstock.spark.checkpoint_check import mend_logs, require_files
from penstock.spark.housekeeping import forget_states
from penstock.spark.identity import Identity, keep_identity, read_identity
from penstock.spark.job_files import JobFiles, current_files, next_files, switch, write_durably
from penstock.spark.progress_file import (
    BEFORE_ALL,
    Left,
    Start,
    left_before,
    read_start,
    write_start,
)
from penstock.spark.run import start
from penstock.spark.savepoint_files import state_file
from penstock.spark.stored_program import keep_program, load_program
from penstock.spark.stored_states import require_program

Note: TypeAlias = tuple[str, int, bytes]
"""An operator, a bucket, and the note that leads to what it remembers."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """A job that does not run, with no batch half done; `left` is none before its first batch."""

    files: JobFiles
    identity: Identity
    start: Start
    left: Left | None

    @property
    def half_done(self) -> bool:
        """Whether a batch was begun, or has left something, and Spark does not know it done."""
        left = -1 if self.left is None else self.left.batch
        return max(self.files.begun, left) > self.files.committed


@dataclass(frozen=True, slots=True)
class Entry:
    """What a generation begins with; `marks` are empty files that say what is still to be done."""

    identity: Identity
    start: Start
    program: bytes
    states: Iterable[Note] = ()
    marks: tuple[str, ...] = ()


def stopped(
    home: str | Path, checkpoint: str | Path, session: SparkSession | None = None
) -> Stopped:
    """Do what a stop or a crash has left half done, and give what the job knows then."""
    job = found_job(checkpoint)
    mend_logs(job.files)
    if job.half_done:
        # The rows of a half-done batch may be visible already: it must not be done anew.
        program = load_program(str(require_program(job.files))).physical
        query = start(
            job.identity.applied(program),
            home=home,
            checkpoint=checkpoint,
            session=session,
            until="drained",
        )
        query.await_end()
    job = found_job(checkpoint)
    if job.half_done:
        raise StateError(
            "PROGRESS_MISMATCH",
            f'the last batch of "{job.files.folder.parent}" is half done',
            hint="Start the job, let it finish the batch, and stop it.",
        )
    return job


def found_job(checkpoint: str | Path) -> Stopped:
    """Give what a checkpoint says, whether a batch is half done or not."""
    files = current_files(Path(checkpoint))
    require_files(files)
    require_program(files)
    identity, begun = read_identity(files), read_start(files.start)
    if identity is None or begun is None:
        missing = files.identity if identity is None else files.start
        raise StateError(
            "JOB_FILE_BROKEN",
            f'"{missing}" is missing',
            hint="Restore the job from a savepoint, or give it a new checkpoint.",
        )
    return Stopped(files, identity, begun, left_before(files))


def begun_anew(left: Left) -> Start:
    """Give where a generation begins that goes on after a batch of another one."""
    # Batches are counted from 0 again, under a new name in the log.
    renumbered = Left(BEFORE_ALL, left.at, left.marks, left.wake_at, left.told)
    return Start(left.at, renumbered)


def enter(checkpoint: str | Path, entry: Entry) -> JobFiles:
    """Begin a generation of a checkpoint, which may be a new one, and make it the current."""
    place = Path(checkpoint)
    fresh = next_files(place)
    fresh.inherited.mkdir(parents=True)
    for operator, bucket, note in entry.states:
        write_durably(state_file(fresh.inherited, operator, bucket), note)
    for mark in entry.marks:
        write_durably(fresh.folder / mark, b"")
    write_start(fresh.start, entry.start)
    keep_program(fresh, entry.program)
    keep_identity(fresh, entry.identity)
    switch(place, fresh)
    forget_states(fresh)
    return fresh
