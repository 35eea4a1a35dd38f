"""Another parallelism for a stopped job: its states go into a new generation of its checkpoint.

Buckets are fixed when a job begins and tasks share them, so no state is cut up: it is read out of
Spark's store, written as one file a bucket, and a new Spark checkpoint starts from these files.
Until the last step, which replaces one small file, the old generation is untouched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.errors import StateError, UsageError
from penstock.kernel.program import Program
from penstock.spark.identity import Identity, keep_identity, read_identity
from penstock.spark.job_files import (
    JobFiles,
    current_files,
    next_files,
    switch,
    write_durably,
)
from penstock.spark.progress_file import BEFORE_ALL, Left, Start, left_before, write_start
from penstock.spark.run import start
from penstock.spark.savepoint_files import state_file
from penstock.spark.session import spark_session
from penstock.spark.slot import Slots
from penstock.spark.stored_program import load_program


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
    program = _program(current_files(place))
    left = _finished(program, home, place, spark)
    files, fresh = current_files(place), next_files(place)
    identity = read_identity(files)
    assert identity is not None
    for operator, bucket, blob in _states(spark, files, identity):
        write_durably(state_file(fresh.inherited, operator, bucket), blob)
    fresh.inherited.mkdir(parents=True, exist_ok=True)
    if left is not None:
        # Batches are counted from 0 again, under a new name in the log.
        write_start(fresh.start, Start(left.at, replace(left, batch=BEFORE_ALL)))
    keep_identity(fresh, replace(identity, job=uuid4().hex, parallelism=parallelism))
    switch(place, fresh)


def _program(files: JobFiles) -> Program:
    if files.program is None:
        raise StateError(
            "CHECKPOINT_MISSING",
            f'there is no job in "{files.folder.parent}"',
            hint="Give the checkpoint of a job that has run.",
        )
    return load_program(str(files.program))


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


def _states(
    session: SparkSession, files: JobFiles, identity: Identity
) -> Iterator[tuple[str, int, bytes]]:
    if files.committed < 0 or not identity.operators:
        yield from _inherited(files, identity)
        return
    slots = Slots(tuple(identity.operators), identity.buckets, identity.parallelism)
    for level in range(identity.levels):
        stored = (
            session.read.format("statestore")
            .option("operatorId", level)
            .load(str(files.spark))
            .selectExpr("key.slot AS slot", "value.groupState.blob AS blob")
        )
        for row in stored.toLocalIterator():
            owner = slots.owner(row["slot"])
            assert owner is not None
            yield *owner, bytes(row["blob"])


def _inherited(files: JobFiles, identity: Identity) -> Iterator[tuple[str, int, bytes]]:
    """Give the states of a generation that has not run yet: those it was given."""
    for operator in identity.operators:
        for bucket in range(identity.buckets):
            path = state_file(files.inherited, operator, bucket)
            if path.exists():
                yield operator, bucket, path.read_bytes()
