"""A program and a query of Spark's own, run over the same rows: what each takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import penstock as ps
from bench.measure import cost_of_tree
from penstock.plan.planner import plan
from penstock.spark.admission import BatchLimits
from penstock.spark.run import start as start_program

Build: TypeAlias = Callable[[ps.App, str], object]
"""Writes a program into an app, with its results in the topic of the name given."""
Query: TypeAlias = Callable[["Stage"], DataFrame]
Start: TypeAlias = Callable[[DataFrame, Path], StreamingQuery]
"""Starts a query that ends by itself, with its checkpoint where it is told."""


class Taken(NamedTuple):
    """The seconds of a run: of its micro-batches after the first, and of all processors."""

    batches: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Stage:
    """A session, and the same rows in topics and in files."""

    spark: SparkSession
    home: Path
    batch: int | None = None
    numbers: Iterator[int] = field(default_factory=count)

    def with_batches_of(self, rows: int) -> Stage:
        """Let programs take so many rows a batch."""
        return replace(self, batch=rows)

    def ours(self, build: Build) -> Taken:
        """Run a program over all its topics hold."""
        number = next(self.numbers)
        app = ps.App(f"bench-{number}")
        build(app, f"out-{number}")
        physical = plan(app.plan())

        def work() -> list[float]:
            query = start_program(
                physical,
                home=self.home,
                checkpoint=self.home / f"checkpoint-{number}",
                session=self.spark,
                bounded=True,
                limits=BatchLimits(rows=self.batch),
            )
            query.await_end()
            return batch_seconds(query.spark)

        return _taken(work)

    def native(self, query: Query, mode: str = "append", *, start: Start | None = None) -> Taken:
        """Run a query of Spark's over the same rows; `start` says where its rows go: nowhere."""
        checkpoint = self.home / f"checkpoint-{next(self.numbers)}"

        def nowhere(rows: DataFrame, checkpoint: Path) -> StreamingQuery:
            writer = rows.writeStream.outputMode(mode).format("noop")
            writer = writer.option("checkpointLocation", str(checkpoint))
            return writer.trigger(availableNow=True).start()

        def work() -> list[float]:
            running = (start or nowhere)(query(self), checkpoint)
            running.awaitTermination()
            return batch_seconds(running)

        return _taken(work)

    def stream(self, topic: str, *, files: int) -> DataFrame:
        """Stream the files of a topic's rows, so many a batch."""
        reader = self.spark.readStream.schema(self.table(topic).schema)
        return reader.option("maxFilesPerTrigger", files).parquet(str(self.folder(topic)))

    def table(self, topic: str) -> DataFrame:
        """Read the files of a topic's rows at once."""
        return self.spark.read.parquet(str(self.folder(topic)))

    def folder(self, topic: str) -> Path:
        """Where the files of a topic's rows are."""
        return self.home / "files" / topic


def batch_seconds(query: StreamingQuery) -> list[float]:
    """The seconds of each micro-batch that read something."""
    return [
        item["durationMs"]["triggerExecution"] / 1000
        for item in query.recentProgress
        if item["numInputRows"]
    ]


def _taken(work: Callable[[], list[float]]) -> Taken:
    times: list[float] = []
    cost = cost_of_tree(lambda: times.extend(work()))
    return Taken(sum(times[1:]) or cost.wall, cost.cpu)
