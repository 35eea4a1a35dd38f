from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.kernel.letter import LATE_COLUMNS
from penstock.kernel.port import END_OF_TIME
from penstock.kernel.record_key import key_text
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.expr import Column
from penstock.model.physical import Physical
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.model.stateless import Named, Project, Rekey
from penstock.plan.planner import plan
from penstock.schema.annotation import schema_of
from penstock.spark.aside import Staging, staged_outputs
from penstock.spark.outlet import Outlet
from penstock.spark.output import ensure_topics, outlets, record_keys
from penstock.spark.stage import staged_rows
from tests.spark.programs import VISITS, by_page, chained, visits, windowed


def program(found: Plan | None = None) -> Physical:
    return plan(found or windowed())


def results(*pages: str | None) -> pl.DataFrame:
    count = len(pages)
    at = pl.Series([datetime(2026, 1, 1, tzinfo=UTC)] * count, dtype=pl.Datetime("ms", "UTC"))
    return pl.DataFrame(
        {
            "page": pl.Series(pages, dtype=pl.String),
            "window_start": at,
            "window_end": at,
            "visits": [1] * count,
            "total": [2] * count,
            "_weight": pl.Series([1] * count, dtype=pl.Int32),
            "_time": pl.Series([5] * count, dtype=pl.Int64),
        }
    )


def test_topics_are_made_with_the_columns_of_their_relation(log: EmbeddedLog) -> None:
    log.create_topic("visits", partitions=3, schema=VISITS)
    ensure_topics(log, program(chained()))
    counts = log.topic("counts")
    assert counts.partitions == 3
    assert counts.schema is not None
    assert counts.schema.names == [
        "page", "window_start", "window_end", "visits", "total", "_weight",
    ]  # fmt: skip
    late = log.topic("counts.late").schema
    assert late is not None
    assert late.names == list(LATE_COLUMNS)
    ensure_topics(log, program(chained()))


@pytest.mark.parametrize(
    "fields",
    [
        [("page", pa.string())],
        [("page", pa.string()), ("window_start", pa.string())],
        None,
    ],
)
def test_a_topic_that_cannot_take_the_rows_is_refused(
    log: EmbeddedLog, fields: list[tuple[str, pa.DataType]] | None
) -> None:
    log.create_topic("visits", schema=VISITS)
    log.create_topic("counts", schema=None if fields is None else pa.schema(fields))
    with pytest.raises(SchemaError, match="OUTPUT_SCHEMA"):
        ensure_topics(log, program())


def test_a_column_that_a_topic_needs_must_be_given(log: EmbeddedLog) -> None:
    log.create_topic("visits", schema=VISITS)
    known = outlets(program())["out-counts"].schema
    log.create_topic("counts", schema=known.append(pa.field("more", pa.int64(), nullable=False)))
    with pytest.raises(SchemaError, match='needs column "more"'):
        ensure_topics(log, program())


def test_records_have_the_key_and_the_event_time_of_their_row() -> None:
    outlet = outlets(program())["out-counts"]
    table = outlet.records(results("/a", None), clock=77)
    assert table.column("_key").to_pylist() == [b"/a", None]
    # A null is a group like any other, and keeps its order in one partition.
    assert table.column("_partition").to_pylist() == [None, 0]
    assert table.column("_timestamp").to_pylist() == [5, 5]
    timeless = results("/a").with_columns(pl.lit(END_OF_TIME - 1).alias("_time"))
    assert outlet.records(timeless, clock=77).column("_timestamp").to_pylist() == [77]


def test_several_keys_and_other_types_become_text() -> None:
    frame = pl.DataFrame({"a": [1], "b": ["x"], "c": [b"raw"]})
    keys = [key_text(frame, names) for names in (("a",), ("a", "b"), ("c",))]
    assert [frame.select(key).item() for key in keys] == [b"1", b'{"a":1,"b":"x"}', b"raw"]


def test_records_go_by_the_keys_asked_for_or_those_of_the_group() -> None:
    counts = by_page(visits())
    assert record_keys(Sink(counts, "x", keys=("visits",))) == ("visits",)
    assert record_keys(Sink(counts, "x")) == ("page",)
    without = Project(counts, (Named("visits", Column("visits")),))
    assert record_keys(Sink(without, "x")) == ()
    assert record_keys(Sink(Rekey(counts, ("total",)), "x")) == ("total",)
    assert record_keys(Sink(visits(), "x")) == ()


def test_many_rows_are_written_aside_where_they_were_made(log: EmbeddedLog, home: object) -> None:
    log.create_topic("visits", partitions=2, schema=VISITS)
    physical = program()
    ensure_topics(log, physical)
    where = Staging(str(home), "job", 3, 77)
    few = [("out-counts", results("/a", "/b"))]
    assert staged_outputs(few, physical, lambda _: log, where) is None
    many = [("out-counts", results(*(f"/{n}" for n in range(30_000))))]
    staged = staged_outputs(many, physical, lambda _: log, where)
    assert staged is not None
    found = list(staged_rows([staged]))
    assert sum(rows.num_rows for _, _, rows in found) == 30_000
    assert {(topic, partition) for topic, partition, _ in found} == {("counts", 0), ("counts", 1)}


def test_letters_have_the_time_of_the_clock() -> None:
    letters = pl.DataFrame(
        {"step": ["agg-1"], "site": [""], "reason": ["late"], "row": ["{}"], "time": [3]}
    )
    outlet = outlets(program())["late:out-counts"]
    assert isinstance(outlet, Outlet)
    assert outlet.records(letters, clock=9).column("_timestamp").to_pylist() == [9]


def raw(*, upsert: bool = False) -> Physical:
    columns = schema_of({"_key": "bytes", "value": "bytes"})
    sink = Sink(Stream("in", columns), "out", ("_key",), None, None, upsert=upsert, raw=True)
    return plan(Plan("raw", (sink,)))


RECORDS = pl.DataFrame(
    {
        "_key": [b"a", b"b", None],
        "value": [b"1", b"2", None],
        "_time": [5, 6, 7],
        "_weight": pl.Series([1, -1, 1], dtype=pl.Int32),
    }
)


def test_records_of_bytes_are_written_as_they_are(log: EmbeddedLog) -> None:
    log.create_topic("in", partitions=3)
    ensure_topics(log, raw())
    assert (log.topic("out").partitions, log.topic("out").schema) == (3, None)
    outlet = outlets(raw())["out-out"]
    assert outlet.columns == ["value", "_key", "_time"]
    table = outlet.records(RECORDS, clock=77)
    assert table.select(["_key", "value", "_timestamp"]).to_pylist() == [
        {"_key": b"a", "value": b"1", "_timestamp": 5},
        {"_key": b"b", "value": b"2", "_timestamp": 6},
        {"_key": None, "value": None, "_timestamp": 7},
    ]
    assert "_partition" not in table.column_names


def test_a_table_of_bytes_has_tombstones_without_a_value() -> None:
    table = outlets(raw(upsert=True))["out-out"].records(RECORDS.head(2), clock=77)
    assert table.column("value").to_pylist() == [b"1", None]
    same = RECORDS.with_columns(value=pl.lit(b"same"), _weight=pl.Series([1, 1, 1], dtype=pl.Int32))
    again = outlets(raw(upsert=True))["out-out"].records(pl.concat([same, same]), clock=77)
    assert again.column("value").to_pylist() == [b"same"] * 3
