"""Spark streaming a typed topic against Spark streaming the same rows from Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from bench.measure import Cost, cost_of_tree
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
    " other shapes aggregate each micro-batch in `foreachBatch`. Rows a second are by the clock,"
    " rows a CPU-second by all processors of the whole process tree: Python, JVM and Python"
    " workers. A stream of a Python data source does not learn which columns a query uses, so the"
    ' topic is read with the option `columns`, as a user would who wants speed; "without the'
    ' option" shows what it costs to leave it out.'
)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A query: what a user asks of the rows, and the columns it needs."""

    label: str
    columns: tuple[str, ...]
    query: Callable[[DataFrame], DataFrame] | None = None
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

    def run(self, rows: DataFrame, query: Callable[[DataFrame], DataFrame] | None) -> None:
        self.start(rows, query).awaitTermination()

    def start(
        self, rows: DataFrame, query: Callable[[DataFrame], DataFrame] | None
    ) -> StreamingQuery:
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
    rows = scale.of(8_000_000, 20_000)
    spark = spark_session()
    try:
        with scale.home() as home:
            _write(home, rows, batch)
            stage = _Stage(spark, home, count())
            measures = [item for shape in _SHAPES for item in _shape(scale, stage, shape, rows)]
        measures.append(_fixed_cost(scale, spark))
    finally:
        stop_session()
    return Result(
        name="spark_read",
        title="Spark reading a typed topic against Parquet, as streams",
        method=_METHOD,
        baseline="Spark streaming the same rows from Parquet files",
        scale=scale.name,
        sizes={"rows": rows, "rows a batch and file": batch, "pairs": scale.pairs},
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


def _shape(scale: Scale, stage: _Stage, shape: _Shape, rows: int) -> tuple[Measure, Measure]:
    def ours() -> Cost:
        frame = stage.topic(shape.columns if shape.narrowed else ())
        return cost_of_tree(partial(stage.run, frame, shape.query))

    def theirs() -> Cost:
        frame = stage.files(shape.columns)
        return cost_of_tree(partial(stage.run, frame, shape.query))

    for _ in range(scale.of(2, 1)):
        ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(scale.pairs)]
    target = Target("at least", 1.0) if shape.narrowed else None
    return (
        Measure(
            label=shape.label,
            unit="rows/s",
            ours=tuple(rows / cost.wall for cost, _ in pairs),
            baseline=tuple(rows / cost.wall for _, cost in pairs),
            target=target,
        ),
        Measure(
            label=shape.label,
            unit="rows/CPU-s",
            ours=tuple(rows / cost.cpu for cost, _ in pairs),
            baseline=tuple(rows / cost.cpu for _, cost in pairs),
        ),
    )


def _fixed_cost(scale: Scale, spark: SparkSession) -> Measure:
    """The time of a micro-batch that has next to nothing to read."""
    batches, rows = scale.of(20, 3), 100
    with scale.home() as home:
        _write(home, rows * batches, rows)
        stage = _Stage(spark, home, count())
        ours = partial(stage.topic, ("seconds",), maxRowsPerBatch=str(rows))
        theirs = partial(stage.files, ("seconds",), maxFilesPerTrigger="1")
        _batch_time(stage, ours())
        _batch_time(stage, theirs())
        pairs = [
            (_batch_time(stage, ours()), _batch_time(stage, theirs()))
            for _ in range(scale.of(5, 1))
        ]
    return Measure(
        label=f"a micro-batch of {rows} rows, noop",
        unit="ms",
        ours=tuple(pair[0] for pair in pairs),
        baseline=tuple(pair[1] for pair in pairs),
        lower_is_better=True,
    )


def _batch_time(stage: _Stage, rows: DataFrame) -> float:
    query = stage.start(rows, None)
    query.awaitTermination()
    # The first batch of a query also plans and compiles it.
    progress = [item for item in query.recentProgress if item["numInputRows"]][1:]
    return float(median(item["durationMs"]["triggerExecution"] for item in progress))
