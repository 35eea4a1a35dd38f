"""Functions of the user with state and timers, and patterns: how many rows a second they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from typing_extensions import override

import penstock as ps
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.stage import Stage, Taken
from bench.windowed import EVENTS, event_rows
from penstock.front.dsl.stream import Stream
from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.spark.session import spark_session, stop_session

_PARTITIONS = 2
_KEYS = 100_000
_SILENCE = 5_000
_VISITS = pa.schema([("user", pa.string()), ("visits", pa.int64()), ("total", pa.float64())])
_VISITS_DDL = "user string, visits long, total double"
_METHOD = (
    "A topic of 2 partitions: a user of 100,000, an amount and an event time that rises 16,000 rows"
    " a second with up to 1 s of disorder and a lateness of 2 s. Programs read it in batches with a"
    " new checkpoint each run, keep state in files, and write results to the log in one transaction"
    " a batch. Rows/s are by the time of the micro-batches after the first, on all cores of the"
    " machine. The function counts the visits of a user and sums their amounts in two states, and"
    " sets a timer; after 5 s of silence it gives both and forgets the user. Where rows come as"
    " they arrive, timers come after those of a batch, in Spark too. One that takes tables keeps"
    " the same two states and gives both with every row: it has no timers. Spark's"
    " `applyInPandasWithState` does the first with one state and an event-time timeout, on each"
    " fiftieth user, since it is slow (`transformWithState` needs protobuf, which we do not"
    " install). Patterns of three steps within 10 s: amounts below 30, later above 70, later below"
    " 30; an amount, then twice less than the one before; three above 80 with any rows between."
    " Spark has no patterns."
)


class Visits(ps.Processor[Any]):
    """Tells of each visit, a stretch of rows without 5 s of silence, when it has ended."""

    visits = ps.value_state(int, default=0)
    total = ps.value_state(float, default=0.0)

    @override
    def process(self, row: dict[str, Any], ctx: ps.Context) -> None:
        """Count a row, and wait for silence."""
        self.visits.value += 1
        self.total.value += row["amount"]
        ctx.set_timer(ctx.time + _SILENCE, name="silence")

    @override
    def on_timer(self, timer: ps.Timer, ctx: ps.Context) -> dict[str, Any]:
        """Tell of the visit, and forget it."""
        told = {"user": ctx.key, "visits": self.visits.value, "total": self.total.value}
        self.visits.clear()
        self.total.clear()
        return told


def running(rows: pl.DataFrame, state: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give the count and the sum of each user after every row."""
    found = rows.join(state, on="user", how="left", maintain_order="left").with_columns(
        pl.col("visits") + pl.int_range(1, pl.len() + 1).over("user"),
        pl.col("total") + pl.col("amount").cum_sum().over("user"),
    )
    return found, found.group_by("user", maintain_order=True).last().select(state.columns)


def _process(events: Stream) -> Stream:
    return events.group_by("user").process(Visits, schema=_VISITS)


def _process_in_order(events: Stream) -> Stream:
    return events.group_by("user").process(Visits, schema=_VISITS, in_order=True)


def _process_tables(events: Stream) -> Stream:
    states = {
        "visits": ps.value_state(int, default=0),
        "total": ps.value_state(float, default=0.0),
    }
    return events.group_by("user").process_batches(running, schema=_VISITS, state=states)


def _low_high_low(events: Stream) -> Stream:
    low, high = ps.col("amount") < 30, ps.col("amount") > 70
    steps = ps.step("low", low).followed_by(ps.step("high", high)).followed_by(ps.step("end", low))
    return _matched(
        events, steps, {"from": ps.first("low", "amount"), "to": ps.last("end", "amount")}
    )


def _two_falls(events: Stream) -> Stream:
    fall = ps.col("amount") < ps.prev("amount")
    steps = ps.step("begin").then(ps.step("fall", fall)).then(ps.step("more", fall))
    return _matched(events, steps, {"least": ps.last("more", "amount")})


def _three_high(events: Stream) -> Stream:
    steps = ps.step("high", ps.col("amount") > 80).times(3).with_gaps()
    return _matched(events, steps, {"mean": ps.avg("high", "amount")})


def _matched(events: Stream, steps: ps.PatternPart, emit: dict[str, ps.Expression]) -> Stream:
    return events.group_by("user").match(steps.within("10s"), emit)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A program of one step, and what was promised of it."""

    label: str
    step: Callable[[Stream], Stream]
    least: float | None

    def build(self, app: ps.App, out: str) -> None:
        """Write the program."""
        events = app.stream("events", schema=EVENTS, event_time="at", lateness="2s")
        self.step(events).to(out)


_PROCESS = _Shape("a function a row, two states and a timer", _process, 200_000)
_SHAPES = (
    _PROCESS,
    _Shape("the same, rows and timers in the order of their times", _process_in_order, 200_000),
    _Shape("a function of tables, two states", _process_tables, None),
    _Shape("pattern: low, then high, then low", _low_high_low, 300_000),
    _Shape("pattern: two falls", _two_falls, 300_000),
    _Shape("pattern: three times high", _three_high, 300_000),
)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Batches and their rows, and how often all is run."""

    batches: int
    batch: int
    runs: int

    @property
    def measured(self) -> int:
        """The rows of the batches after the first."""
        return self.batch * (self.batches - 1)


def run(scale: Scale) -> Result:
    """Measure each program alone, and the function by turns with Spark's."""
    sizes = _Sizes(3, scale.of(1_000_000, 10_000), scale.of(2, 1))
    spark = spark_session()
    try:
        with scale.home() as home:
            few = _write(home, sizes)
            stage = Stage(spark, home).with_batches_of(sizes.batch)
            measures = [_rate(shape, _runs(stage, shape, sizes), sizes) for shape in _SHAPES]
            measures.insert(1, _against_spark(stage, sizes, few))
    finally:
        stop_session()
    return Result(
        name="functions",
        title="Functions with state and timers, and patterns",
        method=_METHOD,
        baseline="Spark's applyInPandasWithState, where there is one",
        scale=scale.name,
        sizes={
            "rows": sizes.batches * sizes.batch,
            "rows a batch": sizes.batch,
            "rows for Spark": few,
            "keys": _KEYS,
            "runs": sizes.runs,
        },
        measures=tuple(measures),
    )


def _write(home: Path, sizes: _Sizes) -> int:
    """Write the topic, and files with each fiftieth user; give how many rows these have."""
    folder, few = home / "files" / "events", 0
    folder.mkdir(parents=True)
    with open_log(home) as log:
        config = TopicConfig(fsync="os")
        log.create_topic("events", partitions=_PARTITIONS, schema=EVENTS, config=config)
        for number in range(sizes.batches * _PARTITIONS):
            events = event_rows(sizes.batch // _PARTITIONS, number)
            log.append("events", number % _PARTITIONS, events)
            some = events.filter(pc.match_substring_regex(events["user"], "(00|50)$"))
            few += some.num_rows
            pq.write_table(some, folder / f"{number:05d}.parquet")
    return few


def _runs(stage: Stage, shape: _Shape, sizes: _Sizes) -> list[Taken]:
    stage.ours(shape.build)
    return [stage.ours(shape.build) for _ in range(sizes.runs)]


def _rate(shape: _Shape, runs: list[Taken], sizes: _Sizes) -> Measure:
    return Measure(
        label=shape.label,
        unit="rows/s",
        ours=tuple(sizes.measured / taken.batches for taken in runs),
        target=None if shape.least is None else Target("at least", shape.least),
    )


def _against_spark(stage: Stage, sizes: _Sizes, few: int) -> Measure:
    stage.native(_native)
    pairs = [(stage.ours(_PROCESS.build), stage.native(_native)) for _ in range(sizes.runs)]
    measured = few * (sizes.batches - 1) / sizes.batches
    return Measure(
        label=f"{_PROCESS.label}, beside Spark's",
        unit="rows/s",
        ours=tuple(sizes.measured / ours.batches for ours, _ in pairs),
        baseline=tuple(measured / theirs.batches for _, theirs in pairs),
    )


def _native(stage: Stage) -> DataFrame:
    events = stage.stream("events", files=_PARTITIONS).withWatermark("at", "2 seconds")
    return events.groupBy("user").applyInPandasWithState(
        _visit,
        _VISITS_DDL,
        "visits long, total double, last long",
        "append",
        GroupStateTimeout.EventTimeTimeout,
    )


def _visit(
    key: tuple[str], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    if state.hasTimedOut:
        visits, total, _ = state.get
        state.remove()
        yield pd.DataFrame({"user": [key[0]], "visits": [visits], "total": [total]})
        return
    visits, total, last = state.get if state.exists else (0, 0.0, 0)
    for frame in frames:
        for amount, at in zip(frame["amount"], frame["at"], strict=True):
            visits, total = visits + 1, total + amount
            last = max(last, int(at.timestamp() * 1000))
    state.update((visits, total, last))
    state.setTimeoutTimestamp(max(last + _SILENCE, state.getCurrentWatermarkMs() + 1))
