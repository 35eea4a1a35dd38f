"""Short ways to read, write and stream with Spark in a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True)
class Pipes:
    """A session, a log and a checkpoint that belong together."""

    spark: SparkSession
    home: Path
    checkpoint: Path
    format: str = "penstock"

    def table(self, topic: str, **options: object) -> DataFrame:
        reader = self.spark.read.format(self.format)
        return reader.options(home=str(self.home), topic=topic, **_texts(options)).load()

    def stream(self, topic: str, **options: object) -> DataFrame:
        reader = self.spark.readStream.format(self.format)
        return reader.options(home=str(self.home), topic=topic, **_texts(options)).load()

    def start(self, frame: DataFrame, **options: object) -> StreamingQuery:
        """Stream a frame into the log until what exists now is through."""
        return (
            frame.writeStream.format(self.format)
            .options(home=str(self.home), **_texts(options))
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )

    def run(self, frame: DataFrame, **options: object) -> StreamingQuery:
        query = self.start(frame, **options)
        query.awaitTermination()
        return query

    def collect(self, frame: DataFrame) -> list[list[int]]:
        """Stream a frame into memory; give the numbers `n` of each batch."""
        batches: list[list[int]] = []
        query = (
            frame.writeStream.foreachBatch(_gatherer(batches))
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return batches


def _gatherer(batches: list[list[int]]) -> Callable[[DataFrame, int], None]:
    def gather(frame: DataFrame, _: int) -> None:
        batches.append(sorted(row["n"] for row in frame.collect()))

    return gather


def _texts(options: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in options.items()}
