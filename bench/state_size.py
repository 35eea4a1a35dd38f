"""What a batch costs with more and more keys in the state: programs beside Spark's RocksDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

import penstock as ps
from bench.measure import cost_of_tree
from bench.result import Measure, Result
from bench.scale import Scale
from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.plan.planner import plan
from penstock.spark.admission import BatchLimits
from penstock.spark.run import start
from penstock.spark.session import spark_session, stop_session

READINGS = pa.schema([("sensor", pa.int64()), ("value", pa.float64())])
TOTALS = pa.schema([("sensor", pa.int64()), ("total", pa.float64()), ("n", pa.int64())])
_METHOD = (
    "A running sum and count by key, given once a batch. First as many rows as there are keys fill"
    " the state; then batches of 1,000 rows and of 1,000,000 rows of random keys follow, each"
    " appended when the one before is done. CPU-seconds of the whole process tree a batch, the"
    " median of several. Ours reads the log and writes its results there, in one transaction a"
    " batch; Spark's operator reads Parquet and writes to `noop`, which keeps nothing. `From log to"
    " log` is Spark's operator between our source and our sink, exactly once as ours is: what a"
    " program would cost if it were lowered to it. A small batch takes what its keys have and"
    " writes no more than that; a large one goes through the whole state."
)


class _Sizes(NamedTuple):
    keys: tuple[int, ...]
    small: int
    large: int
    times: int


@dataclass(frozen=True, slots=True)
class _Side:
    """One engine under test: how it is fed, and how one waits for it."""

    feed: Callable[[pa.Table], None]
    settle: Callable[[], None]
    stop: Callable[[], None]


def run(scale: Scale) -> Result:
    """Measure small and large batches at each size of the state."""
    sizes = (
        _Sizes((10_000,), 100, 10_000, 2)
        if scale.quick
        else _Sizes((10_000, 100_000, 1_000_000, 10_000_000), 1000, 1_000_000, 3)
    )
    spark = spark_session(driver_memory="4g")
    try:
        with scale.home() as home:
            numbers = count()
            measures = [
                measure for keys in sizes.keys for measure in _at(spark, home, numbers, keys, sizes)
            ]
    finally:
        stop_session()
    return Result(
        name="state_size",
        title="The cost of a batch against the size of the state",
        method=_METHOD,
        baseline="Spark's groupBy.agg with RocksDB on the same rows from Parquet",
        scale=scale.name,
        sizes={"small batch": sizes.small, "large batch": sizes.large, "batches": sizes.times},
        measures=tuple(measures),
    )


def _at(
    spark: SparkSession, home: Path, numbers: Iterator[int], keys: int, sizes: _Sizes
) -> Iterator[Measure]:
    ours = _costs(_ours(spark, home / f"ours-{next(numbers)}"), keys, sizes)
    for made, also in ((_native, ""), (_logged, ", from log to log")):
        theirs = _costs(made(spark, home / f"native-{next(numbers)}"), keys, sizes)
        for name, mine, other in zip(("small", "large"), ours, theirs, strict=True):
            rows = sizes.small if name == "small" else sizes.large
            yield Measure(
                label=f"{keys:,} keys, a batch of {rows:,} rows{also}",
                unit="CPU-s",
                ours=tuple(mine),
                baseline=tuple(other),
                lower_is_better=True,
            )


def _costs(side: _Side, keys: int, sizes: _Sizes) -> tuple[list[float], list[float]]:
    try:
        for first in range(0, keys, 1_000_000):
            side.feed(_rows(np.arange(first, min(keys, first + 1_000_000))))
            side.settle()
        random = np.random.default_rng(1)
        costs: list[list[float]] = []
        for rows in (sizes.small, sizes.large):
            taken = []
            for _ in range(sizes.times + 1):
                side.feed(_rows(random.integers(0, keys, rows)))
                taken.append(cost_of_tree(side.settle).cpu)
            costs.append(taken[1:])
        return costs[0], costs[1]
    finally:
        side.stop()


def _ours(spark: SparkSession, home: Path) -> _Side:
    app = ps.App("state")
    readings = app.stream("readings", schema=READINGS, idle=None)
    grouped = readings.group_by("sensor").trigger(ps.each_batch())
    grouped.agg(total=ps.sum("value"), n=ps.count()).to("totals")
    log = open_log(home)
    config = TopicConfig(fsync="os")
    log.create_topic("readings", schema=READINGS, config=config)
    query = start(
        plan(app.plan()),
        home=home,
        checkpoint=home / "checkpoint",
        session=spark,
        limits=BatchLimits(rows=1_000_000),
    )

    def stop() -> None:
        query.stop()
        log.close()

    def feed(table: pa.Table) -> None:
        log.append("readings", 0, table)

    return _Side(feed, query.spark.processAllAvailable, stop)


def _native(spark: SparkSession, home: Path) -> _Side:
    files = home / "files"
    files.mkdir(parents=True)
    numbers = count()
    rows = spark.readStream.schema("sensor long, value double").parquet(str(files))
    totals = rows.groupBy("sensor").agg(f.sum("value"), f.count(f.lit(1)))
    writer = totals.writeStream.outputMode("update").format("noop")
    query: StreamingQuery = writer.option("checkpointLocation", str(home / "checkpoint")).start()

    def feed(table: pa.Table) -> None:
        hidden = files / f".{next(numbers):05d}.parquet"
        pq.write_table(table, hidden)
        hidden.rename(files / hidden.name[1:])

    return _Side(feed, query.processAllAvailable, query.stop)


def _logged(spark: SparkSession, home: Path) -> _Side:
    log = open_log(home)
    config = TopicConfig(fsync="os")
    log.create_topic("readings", schema=READINGS, config=config)
    log.create_topic("totals", schema=TOTALS, config=config)
    rows = spark.readStream.format("penstock").options(home=str(home), topic="readings").load()
    totals = rows.groupBy("sensor").agg(f.sum("value").alias("total"), f.count("*").alias("n"))
    keyed = totals.withColumn("_key", f.col("sensor").cast("string").cast("binary"))

    def write(results: DataFrame, number: int) -> None:
        # Spark lets a Python source take appends only, so updates are written from here.
        transaction = log.transaction("native")
        if not transaction.note or int(transaction.note) < number:
            transaction.begin()
            transaction.append("totals", 0, results.toArrow())
            transaction.commit(str(number))
        transaction.close()

    writer = keyed.writeStream.outputMode("update").foreachBatch(write)
    query: StreamingQuery = writer.option("checkpointLocation", str(home / "checkpoint")).start()

    def stop() -> None:
        query.stop()
        log.close()

    def feed(table: pa.Table) -> None:
        log.append("readings", 0, table)

    return _Side(feed, query.processAllAvailable, stop)


def _rows(keys: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
    values = np.ones(len(keys))
    return pa.Table.from_arrays([pa.array(keys), pa.array(values)], schema=READINGS)
