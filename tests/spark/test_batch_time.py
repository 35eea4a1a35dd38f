from __future__ import annotations

import json
from datetime import timedelta

from penstock.kernel.port import END_OF_TIME, START_OF_TIME, Time
from penstock.kernel.watermark import Watermarks, advance
from penstock.model.physical import Scan
from penstock.model.source import Stream
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64
from penstock.spark.batch import Batch, first_marks
from penstock.spark.batch_time import marks_json, time_before, watermarks_after, watermarks_of

COLUMNS = Schema((Field("at", INT64),))
STREAM = Stream("t", COLUMNS, "at", BoundedDisorder(idle=timedelta(seconds=5)))
SCANS = (Scan("scan-t", STREAM, (), ("at",)),)


def test_watermarks_come_back_from_json_with_the_idle_time_of_the_program() -> None:
    marks = advance(Watermarks.start(SCANS, 10), {("scan-t", 0): 100, ("scan-t", 1): None}, 20)
    assert watermarks_of(json.loads(json.dumps(marks_json(marks))), SCANS) == marks


def test_before_the_first_batch_nothing_is_known() -> None:
    batch = Batch(50, 0, first_marks(50))
    assert time_before(batch) == Time(START_OF_TIME, 0)
    assert watermarks_of(batch.marks, SCANS) == Watermarks.start(SCANS, 50)


def test_a_batch_that_is_run_again_reaches_the_same_watermark() -> None:
    batch = Batch.from_json(json.loads(json.dumps(Batch(50, 40, first_marks(40)).to_json())))
    heard = {("scan-t", 0): 30, ("scan-t", 1): 20}
    after = watermarks_after(batch, SCANS, heard)
    assert after == watermarks_after(batch, SCANS, heard)
    assert after.reached == 20


def test_the_end_of_the_input_completes_everything() -> None:
    batch = Batch(50, 40, first_marks(40), ends=True)
    after = watermarks_after(batch, SCANS, {("scan-t", 0): 30})
    assert after.reached == END_OF_TIME
    assert all(mark.watermark == END_OF_TIME for mark in after.marks.values())
