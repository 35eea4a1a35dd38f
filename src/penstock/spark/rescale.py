"""Another parallelism for a stopped job: its states go into a new generation of its checkpoint.

Buckets are fixed when a job begins and tasks share them, so no state is cut up: the notes of
the last batch lead to each bucket, and a new Spark checkpoint starts from these notes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.errors import UsageError
from penstock.spark.stored_program import stored_bytes
from penstock.spark.stored_states import require_program, stored_states
from penstock.spark.transfer import Entry, begun_anew, enter, stopped


@dataclass(frozen=True, slots=True)
class Rescaled:
    """What rescaling did: tasks before and now, states moved, and how long the job stood still."""

    before: int
    after: int
    states: int
    milliseconds: int


def rescale(
    home: str | Path,
    checkpoint: str | Path,
    parallelism: int,
    *,
    session: SparkSession | None = None,
) -> Rescaled:
    """Let a stopped job go on with so many tasks a level; it keeps its state and its place."""
    require_parallelism(parallelism)
    begun = monotonic()
    job = stopped(home, checkpoint, session)
    notes = list(stored_states(session, job.files, job.identity))
    identity = replace(job.identity.moved(job.files), job=uuid4().hex, parallelism=parallelism)
    place = job.start if job.left is None else begun_anew(job.left)
    enter(checkpoint, Entry(identity, place, stored_bytes(require_program(job.files)), notes))
    spent = round(1000 * (monotonic() - begun))
    return Rescaled(job.identity.parallelism, parallelism, len(notes), spent)


def require_parallelism(parallelism: int) -> None:
    """Refuse a number of tasks that no job can have."""
    if parallelism < 1:
        raise UsageError(
            "PARALLELISM",
            f"a job of {parallelism} tasks cannot run",
            hint="Give 1 or more.",
        )
