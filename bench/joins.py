"""Joins of streams and tables against Spark's own where it has one, and against PyFlink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

import penstock as ps
from bench.flink import Flink, flink_here
from bench.join_rows import (
    KEYS,
    ORDERS,
    PARTITIONS,
    PAYMENTS,
    TOPICS,
    USERS,
    write_all_users,
    write_rows,
)
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.stage import Build, Query, Stage, Taken
from penstock.front.dsl.stream import Stream, Table
from penstock.spark.session import spark_session, stop_session

_METHOD = (
    "One session; topics of 2 partitions, and Parquet files of the same rows. Streams are orders"
    " and payments of 100,000 users, 20,000 of each a second of event time with up to 1 s of"
    " disorder and a lateness of 2 s. Both sides take them in batches of the same number of rows,"
    " with a new checkpoint each run, RocksDB or our state files and 2 shuffle partitions, by"
    " turns. Ours reads the log, writes results to the log in one transaction a batch and does its"
    " accounting; Spark's reads Parquet and writes to `noop`, which keeps nothing. Events/s count"
    " the rows of both inputs by the time of the micro-batches after the first; events/CPU-s by"
    " all processors of the whole process tree, start-up included."
    " Stream-stream: payments up to 5 s after an order of the same user (1 on average); an inner"
    " join with a time range in Spark. Stream-table: orders with the region of their user as of"
    " arrival, where a tenth as many rows change users; Spark joins streams with static tables"
    " only, so the nearest is one of 100,000 users that never change and are broadcast: it holds no"
    " state and does less, so no target is set. Table-table: the latest order and the latest"
    " payment of each user. Foreign key: 100,000 orders that change, with 10,000 owners that change"
    " too, a tenth as often: each change of an owner changes 10 results. Spark has neither of"
    " these two. Duplicates: a tenth of the orders come twice and are dropped by their number"
    " before the join, in one query."
)
_FLINK = (
    " PyFlink {version} (SQL, 2 slots, state on the heap, a checkpoint every 10 s) makes as many"
    " rows as one batch has, distributed alike, so that it reads nothing, and keeps no result; its"
    " versioned table is looked up as of event time, which is the one it has. Its events/s are by"
    " the net run time of the job less that of one of 1,000 rows, after one that does not count."
)
_TWICE = Target("at least", 2.0)
_LATENESS = "2 seconds"
_Measured: TypeAlias = tuple[Taken, Taken | None]


@dataclass(frozen=True, slots=True)
class _Shape:
    """A join, as we write it and as Spark has it (or does not), and the topics it reads."""

    label: str
    flink: str
    ours: Build
    native: Query | None
    tenth: bool = False
    target: Target | None = None


def _stream_stream(app: ps.App, out: str) -> None:
    _paid(_orders(app), app).to(out)


def _deduplicated(app: ps.App, out: str) -> None:
    _paid(_orders(app).dedup("order", within="2s"), app).to(out)


def _stream_table(app: ps.App, out: str) -> None:
    _orders(app).join(_table(app, "users"), on="user", how="left").to(out)


def _table_table(app: ps.App, out: str) -> None:
    orders = app.table("orders", key="user", schema=ORDERS, event_time="at", lateness="2s")
    payments = app.table("payments", key="user", schema=PAYMENTS, event_time="at", lateness="2s")
    orders.join(payments, on="user").to(out)


def _foreign_key(app: ps.App, out: str) -> None:
    orders = app.table("order-changes", key="order", schema=ORDERS, event_time="at", lateness="2s")
    orders.join(_table(app, "owners"), on="user").to(out)


def _orders(app: ps.App) -> Stream:
    return app.stream("orders", schema=ORDERS, event_time="at", lateness="2s")


def _paid(orders: Stream, app: ps.App) -> Stream:
    payments = app.stream("payments", schema=PAYMENTS, event_time="at", lateness="2s")
    return orders.join(payments, on="user", within=("0s", "5s"))


def _table(app: ps.App, topic: str) -> Table:
    return app.table(topic, key="user", schema=USERS, event_time="at", lateness="2s")


def _native_stream_stream(stage: Stage) -> DataFrame:
    return _native_paid(_native_orders(stage), stage)


def _native_deduplicated(stage: Stage) -> DataFrame:
    return _native_paid(_native_orders(stage).dropDuplicatesWithinWatermark(["order"]), stage)


def _native_orders(stage: Stage) -> DataFrame:
    return stage.stream("orders", files=PARTITIONS).withWatermark("at", _LATENESS)


def _native_paid(orders: DataFrame, stage: Stage) -> DataFrame:
    payments = stage.stream("payments", files=PARTITIONS).withColumnsRenamed(
        {"user": "payer", "at": "paid_at"}
    )
    return orders.join(
        payments.withWatermark("paid_at", _LATENESS),
        (f.col("user") == f.col("payer"))
        & (f.col("paid_at") >= f.col("at"))
        & (f.col("paid_at") <= f.col("at") + f.expr("interval 5 seconds")),
    )


def _native_stream_static(stage: Stage) -> DataFrame:
    users = stage.table("all-users").drop("at")
    return stage.stream("orders", files=PARTITIONS).join(users, "user", "left")


_SHAPES = (
    _Shape(
        "stream-stream join", "stream-stream", _stream_stream, _native_stream_stream, target=_TWICE
    ),
    _Shape(
        "stream-table join (Spark: a static table)",
        "stream-table",
        _stream_table,
        _native_stream_static,
        tenth=True,
    ),
    _Shape("table-table join", "table-table", _table_table, None),
    _Shape("foreign-key join", "foreign-key", _foreign_key, None, tenth=True),
    _Shape(
        "duplicates dropped, then joined",
        "deduplicated",
        _deduplicated,
        _native_deduplicated,
        target=_TWICE,
    ),
)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Batches, and the rows of one stream in each."""

    batches: int
    batch: int
    runs: int

    def rows(self, shape: _Shape) -> int:
        """How many rows of both inputs a batch has."""
        return self.batch + (self.batch // 10 if shape.tenth else self.batch)


def run(scale: Scale) -> Result:
    """Measure each join by turns with Spark's own, and PyFlink's where it is installed."""
    sizes = _Sizes(3, scale.of(500_000, 5_000), scale.of(2, 1))
    flink = flink_here()
    spark = spark_session()
    try:
        with scale.home() as home:
            for topic in TOPICS:
                write_rows(home, topic, sizes.batches, sizes.batch)
            write_all_users(home)
            stage = Stage(spark, home)
            measured = {
                shape: _by_turns(stage.with_batches_of(sizes.rows(shape)), shape, sizes.runs)
                for shape in _SHAPES
            }
    finally:
        stop_session()
    measures = [item for shape, pairs in measured.items() for item in _against(shape, pairs, sizes)]
    # With the session gone, so that each engine has the machine for itself.
    if flink is not None:
        with scale.home() as home:
            measures += [
                _beside(flink, home, shape, pairs, sizes) for shape, pairs in measured.items()
            ]
    return Result(
        name="joins",
        title="Joins against Spark's own and PyFlink's",
        method=_METHOD + (_FLINK.format(version=flink.version) if flink else ""),
        baseline="Spark's native join of the same rows from Parquet, or PyFlink where it is named",
        scale=scale.name,
        sizes={
            "rows of a stream": sizes.batches * sizes.batch,
            "rows of a stream a batch": sizes.batch,
            "keys": KEYS,
            "pairs": sizes.runs,
        },
        measures=tuple(measures),
    )


def _by_turns(stage: Stage, shape: _Shape, runs: int) -> list[_Measured]:
    stage.ours(shape.ours)
    if shape.native is None:
        return [(stage.ours(shape.ours), None) for _ in range(runs)]
    stage.native(shape.native)
    return [(stage.ours(shape.ours), stage.native(shape.native)) for _ in range(runs)]


def _against(shape: _Shape, pairs: list[_Measured], sizes: _Sizes) -> Iterator[Measure]:
    rows = sizes.rows(shape)
    amounts = (
        ("events/s", 0, rows * (sizes.batches - 1)),
        ("events/CPU-s", 1, rows * sizes.batches),
    )
    for unit, number, amount in amounts:
        yield Measure(
            label=shape.label,
            unit=unit,
            ours=tuple(amount / ours[number] for ours, _ in pairs),
            baseline=tuple(amount / theirs[number] for _, theirs in pairs if theirs is not None),
            # Twice as fast was promised, by the clock.
            target=shape.target if unit == "events/s" else None,
        )


def _beside(
    flink: Flink, home: Path, shape: _Shape, pairs: list[_Measured], sizes: _Sizes
) -> Measure:
    rows = sizes.rows(shape)
    seconds = flink.seconds(shape.flink, sizes.batch, sizes.runs, home)
    return Measure(
        label=f"{shape.flink}, PyFlink {flink.version}",
        unit="events/s",
        ours=tuple(rows * (sizes.batches - 1) / ours.batches for ours, _ in pairs),
        baseline=tuple(rows / taken for taken in seconds),
    )
