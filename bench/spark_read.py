"""Spark streaming a typed topic against Spark streaming the same rows from Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from bench.measure import cost_of_tree
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.workload import VIEWS, view_rows
from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.spark.session import spark_session, stop_session

_PARTITIONS = 2
_METHOD = (
    "One session (`spark_session()`), one typed topic of 2 partitions and Parquet files of the same"
    " rows (pyarrow's defaults: snappy, dictionaries; one file for each appended batch of 250,000"
    " rows). Each run is a streaming query with `availableNow` and a new checkpoint; the two"
    " sources take turns. `noop` is Spark's sink that asks for every row and keeps none; the"
    " other shapes aggregate each micro-batch in `foreachBatch`. Rows/s are by the clock from"
    " the start of a query to its end, start-up included, which a long-lived query has once;"
    " rows/batch-s by the time of the micro-batches alone; rows/CPU-s by all processors of the"
    " whole process tree during the query, start-up included: Python, JVM and Python"
    " workers. A stream of a Python data source does not learn which columns a query uses, so the"
    ' topic is read with the option `columns`, as a user would who wants speed; "without the'
    ' option" shows what it costs to leave it out.'
)

_UNITS = ("rows/s", "rows/batch-s", "rows/CPU-s")
_AS_FAST = Target("at least", 1.0)
_Query: TypeAlias = Callable[[DataFrame], DataFrame]


class _Taken(NamedTuple):
    """The seconds of a query: by the clock, of its micro-batches alone, of all processors."""

    wall: float
    batches: float
    cpu: float


@dataclass(frozen=True, slots=True)
class _Shape:
    """A query: what a user asks of the rows, and the columns it needs."""

    label: str
    columns: tuple[str, ...]
    query: _Query | None = None
    narrowed: bool = True


_SHAPES = (
    _Shape("count", ("seconds",), lambda rows: rows.agg(f.count(f.lit(1)))),
    _Shape(
        "2 of 6 columns, summed",
        ("seconds", "amount"),
        lambda rows: rows.agg(f.sum("seconds"), f.sum("amount")),
    ),
    _Shape(
        "filter on a string, summed",
        ("region", "amount"),
        lambda rows: rows.where("region = '/region/0003'").agg(f.sum("amount")),
    ),
    _Shape(
        "sums by a string of 1,000",
        ("page", "amount"),
        lambda rows: rows.groupBy("page").agg(f.sum("amount")).agg(f.count(f.lit(1))),
    ),
    _Shape("all 6 columns, noop", tuple(VIEWS.names)),
    _Shape(
        "2 of 6 columns, summed, without the option",
        ("seconds", "amount"),
        lambda rows: rows.agg(f.sum("seconds"), f.sum("amount")),
        narrowed=False,
    ),
)


@dataclass(frozen=True, slots=True)
class _Stage:
    """A session, and the same rows in a topic and in files."""

    spark: SparkSession
    home: Path
    numbers: Iterator[int]

    def topic(self, columns: tuple[str, ...] = (), **options: str) -> DataFrame:
        reader = self.spark.readStream.format("penstock").options(topic="views", **options)
        if columns:
            reader = reader.option("columns", ",".join(columns))
        return reader.option("home", str(self.home)).load()

    def files(self, columns: tuple[str, ...] = (), **options: str) -> DataFrame:
        schema = self.spark.read.parquet(str(self.home / "files")).schema
        reader = self.spark.readStream.schema(schema).options(**options)
        frame = reader.parquet(str(self.home / "files"))
        return frame.select(*columns) if columns else frame

    def start(self, rows: DataFrame, query: _Query | None) -> StreamingQuery:
        checkpoint = self.home / f"checkpoint-{next(self.numbers)}"
        writer = rows.writeStream.trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(checkpoint))
        if query is None:
            return writer.format("noop").start()

        def collect(batch: DataFrame, _: int) -> None:
            query(batch).collect()

        return writer.foreachBatch(collect).start()


def run(scale: Scale) -> Result:
    """Measure several shapes of query on both sources, and the fixed cost of a micro-batch."""
    batch = scale.of(250_000, 10_000)
    rows = scale.of(10_000_000, 20_000)
    spark = spark_session()
    try:
        with scale.home() as home:
            _write(home, rows, batch)
            stage = _Stage(spark, home, count())
            measures = [item for shape in _SHAPES for item in _shape(scale, stage, shape, rows)]
        measures += _fixed_costs(scale, spark)
    finally:
        stop_session()
    return Result(
        name="spark_read",
        title="Spark reading a typed topic against Parquet, as streams",
        method=_METHOD,
        baseline="Spark streaming the same rows from Parquet files",
        scale=scale.name,
        sizes={"rows": rows, "rows a batch and file": batch, "pairs": scale.of(5, 2)},
        measures=tuple(measures),
    )


def _write(home: Path, rows: int, batch: int) -> None:
    (home / "files").mkdir()
    with open_log(home) as log:
        config = TopicConfig(fsync="os")
        log.create_topic("views", partitions=_PARTITIONS, schema=VIEWS, config=config)
        for number in range(rows // batch):
            views: pa.Table = view_rows(batch, seed=number)
            log.append("views", number % _PARTITIONS, views)
            pq.write_table(views, home / "files" / f"{number:05d}.parquet")


def _shape(scale: Scale, stage: _Stage, shape: _Shape, rows: int) -> Iterator[Measure]:
    def ours() -> _Taken:
        return _take(stage, stage.topic(shape.columns if shape.narrowed else ()), shape.query)

    def theirs() -> _Taken:
        return _take(stage, stage.files(shape.columns), shape.query)

    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(scale.of(5, 2))]
    for number, unit in enumerate(_UNITS):
        yield Measure(
            label=shape.label,
            unit=unit,
            ours=tuple(rows / pair[0][number] for pair in pairs),
            baseline=tuple(rows / pair[1][number] for pair in pairs),
            target=_AS_FAST if shape.narrowed and unit != "rows/CPU-s" else None,
        )


def _take(stage: _Stage, rows: DataFrame, query: _Query | None) -> _Taken:
    started: list[StreamingQuery] = []

    def work() -> None:
        started.append(stage.start(rows, query))
        started[0].awaitTermination()

    cost = cost_of_tree(work)
    return _Taken(cost.wall, sum(_batch_times(started[0])) / 1000, cost.cpu)


def _fixed_costs(scale: Scale, spark: SparkSession) -> Iterator[Measure]:
    """What a query and a micro-batch take that have next to nothing to read."""
    batches, rows = scale.of(20, 3), 100
    with scale.home() as home:
        _write(home, rows * batches, rows)
        stage = _Stage(spark, home, count())
        limited = partial(stage.topic, ("seconds",), maxRowsPerBatch=str(rows))
        by_file = partial(stage.files, ("seconds",), maxFilesPerTrigger="1")
        pairs = [
            (_middle_batch(stage, limited()), _middle_batch(stage, by_file()))
            for _ in range(scale.of(6, 2))
        ]
        yield _milliseconds(f"a micro-batch of {rows} rows, noop", pairs[1:])
        whole = [
            (
                _take(stage, stage.topic(("seconds",)), None).wall * 1000,
                _take(stage, stage.files(("seconds",)), None).wall * 1000,
            )
            for _ in range(scale.of(6, 2))
        ]
        yield _milliseconds(f"a whole query of {rows * batches:,} rows, noop", whole[1:])


def _milliseconds(label: str, pairs: list[tuple[float, float]]) -> Measure:
    return Measure(
        label=label,
        unit="ms",
        ours=tuple(pair[0] for pair in pairs),
        baseline=tuple(pair[1] for pair in pairs),
        lower_is_better=True,
    )


def _middle_batch(stage: _Stage, rows: DataFrame) -> float:
    query = stage.start(rows, None)
    query.awaitTermination()
    # The first batch of a query also plans and compiles it.
    return float(median(_batch_times(query)[1:]))


def _batch_times(query: StreamingQuery) -> list[float]:
    """The milliseconds of each micro-batch that read something."""
    return [
        item["durationMs"]["triggerExecution"]
        for item in query.recentProgress
        if item["numInputRows"]
    ]
