"""Rows that are not as they should be: they are parked and told, and the rest goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import penstock as ps
from penstock.errors import RunError, SchemaError, StateError, UsageError
from penstock.front.dsl.stream import Stream
from penstock.testing.driver import Snapshot, TestDriver

Row = dict[str, Any]
COLUMNS = {"key": str, "n": int, "x": float, "at": "timestamp"}
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
NAN, INFINITY = math.nan, math.inf


def row(second: float | None, n: int = 0, **more: Any) -> Row:  # noqa: ANN401
    at = None if second is None else millis(NOON) + round(1000 * second)
    return {"key": "a", "n": n, "x": 0.0, "at": at, **more}


def millis(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def driver(describe: Callable[[Stream], Stream], **source: Any) -> TestDriver:  # noqa: ANN401
    """A program in a driver whose clock stands at noon."""
    app = ps.App("bad")
    stream = app.stream("in", schema=COLUMNS, event_time="at", lateness="5s", **source)
    describe(stream).to("out")
    return TestDriver(app, clock=NOON)


def minutes(stream: Stream) -> Stream:
    return (
        stream.group_by("key").window(ps.tumbling("1 minute")).agg(rows=ps.count(), n=ps.sum("n"))
    )


def codes(program: TestDriver) -> list[str]:
    """What the dead letters say, and that every row is accounted for."""
    assert all(counts.balanced for counts in program.counts().values()), program.counts()
    return [letter["error"].partition("]")[0][1:] for letter in program.dead_letters("out")]


# Event times


def test_null_and_missing_event_times_are_parked_and_the_rest_goes_on() -> None:
    program = driver(minutes)
    program.push("in", [row(1), row(None), {"key": "a", "n": 3}, row(2)])
    program.finish()
    assert [found["rows"] for found in program.rows("out")] == [2]
    assert codes(program) == ["EVENT_TIME_NULL", "EVENT_TIME_NULL"]
    letter = program.dead_letters("out")[0]
    assert letter["step"] == "in"
    assert "test_bad_input.py" in letter["site"]
    assert letter["row"]["key"] == "a"


def test_a_batch_of_nothing_but_rows_without_a_time_says_nothing() -> None:
    program = driver(minutes)
    program.push("in", [row(None)] * 5)
    assert codes(program) == ["EVENT_TIME_NULL"] * 5
    program.push("in", [row(1)])
    program.finish()
    assert [found["rows"] for found in program.rows("out")] == [1]


@pytest.mark.parametrize(
    ("at", "code"),
    [
        (millis(NOON + timedelta(days=2)), "EVENT_TIME_AHEAD"),
        (millis(datetime(2200, 1, 1, tzinfo=UTC)), "EVENT_TIME_AHEAD"),
        # Microseconds and nanoseconds where milliseconds are meant.
        (round(NOON.timestamp() * 10**6), "EVENT_TIME_RANGE"),
        (round(NOON.timestamp() * 10**9), "EVENT_TIME_RANGE"),
        (2**63 - 1, "EVENT_TIME_RANGE"),
        (-(2**63), "EVENT_TIME_RANGE"),
        (-(2**60), "EVENT_TIME_RANGE"),
    ],
)
def test_a_time_in_the_far_future_or_past_is_parked_and_closes_no_window(
    at: int, code: str
) -> None:
    program = driver(minutes)
    program.push("in", [row(1), {**row(0, 7), "at": at}, row(2)])
    assert codes(program) == [code]
    assert program.watermark == millis(NOON) + 2000 - 5000
    program.push("in", [row(3), row(50)])
    assert program.rows("out") == []
    assert program.late("out") == []
    program.push("in", [row(65)])
    assert [found["rows"] for found in program.rows("out")] == [4]
    assert [letter["row"]["n"] for letter in program.dead_letters("out")] == [7]


def test_how_far_ahead_a_row_may_be_is_up_to_the_stream() -> None:
    bold = driver(minutes, max_ahead="365d")
    bold.push("in", [row(1), row(3 * 86_400)])
    assert codes(bold) == []
    assert [found["rows"] for found in bold.rows("out")] == [1]
    shy = driver(minutes, max_ahead="10s")
    shy.push("in", [row(10), row(10.001)])
    assert codes(shy) == ["EVENT_TIME_AHEAD"]


def test_a_time_that_is_not_the_event_time_and_cannot_be_said_is_parked_too() -> None:
    app = ps.App("bad")
    columns = {"at": "timestamp", "other": "timestamp", "day": "date"}
    stream = app.stream("in", schema=columns, event_time="at")
    stream.map(lambda found: {"text": str(found["other"])}, schema={"text": str}).to("out")
    program = TestDriver(app)
    rows = pl.DataFrame(
        {
            "at": [1, 2, 3],
            "other": [5, 2**61, None],
            "day": pl.Series([1, 2, 3], dtype=pl.Int32),
        }
    ).with_columns(
        pl.col("at", "other").cast(pl.Datetime("ms", "UTC")), pl.col("day").cast(pl.Date)
    )
    program.push("in", rows)
    assert codes(program) == ["VALUE_RANGE"]
    assert program.dead_letters("out")[0]["row"]["other"] == 2**61
    assert len(program.rows("out")) == 2


# NaN


def test_nan_is_one_key_and_zero_has_no_sign() -> None:
    app = ps.App("bad")
    stream = app.stream("in", schema=COLUMNS, event_time="at")
    stream.group_by("x").agg(rows=ps.count()).to("out")
    program = TestDriver(app)
    other_nan = -NAN
    for x in (NAN, other_nan, 0.0, -0.0, None, INFINITY):
        program.push("in", [row(1, x=x)])
    table = {repr(found["x"]).strip("-"): found["rows"] for found in program.table("out")}
    assert table == {"nan": 2, "0.0": 2, "None": 1, "inf": 1}


@pytest.mark.parametrize(
    ("describe", "column", "wanted"),
    [
        (lambda keyed: keyed.agg(n=ps.count()), "n", 6),
        (lambda keyed: keyed.window(ps.tumbling("1 hour")).agg(n=ps.count()), "n", 6),
        (lambda keyed: keyed.window(ps.hopping("2 hours", "1 hour")).agg(n=ps.count()), "n", 6),
        (lambda keyed: keyed.window(ps.session("1 hour")).agg(n=ps.count()), "n", 6),
        (lambda keyed: keyed.window(ps.sliding("1 hour")).agg(n=ps.count()), "n", 6),
        (lambda keyed: keyed.window(ps.count_window(6)).agg(n=ps.count()), "n", 6),
    ],
    ids=["running", "tumbling", "hopping", "session", "sliding", "count"],
)
def test_nan_stays_one_key_from_batch_to_batch(
    describe: Callable[[Any], Stream], column: str, wanted: int
) -> None:
    program = driver(lambda stream: describe(stream.group_by("x")))
    for second in range(6):
        program.push("in", [row(second, x=NAN)])
    program.finish()
    assert max(found[column] for found in program.rows("out")) == wanted


def test_nan_is_given_once_and_ranked_as_one_group() -> None:
    app = ps.App("bad")
    stream = app.stream("in", schema=COLUMNS, event_time="at")
    stream.dedup("x").to("once")
    stream.dedup("x", within="10s").to("seldom")
    stream.top_n(1, by="n", group="x").to("best")
    program = TestDriver(app)
    for second in range(6):
        program.push("in", [row(second, second, x=NAN)])
    assert len(program.rows("once")) == 1
    assert len(program.rows("seldom")) == 1
    assert [found["n"] for found in program.table("best")] == [5]


def test_nan_and_infinity_can_be_taken_back() -> None:
    app = ps.App("bad")
    stream = app.stream("in", schema=COLUMNS, event_time="at")
    last = stream.group_by("key").refine(ps.retracting()).agg(x=ps.last("x"))
    last.agg(
        sum=ps.sum("x"), avg=ps.avg("x"), low=ps.min("x"), high=ps.max("x"), var=ps.variance("x")
    ).to("out")
    program = TestDriver(app)
    for second, (key, x) in enumerate(
        [("a", 1.0), ("b", NAN), ("c", INFINITY), ("d", -INFINITY), ("e", None)]
    ):
        program.push("in", [row(second, key=key, x=x)])
    total = program.table("out")[0]
    assert math.isnan(total["sum"])
    assert math.isnan(total["high"])
    assert total["low"] == -INFINITY
    for second, key in enumerate("bcde"):
        program.push("in", [row(10 + second, key=key, x=1.0 + second)])
    assert program.table("out") == [
        {"sum": 11.0, "avg": 2.2, "low": 1.0, "high": 4.0, "var": pytest.approx(1.7)}
    ]


def test_nan_in_a_condition_is_no_error_and_is_written_out_in_a_letter() -> None:
    program = driver(lambda stream: stream.expect("small", ps.col("x") < 1))
    program.push("in", [row(1, x=NAN), row(2, x=0.5), row(3, x=None)])
    assert [found["x"] for found in program.rows("out")] == [0.5]
    assert codes(program) == ["EXPECTATION_FAILED"] * 2
    assert [letter["row"]["x"] for letter in program.dead_letters("out")] == ["NaN", None]


# Clocks


def early(stream: Stream) -> Stream:
    return (
        stream.group_by("key")
        .window(ps.tumbling("1 hour"))
        .trigger(ps.when_closed(early=ps.every("10s")))
        .agg(rows=ps.count())
    )


def test_a_clock_that_jumps_forward_brings_each_timer_once() -> None:
    program = driver(early)
    program.push("in", [row(1)])
    program.advance_clock(by=timedelta(days=400))
    assert [found["rows"] for found in program.rows("out")] == [1]
    program.push("in", [row(2)])
    program.advance_clock(by=timedelta(seconds=10))
    assert [found["rows"] for found in program.rows("out")] == [1, 2]
    assert codes(program) == []


def test_a_clock_that_jumps_forward_takes_the_bound_of_the_future_along() -> None:
    program = driver(minutes)
    program.push("in", [row(10 * 86_400)])
    assert codes(program) == ["EVENT_TIME_AHEAD"]
    program.advance_clock(by=timedelta(days=10))
    program.push("in", [row(10 * 86_400)])
    assert codes(program) == ["EVENT_TIME_AHEAD"]


def test_a_clock_does_not_go_back() -> None:
    program = driver(early)
    program.push("in", [row(1)])
    with pytest.raises(UsageError, match="CLOCK_BACK"):
        program.advance_clock(to=NOON - timedelta(seconds=1))
    program.push("in", [row(2)], at=NOON - timedelta(hours=1))
    program.advance_clock(by=timedelta(seconds=10))
    assert [found["rows"] for found in program.rows("out")] == [2]


# Functions that raise


def refuse_seven(n: int) -> None:
    if n == 7:
        message = "seven is not for me"
        raise ValueError(message)


def mapped(found: Row) -> Row:
    refuse_seven(found["n"])
    return found


def wanted(found: Row) -> bool:
    refuse_seven(found["n"])
    return True


def one_each(found: Row) -> Iterator[Row]:
    yield found
    refuse_seven(found["n"])


def polars_table(table: pl.DataFrame) -> pl.DataFrame:
    for n in table["n"]:
        refuse_seven(n)
    return table


def arrow_table(table: pa.Table) -> pa.Table:
    if pc.any(pc.equal(table.column("n"), 7)).as_py():
        refuse_seven(7)
    return table


def of_five_seconds(time: int, found: Row) -> list[tuple[int, int]]:
    refuse_seven(found["n"])
    return [(time - time % 5000, time - time % 5000 + 5000)]


@pytest.mark.parametrize(
    "describe",
    [
        lambda stream: stream.map(mapped, schema=COLUMNS),
        lambda stream: stream.filter(wanted),
        lambda stream: stream.flat_map(one_each, schema=COLUMNS),
        lambda stream: stream.map_batches(polars_table),
        lambda stream: stream.map_batches(arrow_table, library="arrow"),
    ],
    ids=["map", "filter", "flat_map", "polars", "arrow"],
)
def test_a_function_that_raises_on_row_7_parks_it_with_its_traceback(
    describe: Callable[[Stream], Stream],
) -> None:
    program = driver(describe)
    program.push("in", [row(n / 10, n) for n in range(20)])
    assert [found["n"] for found in program.rows("out")] == [n for n in range(20) if n != 7]
    assert_parked_seven(program)


def test_a_window_function_that_raises_on_row_7_parks_it_with_its_traceback() -> None:
    program = driver(
        lambda stream: (
            stream.group_by("key").window(ps.custom_window(of_five_seconds)).agg(rows=ps.count())
        )
    )
    program.push("in", [row(n / 10, n) for n in range(20)])
    program.finish()
    assert [found["rows"] for found in program.rows("out")] == [19]
    assert_parked_seven(program)


def test_windows_that_end_before_they_start_are_parked_too() -> None:
    def backwards(time: int, found: Row) -> list[tuple[int, int]]:
        return [(time, time + (1000 if found["n"] != 7 else -1000))]

    program = driver(
        lambda stream: stream.group_by("key").window(ps.custom_window(backwards)).agg(n=ps.count())
    )
    program.push("in", [row(1, 6), row(2, 7), row(3, 8)])
    program.finish()
    assert len(program.rows("out")) == 2
    (letter,) = program.dead_letters("out")
    assert "ends before it starts" in letter["error"]


def assert_parked_seven(program: TestDriver) -> None:
    assert all(counts.balanced for counts in program.counts().values())
    (letter,) = program.dead_letters("out")
    assert letter["row"]["n"] == 7
    assert letter["error"] == "ValueError: seven is not for me"
    assert "test_bad_input.py" in letter["site"]
    trace = letter["traceback"]
    assert trace.startswith("Traceback (most recent call last):")
    assert "in refuse_seven" in trace
    assert trace.rstrip().endswith("ValueError: seven is not for me")


def test_a_table_that_makes_polars_panic_is_parked_row_by_row() -> None:
    def spoken(table: pl.DataFrame) -> pl.DataFrame:
        times = pl.col("n").cast(pl.Datetime("ms", "UTC")).cast(pl.String)
        return table.with_columns(times.alias("key"))

    program = driver(lambda stream: stream.map_batches(spoken))
    program.push("in", [row(1, 0), row(2, 2**62), row(3, 1)])
    assert [found["n"] for found in program.rows("out")] == [0, 1]
    (letter,) = program.dead_letters("out")
    assert letter["row"]["n"] == 2**62
    assert "out-of-range" in letter["error"]


def test_a_function_that_cannot_merge_windows_ends_the_program_by_code() -> None:
    def never(_: Any) -> list[Any]:  # noqa: ANN401
        refuse_seven(7)
        return []

    program = driver(
        lambda stream: (
            stream.group_by("key")
            .window(
                ps.custom_window(lambda time, _: [(time, time + 1000)], merge=never, name="mine")
            )
            .agg(n=ps.count())
        )
    )
    with pytest.raises(RunError, match=r'WINDOW_MERGE.*"mine".*seven is not for me'):
        program.push("in", [row(1)])


class RefusesSeven:
    def init(self) -> int:
        return 0

    def add(self, total: int, n: int) -> int:
        refuse_seven(n)
        return total + n

    def merge(self, one: int, other: int) -> int:
        return one + other

    def retract(self, total: int, n: int) -> int:
        return total - n

    def result(self, total: int) -> int:
        return total


@pytest.mark.parametrize(
    ("describe", "code", "fact"),
    [
        (
            lambda stream: stream.expect("not seven", ps.col("n") != 7, otherwise="fail"),
            "EXPECTATION_FAILED",
            '"n":7',
        ),
        (
            lambda stream: stream.agg(total=ps.aggregate(RefusesSeven(), "n", gives=int)),
            "AGGREGATE_FAILED",
            "in add of (7,) with ValueError: seven is not for me",
        ),
    ],
    ids=["expectation", "aggregate"],
)
def test_what_ends_a_program_is_told_by_code_and_the_batch_leaves_nothing_behind(
    describe: Callable[[Stream], Stream], code: str, fact: str
) -> None:
    program, calm = driver(describe), driver(describe)
    for one in (program, calm):
        one.push("in", [row(1, 1)])
    with pytest.raises(RunError, match=code) as caught:
        program.push("in", [row(2, 2), row(3, 7), row(4, 4)])
    assert fact in str(caught.value)
    assert "test_bad_input.py" in str(caught.value)
    assert caught.value.hint
    for one in (program, calm):
        one.push("in", [row(5, 5)])
    assert program.rows("out") == calm.rows("out")
    assert program.counts() == calm.counts()


# Stored states


def damaged(blob: bytes) -> bytes:
    return blob[:-1] + bytes([blob[-1] ^ 1])


def of_another(blob: bytes) -> bytes:
    other = driver(lambda stream: stream.group_by("key").agg(other=ps.max("n")))
    other.push("in", [row(1)])
    return next(iter(other.snapshot().states.values()))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (damaged, "STATE_UNREADABLE"),
        (lambda blob: blob[: len(blob) // 2], "STATE_UNREADABLE"),
        (lambda _: b"", "STATE_UNREADABLE"),
        (of_another, "CHECKPOINT_PROGRAM"),
    ],
    ids=["bit flip", "cut", "empty", "foreign"],
)
def test_a_state_that_cannot_be_read_is_refused_and_nothing_is_lost(
    change: Callable[[bytes], bytes], code: str
) -> None:
    program = driver(minutes)
    program.push("in", [row(1, 1), row(2, 2)])
    kept = program.snapshot()
    states = {place: change(blob) for place, blob in kept.states.items()}
    with pytest.raises(StateError, match=code):
        program.restore(Snapshot(states, kept.wakes, kept.watermarks, kept.time))
    assert program.snapshot().states == kept.states
    program.restore(kept)
    program.push("in", [row(3, 3)])
    program.finish()
    assert [(found["rows"], found["n"]) for found in program.rows("out")] == [(3, 6)]


# Topics


def test_rows_that_are_not_of_the_schema_are_refused_before_anything_runs() -> None:
    program = driver(minutes)
    with pytest.raises(SchemaError, match="COLUMN_UNKNOWN"):
        program.push("in", [{**row(1), "extra": 1}])
    with pytest.raises(SchemaError, match="VALUE_TYPE"):
        program.push("in", [row(1, "seven")])  # type: ignore[arg-type]
    assert program.counts() == {}
