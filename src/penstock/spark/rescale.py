"""Another parallelism for a stopped job: its states go into a new generation of its checkpoint.

Buckets are fixed when a job begins and tasks share them, so no state is cut up: it is read out of
Spark's store, written as one file a bucket, and a new Spark checkpoint starts from these files.
Until the last step, which replaces one small file, the old generation is untouched.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.errors import UsageError
from penstock.kernel.program import Program
from penstock.spark.identity import keep_identity, read_identity
from penstock.spark.job_files import (
    current_files,
    next_files,
    switch,
    write_durably,
)
from penstock.spark.progress_file import BEFORE_ALL, Left, Start, left_before, write_start
from penstock.spark.run import start
from penstock.spark.savepoint_files import state_file
from penstock.spark.session import spark_session
from penstock.spark.stored_states import stored_program, stored_states


def rescale(
    home: str | Path,
    checkpoint: str | Path,
    parallelism: int,
    *,
    session: SparkSession | None = None,
) -> None:
    """Let a stopped job go on with so many tasks a level; it keeps its state and its place."""
    if parallelism < 1:
        raise UsageError(
            "PARALLELISM",
            f"a job of {parallelism} tasks cannot run",
            hint="Give 1 or more.",
        )
    place = Path(checkpoint)
    spark = session or spark_session()
    program = stored_program(current_files(place))
    left = _finished(program, home, place, spark)
    files, fresh = current_files(place), next_files(place)
    identity = read_identity(files)
    assert identity is not None
    for operator, bucket, blob in stored_states(spark, files, identity):
        write_durably(state_file(fresh.inherited, operator, bucket), blob)
    fresh.inherited.mkdir(parents=True, exist_ok=True)
    if left is not None:
        # Batches are counted from 0 again, under a new name in the log.
        write_start(fresh.start, Start(left.at, replace(left, batch=BEFORE_ALL)))
    moved = identity.moved(files)
    keep_identity(fresh, replace(moved, job=uuid4().hex, parallelism=parallelism))
    switch(place, fresh)


def _finished(
    program: Program, home: str | Path, checkpoint: Path, session: SparkSession
) -> Left | None:
    """Do what a stop or a crash has left half done, and give what the last batch left."""
    files = current_files(checkpoint)
    if files.begun > files.committed:
        # The rows of a half-done batch may be visible already: it must not be done anew.
        query = start(
            program.physical, home=home, checkpoint=checkpoint, session=session, until="drained"
        )
        query.await_end()
    return left_before(files)
