"""The states of a job as its checkpoint holds them: by operator and bucket, or as tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import polars as pl
from pyspark.sql import SparkSession

from penstock.errors import StateError, UsageError, did_you_mean
from penstock.kernel.port import Frame
from penstock.kernel.program import Program
from penstock.spark.configured import configured_session
from penstock.spark.identity import Identity, read_identity
from penstock.spark.job_files import JobFiles, current_files
from penstock.spark.notes import notes_file, read_notes, write_notes
from penstock.spark.savepoint_files import state_file
from penstock.spark.slot import Slots
from penstock.spark.spark_log import offset_of
from penstock.spark.state_codec import StateCodec
from penstock.spark.state_files import StateFiles
from penstock.spark.stored_program import load_program

_STATE = "state"
"""Spark's folder of states in its checkpoint."""


def state_tables(
    checkpoint: str | Path, operator: str, *, session: SparkSession | None = None
) -> dict[str, Frame]:
    """Give what an operator of a stopped job remembers, its buckets put together, by table.

    A process has a table for each of its states, under the name of the state.
    """
    files = current_files(Path(checkpoint))
    program, identity = stored_program(files), read_identity(files)
    assert identity is not None
    if operator not in program.keyed:
        known = list(program.keyed)
        raise UsageError(
            "OPERATOR_MISSING",
            f'the program has no operator with state "{operator}"',
            hint=did_you_mean(operator, known) or f"It has {', '.join(known) or 'none'}.",
        )
    codec = StateCodec(program.keyed[operator])
    tables: dict[str, list[Frame]] = {}
    states = stored_states(session, files, identity)
    for name, bucket, note in sorted(states):
        if name == operator:
            folder = files.memory / operator / str(bucket)
            state = StateFiles(folder, codec).load(note).state
            for table, rows in state.tables.items():
                tables.setdefault(table, []).append(rows)
    return {name: pl.concat(parts, how="diagonal") for name, parts in tables.items()}


def stored_program(files: JobFiles) -> Program:
    """Give the program of a job; none was stored where no job has run."""
    return load_program(str(require_program(files)))


def require_program(files: JobFiles) -> Path:
    """Give the file of a job's program; none was stored where no job has run."""
    if files.program is None:
        raise StateError(
            "CHECKPOINT_MISSING",
            f'there is no job in "{files.folder.parent}"',
            hint="Give the checkpoint of a job that has run.",
        )
    return files.program


def stored_states(
    session: SparkSession | None, files: JobFiles, identity: Identity
) -> Iterator[tuple[str, int, bytes]]:
    """Give the note of every bucket of every operator, as the last batch that was done left it."""
    if files.committed < 0 or not identity.operators:
        yield from _inherited(files, identity)
    elif in_spark_store(files):
        yield from _of_spark_store(session, files, identity)
    else:
        notes = read_notes(notes_file(files, offset_of(files, files.committed)))
        yield from ((operator, bucket, note) for (operator, bucket), note in notes.items())


def in_spark_store(files: JobFiles) -> bool:
    """Whether an earlier release has written the states, which let Spark keep them."""
    return (files.spark / _STATE).exists()


def adopt_states(session: Callable[[], SparkSession], files: JobFiles, identity: Identity) -> None:
    """Take over what an earlier release has left in Spark's store, once."""
    if not in_spark_store(files):
        return
    if files.committed >= 0 and identity.operators:
        stored = _of_spark_store(session(), files, identity)
        notes = {(operator, bucket): note for operator, bucket, note in stored}
        write_notes(notes_file(files, offset_of(files, files.committed)), notes)
    # From here on they are known by their notes; Spark would ask for the operators they were of.
    over = files.folder / f"{_STATE}.{uuid4().hex}"
    (files.spark / _STATE).rename(over)
    shutil.rmtree(over, ignore_errors=True)


def _of_spark_store(
    session: SparkSession | None, files: JobFiles, identity: Identity
) -> Iterator[tuple[str, int, bytes]]:
    spark = session or configured_session()
    slots = Slots(tuple(identity.operators), identity.buckets, identity.parallelism)
    for level in range(identity.levels):
        stored = (
            spark.read.format("statestore")
            .option("operatorId", level)
            .option("batchId", files.committed)
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
