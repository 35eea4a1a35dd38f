from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import polars as pl
import pyarrow as pa
import pytest

from penstock.kernel.arrival import Observed, Skew, needed_columns, observe, stamp
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, Counts
from penstock.model.expr import Call, Column
from penstock.model.physical import Scan
from penstock.model.source import Stream
from penstock.model.times import Times
from penstock.model.watermark import BoundedDisorder, Perfect, Punctuated, Watermark
from penstock.schema.codec.port import Decoded
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, INT64, STRING, TIMESTAMP

COLUMNS = Schema((Field("name", STRING), Field("at", INT64), Field("until", INT64)))
SECONDS_2 = timedelta(seconds=2)


def a_stream(watermark: Watermark | None = None, event_time: str | None = "at") -> Stream:
    return Stream("in", COLUMNS, event_time, watermark or BoundedDisorder())


def rows(*times: int | None, until: tuple[int | None, ...] = ()) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [str(number) for number in range(len(times))],
            "at": pl.Series(times, dtype=pl.Int64),
            "until": pl.Series(until or [None] * len(times), dtype=pl.Int64),
            "_taken": pl.Series([77] * len(times), dtype=pl.Int64),
        }
    )


def seen(stream: Stream, frame: pl.DataFrame, clock: int | None = None) -> Observed:
    return observe(stream, stamp(stream, frame), clock)


def test_rows_are_stamped_with_the_time_of_their_column() -> None:
    stamped = stamp(a_stream(), rows(5, None))
    assert stamped["_time"].to_list() == [5, None]
    assert stamped["_weight"].to_list() == [1, 1]
    assert stamped["_taken"].to_list() == [77, 77]


def test_without_an_event_time_the_time_of_the_log_counts() -> None:
    assert stamp(a_stream(event_time=None), rows(5))["_time"].to_list() == [77]


def test_a_timestamp_counts_milliseconds() -> None:
    schema = Schema((Field("at", TIMESTAMP),))
    frame = pl.DataFrame({"at": pl.Series([1500], dtype=pl.Datetime("us", "UTC")), "_taken": [0]})
    assert stamp(Stream("in", schema, "at"), frame)["_time"].to_list() == [1]


def test_a_changelog_brings_its_own_weights() -> None:
    stream = Stream("in", COLUMNS, "at", changelog=True)
    frame = rows(1, 2).with_columns(pl.Series("_weight", [1, -1]))
    assert stamp(stream, frame)["_weight"].to_list() == [1, -1]


@pytest.mark.parametrize(
    ("strategy", "candidate"),
    [
        (BoundedDisorder(), 9_000),
        (BoundedDisorder(SECONDS_2), 7_000),
        (Perfect(), 9_000),
        (Punctuated("until"), None),
    ],
)
def test_what_a_partition_may_claim(strategy: Watermark, candidate: int | None) -> None:
    assert seen(a_stream(strategy), rows(9_000, 4_000)).candidate == candidate


def test_rows_say_how_far_a_punctuated_stream_is() -> None:
    stream = a_stream(Punctuated("until"))
    found = seen(stream, rows(1, 2, 3, until=(None, 40, 20)))
    assert found.candidate == 40
    assert found.rows.height == 3


def test_control_rows_speak_and_are_not_passed_on() -> None:
    stream = a_stream(Punctuated("until", control=Call("is_null", (Column("at"),))))
    found = seen(stream, rows(1, None, None, until=(None, 40, None)))
    assert found.candidate == 40
    assert found.rows["name"].to_list() == ["0"]
    assert found.dead is None
    assert found.counts == Counts(taken=3, passed=1, filtered=2, given=1)
    assert "_says" not in found.rows.columns


def test_rows_without_a_time_are_parked_and_the_rest_goes_on() -> None:
    found = seen(a_stream(), rows(1, None, 3))
    assert found.rows["at"].to_list() == [1, 3]
    assert found.dead is not None
    assert found.dead["error"].to_list() == ['[EVENT_TIME_NULL] event time "at" is null']
    assert found.dead["row"].to_list() == ['{"name":"1","at":null,"until":null}']
    assert found.counts == Counts(taken=3, passed=2, dead=1, given=2)


def test_a_time_far_ahead_of_the_clock_is_parked_and_moves_nothing() -> None:
    strategy = BoundedDisorder(max_ahead=timedelta(seconds=10))
    found = seen(a_stream(strategy), rows(1_000, 11_001, 11_000), clock=1_000)
    assert found.candidate == 11_000
    assert found.dead is not None
    assert "[EVENT_TIME_AHEAD]" in found.dead["error"][0]
    assert seen(a_stream(strategy), rows(99_000)).dead is None  # without a clock


def test_a_word_far_ahead_of_the_clock_is_parked_too() -> None:
    strategy = Punctuated("until", max_ahead=timedelta(seconds=10))
    found = seen(a_stream(strategy), rows(1, 2, until=(10**9, 5)), clock=0)
    assert found.candidate == 5
    assert found.counts.dead == 1


def test_times_beyond_the_ends_of_time_are_parked() -> None:
    strategy = BoundedDisorder(max_ahead=None)
    found = seen(a_stream(strategy), rows(END_OF_TIME, START_OF_TIME - 1, END_OF_TIME - 1))
    assert found.rows["at"].to_list() == [END_OF_TIME - 1]
    assert found.dead is not None
    assert "[EVENT_TIME_AHEAD]" in found.dead["error"][0]
    assert "[EVENT_TIME_RANGE]" in found.dead["error"][1]


@pytest.mark.parametrize(("column", "code"), [("at", "EVENT_TIME_RANGE"), ("until", "VALUE_RANGE")])
def test_times_that_no_calendar_has_are_parked_before_anybody_reads_them(
    column: str, code: str
) -> None:
    schema = Schema((Field("at", TIMESTAMP), Field("until", TIMESTAMP)))
    stream = Stream("in", schema, "at", BoundedDisorder(max_ahead=None))
    # Nanoseconds where milliseconds are meant, and long before there was a year 1.
    times = [5, 1_700_000_000_000_000_000, None, -(10**15)]
    frame = pl.DataFrame({"at": [1, 2, 3, 4], "until": [1, 2, 3, 4], "_taken": [0, 0, 0, 0]})
    frame = frame.with_columns(pl.Series(column, times, pl.Int64))
    whole = frame.with_columns(pl.col("at", "until").cast(pl.Datetime("ms", "UTC")))
    found = seen(stream, whole)
    assert found.dead is not None
    parked = {error.split("]")[0][1:] for error in found.dead["error"]}
    assert parked == ({code, "EVENT_TIME_NULL"} if column == "at" else {code})
    assert found.rows.height + found.dead.height == 4
    assert found.candidate == found.rows["_time"].max()
    assert any("1700000000000000000" in row for row in found.dead["row"])


def test_the_skew_of_both_halves_is_the_skew_of_the_whole() -> None:
    whole = seen(a_stream(), rows(1, 5, 9), clock=10).skew
    assert whole == Skew(rows=3, least=1, most=9, total=15)
    halves = [seen(a_stream(), frame, clock=10).skew for frame in (rows(1), rows(5, 9), rows())]
    assert halves[0] + halves[1] + halves[2] == whole
    assert Skew() + whole == whole


def test_no_rows_say_nothing() -> None:
    found = seen(a_stream(), rows(), clock=3)
    assert found.candidate is None
    assert found.rows.is_empty()


def test_the_columns_of_time_and_watermark_are_read_although_no_step_needs_them() -> None:
    schema = COLUMNS.with_fields([Field("mark", BOOLEAN), Field("rest", INT64)])
    stream = Stream("in", schema, "at", Punctuated("until", control=Column("mark")))
    assert needed_columns(Scan("s", stream, (), ("name",))) == ("name", "at", "until", "mark")


def test_what_records_are_opened_as_tells_their_times_to_the_watermark() -> None:
    opened = Schema((Field("said", INT64),))

    def opens(records: pa.Table) -> Decoded:
        return Decoded(pa.table({"said": records.column("until")}))

    stream = replace(a_stream(event_time=None), times=Times("said", opens, opened, Column("said")))
    found = seen(stream, rows(1, 2, 3, until=(40, None, 30)))
    # One that does not say it is left to the step that stamps it, and no watermark hears of it.
    assert found.rows["_time"].to_list() == [40, START_OF_TIME, 30]
    assert found.candidate == 40
    scan = Scan("scan", stream, (), ("name",))
    assert needed_columns(scan) == COLUMNS.names
