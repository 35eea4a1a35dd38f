"""A run as releases before decision 21 had it: Spark's store keeps the notes of buckets.

Spark's workers cannot import the tests, so this module travels to them by value.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit, nullif
from pyspark.sql.streaming.state import GroupState

from penstock.spark.dispatch import dispatch_of
from penstock.spark.job_files import current_files
from penstock.spark.level import Bucket, Level, Remembered
from penstock.spark.levels import Levels
from penstock.spark.packet import encoded, in_order
from penstock.spark.program_format import PACKETS_DDL
from penstock.spark.program_options import ProgramOptions
from penstock.spark.run import Parts
from penstock.spark.stored_program import load_program


class EarlierLevel:
    """The function of a level's groups, each of which had a state."""

    def __init__(self, level: Level) -> None:
        self._level = level

    def __call__(
        self, key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        slot = int(key[0])
        blobs = [blob for frame in frames for blob in frame["blob"]]
        level = self._level
        dispatch = dispatch_of(level.program, level.home, level.staging)
        owner = dispatch.slots.owner(slot)
        sent = [(slot, blob) for blob in blobs]
        if owner is not None and dispatch.program.keyed[owner[0]].level == level.number:
            note = Remembered(bytes(state.get[0]) if state.exists else None)
            sent = encoded(Bucket(level, dispatch, *owner).step(in_order(blobs), note))
            if note.note is not None:
                state.update((note.note,))
        slots = pd.Series([slot for slot, _ in sent], dtype="int32")
        yield pd.DataFrame({"slot": slots, "blob": pd.Series([blob for _, blob in sent])})


def earlier_stages(session: SparkSession, options: ProgramOptions, parts: Parts) -> DataFrame:
    """Give the reading of a program and all its stages, which were of Spark's plan then."""
    physical = load_program(options.program).physical
    frame = session.readStream.format(parts.format.name()).name("inputs")
    found = frame.options(**options.to_texts()).load()
    for number in range(len(physical.levels)):
        if number:
            found = found.select(nullif("slot", lit(-1)).alias("slot"), "blob")
        memory = str(options.files.memory)
        level = Level(options.program, number, options.home, options.staging, memory)
        found = found.groupBy("slot").applyInPandasWithState(
            EarlierLevel(level), PACKETS_DDL, "blob binary", "append", "NoTimeout"
        )
    return found


def run_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs be run as an earlier release did."""
    monkeypatch.setattr("penstock.spark.run.read", earlier_stages)
    monkeypatch.setattr(Levels, "packets", lambda _, rows: [row["blob"] for row in rows.collect()])
    monkeypatch.setattr("penstock.spark.run.adopt_states", lambda *_: None)
    monkeypatch.setattr("penstock.spark.run.rows_of_a_whole", lambda _: None)


def forget_notes(checkpoint: Path) -> None:
    """Leave of a checkpoint what an earlier release would have left."""
    files = current_files(checkpoint)
    assert (files.spark / "state").exists()
    shutil.rmtree(files.notes)


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
