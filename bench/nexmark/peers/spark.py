"""Plain PySpark Structured Streaming as an engine of Nexmark: JSON lines in, JSON lines out.

Run by path in the project's own environment; nothing of Penstock is in it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

# A script by its path sees only what is beside it.
sys.path[0] = str(Path(__file__).resolve().parents[3])

from bench.nexmark.peers.lines import (  # noqa: E402
    Outcome,
    RefusedError,
    Request,
    drops_results,
    printing_aside,
    serve,
)
from bench.nexmark.peers.spark_queries import QUERIES, Query  # noqa: E402

_STATE = "org.apache.spark.sql.execution.streaming.state"
_CHECKPOINTS = "org.apache.spark.sql.execution.streaming.checkpointing"
_SETTINGS = {
    "spark.app.name": "nexmark",
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    # The default starts a process for every checkpoint file.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_CHECKPOINTS}.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.stateStore.providerClass": f"{_STATE}.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # To count rows costs a read before each write.
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.streaming.stateStore.maintenanceInterval": "20s",
    # One store a partition of a join instead of four, which few rows do not pay for.
    "spark.sql.streaming.join.stateFormatVersion": "3",
    # The cheapest of its codecs for files of results.
    "spark.sql.parquet.compression.codec": "uncompressed",
}
_WORDS = {
    "engine": "spark",
    "version": pyspark.__version__,
    "durability": "RocksDB state, changelog and offsets checkpointed on disk every batch",
    "input": "Parquet file stream (vectorised reader), maxFilesPerTrigger by the batch size",
    "emission": "append when the watermark passes, or update every batch",
    "results": "Parquet files: by the file sink, exactly once; changes in a folder a batch",
}
_NOWHERE = {**_WORDS, "results": "dropped by the noop sink", "durable": False}


class Engine:
    """A session that stays, and runs one query after the other over files of events."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._session = _session(scratch)
        self._number = 0

    def run(self, request: Request) -> Outcome:
        """Run a query over all the events of a folder, and say what it took."""
        query = QUERIES.get(request.query)
        if query is None:
            raise RefusedError(f"there is no form of {request.query} for Spark")
        self._number += 1
        place = self._scratch / str(self._number)
        kept = place / "kept" if request.results else None
        try:
            outcome = Outcome()
            began = time.time()
            running = _start(self._result(query, request), query, place, kept)
            running.awaitTermination()
            outcome.ended()
            outcome.first, outcome.rows = _progress(running, began)
            if request.results:
                table = _last(self._session.read.parquet(str(kept)), query).toArrow()
                request.results.mkdir(parents=True, exist_ok=True)
                pq.write_table(table, request.results / f"{request.query}.parquet")
                outcome.rows = table.num_rows
        except PySparkException as error:
            raise RefusedError(str(error).splitlines()[0]) from error
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return outcome

    def stop(self) -> None:
        """End the session."""
        self._session.stop()

    def _result(self, query: Query, request: Request) -> DataFrame:
        events, batch = request.events, request.batch
        # The same number of files of each kind, so that their event times go together.
        files = min(_files_a_batch(events / kind, batch) for kind in query.reads)
        for kind in query.reads:
            folder = str(events / kind)
            schema = self._session.read.parquet(folder).schema
            reader = self._session.readStream.schema(schema).option("maxFilesPerTrigger", files)
            rows = reader.parquet(folder)
            if query.timed:
                rows = rows.withWatermark("date_time", "4 seconds")
            rows.createOrReplaceTempView(kind)
        self._session.read.parquet(str(events / "side")).createOrReplaceTempView("side")
        return self._session.sql(query.sql)


def _start(result: DataFrame, query: Query, place: Path, kept: Path | None) -> StreamingQuery:
    writer = result.writeStream.outputMode("update" if query.keys else "append")
    writer = writer.option("checkpointLocation", str(place / "checkpoint"))
    writer = writer.trigger(availableNow=True)
    give = _giver(place, kept)
    if query.total:
        writer = writer.foreachBatch(_totals(query, place / "finals", give))
    elif kept or (query.keys and not drops_results()):
        # The file sink takes no changes.
        writer = writer.foreachBatch(give)
    elif drops_results():
        writer = writer.format("noop")
    else:
        writer = writer.format("parquet").option("path", str(place / "results"))
    return writer.start()


def _giver(place: Path, kept: Path | None) -> Callable[[DataFrame, int], None]:
    """Give what ends a batch: its rows kept to be compared, in files, or nowhere."""

    def give(rows: DataFrame, number: int) -> None:
        if kept:
            rows.withColumn("batch_number", f.lit(number)).write.mode("append").parquet(str(kept))
        elif drops_results():
            rows.write.format("noop").mode("overwrite").save()
        else:
            # A folder a batch, which a replay writes again.
            rows.write.mode("overwrite").parquet(str(place / "results" / str(number)))

    return give


def _totals(
    query: Query, finals: Path, give: Callable[[DataFrame, int], None]
) -> Callable[[DataFrame, int], None]:
    """Keep the last row of each key in a file for each batch, which a replay writes again."""

    def total(rows: DataFrame, number: int) -> None:
        session = rows.sparkSession
        before = finals / str(number - 1)
        if before.exists():
            rows = rows.unionByName(session.read.parquet(str(before)))
        others = ["final", *(x for x in rows.columns if x != "final" and x not in query.keys)]
        # What is final of a key only grows, so that the greatest row of a key is its last one.
        biggest = rows.groupBy(*query.keys).agg(f.max(f.struct(*others)).alias("last"))
        biggest.select(*query.keys, *(f.col(f"last.{name}") for name in others)).write.mode(
            "overwrite"
        ).parquet(str(finals / str(number)))
        session.read.parquet(str(finals / str(number))).createOrReplaceTempView("finals")
        give(session.sql(query.total), number)
        shutil.rmtree(finals / str(number - 2), ignore_errors=True)

    return total


def _last(rows: DataFrame, query: Query) -> DataFrame:
    """Give the last state of a table that changes, and all rows of a stream."""
    if query.total:
        latest = rows.agg(f.max("batch_number")).first()
        rows = rows.where(f.col("batch_number") == (latest[0] if latest else 0))
    elif query.keys:
        whole = f.struct("batch_number", *(name for name in rows.columns if name != "batch_number"))
        grouped = rows.groupBy(*(f.col(key).alias(f"key_{key}") for key in query.keys))
        rows = grouped.agg(f.max_by(whole, "batch_number").alias("last")).select("last.*")
    return rows.drop("batch_number")


def _progress(running: StreamingQuery, began: float) -> tuple[float | None, int]:
    rows, first = 0, None
    for progress in running.recentProgress:
        given = max(0, progress.sink.numOutputRows)
        rows += given
        if first is None and (given or progress.sink.numOutputRows < 0):
            start = datetime.fromisoformat(progress.timestamp).timestamp()
            first = start + progress.batchDuration / 1000 - began
    return first, rows


def _files_a_batch(folder: Path, batch: int) -> int:
    paths = sorted(folder.glob("*.parquet"))
    rows: int = sum(pq.read_metadata(path).num_rows for path in paths)
    return max(1, round(batch * len(paths) / max(1, rows)))


def _session(scratch: Path) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.local.dir", str(scratch))
    # With few cores and a small heap the parallel collectors cost more than they save.
    session = builder.config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    java: Any = session.sparkContext._jvm  # noqa: SLF001  # py4j has no types
    settings: Any = session.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001
    # Half of the files of a checkpoint are checksums of the others.
    java.org.apache.hadoop.fs.FileSystem.getLocal(settings).setWriteChecksum(False)
    return session


def main() -> None:
    """Serve until told to stop."""
    scratch = Path(tempfile.mkdtemp(prefix="nexmark-spark-"))
    try:
        with printing_aside():
            engine = Engine(scratch)
        serve(_NOWHERE if drops_results() else _WORDS, engine.run)
        engine.stop()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
