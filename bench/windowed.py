"""Programs on Spark against Spark's own stateful operators, on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

import penstock as ps
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.stage import Stage, Taken
from penstock.front.dsl.stream import Stream
from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.spark.session import spark_session, stop_session

_TOPIC = "events"
_PARTITIONS = 2
_KEYS = 100_000
_EPOCH = 1_700_000_000_000
_ROWS_A_SECOND = 16_000
EVENTS = pa.schema(
    [("user", pa.string()), ("amount", pa.float64()), ("at", pa.timestamp("ms", tz="UTC"))]
)
_METHOD = (
    "One session, one topic of 2 partitions and Parquet files of the same rows: a user of"
    " 100,000, an amount and an event time that rises 16,000 rows a second with up to 1 s of"
    " disorder. Both sides read them as a stream in batches of the same number of rows, with a new"
    " checkpoint each run, RocksDB state and 2 shuffle partitions, by turns. Ours reads the log,"
    " writes results, late rows and dead letters to the log in one transaction a batch, and does"
    " its accounting; Spark's operator reads Parquet and writes to `noop`, which keeps nothing."
    " Events/s are by the time of the micro-batches after the first; events/CPU-s by all"
    " processors of the whole process tree during the query, start-up included. Both give the"
    " same panes: append mode for windows and duplicates, once a batch for running results (where"
    " ours also takes back the result before; Spark's does not)."
)
_AS_FAST = Target("at least", 1.0)
_Native: TypeAlias = Callable[[DataFrame], DataFrame]
_Ours: TypeAlias = Callable[[Stream], Stream]


@dataclass(frozen=True, slots=True)
class _Shape:
    """One operator, as we write it and as Spark has it (or does not)."""

    label: str
    ours: _Ours
    native: _Native | None
    mode: str = "append"


def _tumbling(stream: Stream) -> Stream:
    return (
        stream.group_by("user").window(ps.tumbling("10s")).agg(total=ps.sum("amount"), n=ps.count())
    )


def _hopping(stream: Stream) -> Stream:
    return (
        stream.group_by("user")
        .window(ps.hopping("10s", "1s"))
        .agg(total=ps.sum("amount"), n=ps.count())
    )


def _session(stream: Stream) -> Stream:
    return (
        stream.group_by("user").window(ps.session("5s")).agg(total=ps.sum("amount"), n=ps.count())
    )


def _distinct(stream: Stream) -> Stream:
    return stream.window(ps.tumbling("10s")).agg(people=ps.approx_count_distinct("user"))


def _exact_distinct(stream: Stream) -> Stream:
    return stream.window(ps.tumbling("10s")).agg(people=ps.count_distinct("user"))


def _retracting(stream: Stream) -> Stream:
    return (
        stream.group_by("user")
        .trigger(ps.each_batch())
        .refine(ps.retracting())
        .agg(total=ps.sum("amount"), n=ps.count())
    )


_SHAPES = (
    _Shape(
        "tumbling window, sum and count",
        _tumbling,
        lambda rows: rows.groupBy("user", f.window("at", "10 seconds")).agg(
            f.sum("amount"), f.count(f.lit(1))
        ),
    ),
    _Shape(
        "hopping window, 10 times overlapping",
        _hopping,
        lambda rows: rows.groupBy("user", f.window("at", "10 seconds", "1 second")).agg(
            f.sum("amount"), f.count(f.lit(1))
        ),
    ),
    _Shape(
        "session window",
        _session,
        lambda rows: rows.groupBy("user", f.session_window("at", "5 seconds")).agg(
            f.sum("amount"), f.count(f.lit(1))
        ),
    ),
    _Shape(
        "distinct users of a window, approximate",
        _distinct,
        lambda rows: rows.groupBy(f.window("at", "10 seconds")).agg(
            f.approx_count_distinct("user")
        ),
    ),
    _Shape(
        "distinct users of a window, exact",
        _exact_distinct,
        lambda rows: (
            rows.withColumn("w", f.window("at", "10 seconds"))
            .dropDuplicates(["user", "w"])
            .groupBy("w")
            .agg(f.count(f.lit(1)))
        ),
    ),
    _Shape(
        "running result, retracting",
        _retracting,
        lambda rows: rows.groupBy("user").agg(f.sum("amount"), f.count(f.lit(1))),
        "update",
    ),
    _Shape(
        "duplicates within 10 seconds",
        lambda stream: stream.dedup("user", within="10s"),
        lambda rows: rows.dropDuplicatesWithinWatermark(["user"]),
    ),
    _Shape(
        "10 best of each of 1,000 groups",
        lambda stream: stream.with_columns(group=ps.substring(ps.col("user"), 6, 3)).top_n(
            10, by="amount", group="group"
        ),
        None,
    ),
)


def _ours(stage: Stage, shape: _Shape) -> Taken:
    def build(app: ps.App, topic: str) -> object:
        stream = app.stream(_TOPIC, schema=EVENTS, event_time="at", lateness="2s")
        return shape.ours(stream).to(topic)

    return stage.ours(build)


def _native(stage: Stage, shape: _Shape) -> Taken:
    native = shape.native
    assert native is not None
    delay = "10 seconds" if "duplicates" in shape.label else "2 seconds"

    def query(stage: Stage) -> DataFrame:
        # A file holds half a batch: one for each partition of the topic.
        return native(stage.stream(_TOPIC, files=_PARTITIONS).withWatermark("at", delay))

    return stage.native(query, shape.mode)


def run(scale: Scale) -> Result:
    """Measure each operator against Spark's own where there is one."""
    rows, batch = scale.of(3_000_000, 20_000), scale.of(1_000_000, 10_000)
    spark = spark_session()
    try:
        with scale.home() as home:
            write_events(home, rows, batch // 2)
            stage = Stage(spark, home, batch)
            measures = [item for shape in _SHAPES for item in _shape(scale, stage, shape, rows)]
    finally:
        stop_session()
    return Result(
        name="windowed",
        title="Programs against Spark's own stateful operators",
        method=_METHOD,
        baseline="Spark's native operator on the same rows from Parquet",
        scale=scale.name,
        sizes={"rows": rows, "rows a batch": batch, "keys": _KEYS, "pairs": scale.of(2, 1)},
        measures=(*measures, *_means(measures)),
    )


def write_events(home: Path, rows: int, batch: int) -> None:
    """Write the same events to a topic and to files, two partitions by turns."""
    files = home / "files" / _TOPIC
    files.mkdir(parents=True)
    with open_log(home) as log:
        config = TopicConfig(fsync="os")
        log.create_topic(_TOPIC, partitions=_PARTITIONS, schema=EVENTS, config=config)
        for number in range(rows // batch):
            events = event_rows(batch, number)
            log.append(_TOPIC, number % _PARTITIONS, events)
            pq.write_table(events, files / f"{number:05d}.parquet")


def event_rows(records: int, number: int, *, keys: int = _KEYS) -> pa.Table:
    """Give one batch of events; the event time goes on from batch to batch."""
    random = np.random.default_rng(number)
    # Two partitions share each stretch of event time.
    first = (number // _PARTITIONS) * records * _PARTITIONS
    steady = first + np.arange(records, dtype=np.int64) * _PARTITIONS
    times = _EPOCH + steady * 1000 // _ROWS_A_SECOND - random.integers(0, 1000, records)
    users = np.char.add("user-", random.integers(0, keys, records).astype(str))
    return pa.Table.from_arrays(
        [
            pa.array(users, pa.string()),
            pa.array(random.random(records) * 100),
            pa.array(times, pa.int64()).view(pa.timestamp("ms", tz="UTC")),
        ],
        schema=EVENTS,
    )


def _shape(scale: Scale, stage: Stage, shape: _Shape, rows: int) -> Iterator[Measure]:
    runs = scale.of(2, 1)
    pairs: list[tuple[Taken, Taken | None]]
    _ours(stage, shape)
    if shape.native is None:
        pairs = [(_ours(stage, shape), None) for _ in range(runs)]
    else:
        _native(stage, shape)
        pairs = [(_ours(stage, shape), _native(stage, shape)) for _ in range(runs)]
    assert stage.batch is not None
    measured = rows - stage.batch
    for unit, number, amount in (("events/s", 0, measured), ("events/CPU-s", 1, rows)):
        yield Measure(
            label=shape.label,
            unit=unit,
            ours=tuple(amount / ours[number] for ours, _ in pairs),
            baseline=tuple(amount / theirs[number] for _, theirs in pairs if theirs is not None),
            target=_AS_FAST if shape.native is not None else None,
        )


def _means(measures: list[Measure]) -> Iterator[Measure]:
    for unit in ("events/s", "events/CPU-s"):
        judged = [item.judged for item in measures if item.unit == unit and item.baseline]
        mean = prod(judged) ** (1 / len(judged))
        yield Measure(
            label=f"geometric mean of the ratios, {unit}",
            unit="times",
            ours=(mean,),
            target=Target("at least", 2.0),
        )
