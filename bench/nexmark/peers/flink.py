"""PyFlink SQL as an engine of Nexmark: JSON lines in, JSON lines out.

Run by path in the environment that bench.nexmark.environments makes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyflink.common import Configuration, WatermarkStrategy  # type: ignore[import-not-found]
from pyflink.datastream import DataStream, StreamExecutionEnvironment  # type: ignore[import-not-found]
from pyflink.datastream.connectors.file_system import FileEnumeratorProvider, FileSource  # type: ignore[import-not-found]
from pyflink.datastream.connectors.hybrid_source import HybridSource  # type: ignore[import-not-found]
from pyflink.datastream.formats.parquet import ParquetColumnarRowInputFormat  # type: ignore[import-not-found]
from pyflink.java_gateway import get_gateway  # type: ignore[import-not-found]
from pyflink.table import DataTypes, Schema, StreamTableEnvironment, TableDescriptor  # type: ignore[import-not-found]
from pyflink.table.types import _to_java_data_type  # type: ignore[import-not-found]
from pyflink.util.exceptions import JavaException  # type: ignore[import-not-found]
from pyflink.version import __version__  # type: ignore[import-not-found]

# A script by its path sees only what is beside it.
sys.path[0] = str(Path(__file__).resolve().parents[3])

from bench.nexmark.peers.flink_queries import QUERIES, REFUSED, Query  # noqa: E402
from bench.nexmark.peers.lines import (  # noqa: E402
    Outcome,
    RefusedError,
    Request,
    drops_results,
    printing_aside,
    serve,
)

_READERS = 2
_TEXT = ("name", "city", "state", "item_name", "description", "extra", "channel", "url", "value")
_TIMES = ("date_time", "expires")
_CLUSTER = {
    "taskmanager.memory.managed.size": "1g",
    "taskmanager.memory.network.min": "128m",
    "taskmanager.memory.network.max": "128m",
    "rest.bind-port": "0",
    "rest.bind-address": "127.0.0.1",
    "rest.address": "127.0.0.1",
}
_SETTINGS = {
    "execution.runtime-mode": "STREAMING",
    "parallelism.default": str(_READERS),
    "pipeline.object-reuse": "true",
    "state.backend.type": "rocksdb",
    "execution.checkpointing.interval": "10 s",
    "execution.checkpointing.incremental": "true",
    "table.local-time-zone": "UTC",
}
# Changes of tables are taken together, as a micro-batch does; it does nothing for rows of streams.
_TOGETHER = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "50000",
    "table.optimizer.distinct-agg.split.enabled": "true",
}
_WORDS = {
    "engine": "flink",
    "version": __version__,
    "durability": "RocksDB state, incremental checkpoint on disk every 10 s",
    "input": "Parquet files (vectorised reader), in order and by two readers, needed columns only",
    "emission": "each row as it comes, tables in mini-batches of 2 s",
    "results": "Parquet files by the filesystem sink, exactly once; tables as their changes",
}
_NOWHERE = {**_WORDS, "results": "dropped by the blackhole sink", "durable": False}


class Engine:
    """A cluster in one JVM that stays, and runs one query after the other."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._number = 0
        java = get_gateway().jvm
        settings = java.org.apache.flink.configuration.Configuration()
        for name, value in _CLUSTER.items():
            settings.setString(name, value)
        builder = java.org.apache.flink.runtime.minicluster.MiniClusterConfiguration.Builder()
        builder = builder.setConfiguration(settings).setNumTaskManagers(1)
        made = builder.setNumSlotsPerTaskManager(_READERS).build()
        self._cluster = java.org.apache.flink.runtime.minicluster.MiniCluster(made)
        self._cluster.start()
        self._port = self._cluster.getRestAddress().get().getPort()

    def run(self, request: Request) -> Outcome:
        """Run a query over all the events of a folder, and say what it took."""
        query = QUERIES.get(request.query)
        if query is None:
            raise RefusedError(REFUSED.get(request.query, "there is no such query"))
        self._number += 1
        place = self._scratch / str(self._number)
        place.mkdir()
        try:
            return self._run(query, request, place)
        except (JavaException, Py4JJavaError) as error:
            print(error, file=sys.stderr)
            raise RefusedError(_reason(str(error))) from error
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def stop(self) -> None:
        """End the cluster."""
        self._cluster.close()

    def _run(self, query: Query, request: Request, place: Path) -> Outcome:
        outcome = Outcome()
        streams, tables = self._tables(
            query, place, keeps=request.results is not None or not drops_results()
        )
        for kind, columns in query.reads.items():
            stream = _stream(streams, kind, columns.split(), request.events)
            tables.create_temporary_view(kind, stream, _schema(columns.split(), timed=query.timed))
        if request.results is None and drops_results():
            sink = TableDescriptor.for_connector("blackhole").build()
            tables.sql_query(query.sql).execute_insert(sink).wait()
        else:
            _write(tables, query, place / "kept")
        outcome.ended()
        if request.results is not None:
            found = _last(place / "kept", query)
            request.results.mkdir(parents=True, exist_ok=True)
            pq.write_table(found, request.results / f"{request.query}.parquet")
            outcome.rows = found.num_rows
        return outcome

    def _tables(self, query: Query, place: Path, *, keeps: bool) -> tuple[Any, Any]:
        chosen = {**_SETTINGS, **(_TOGETHER if query.changes else {})}
        chosen["execution.checkpointing.dir"] = (place / "checkpoints").as_uri()
        # Else a job that has read all waits for one more checkpoint, which only files need.
        chosen["execution.checkpointing.checkpoints-after-tasks-finish"] = str(keeps).lower()
        settings = Configuration()
        for name, value in chosen.items():
            settings.set_string(name, value)
        # PyFlink has no words for a cluster that is there already.
        java = get_gateway().jvm.org.apache.flink.streaming.api.environment
        remote = java.StreamExecutionEnvironment.createRemoteEnvironment(
            "127.0.0.1",
            self._port,
            settings._j_configuration,  # noqa: SLF001
            get_gateway().new_array(get_gateway().jvm.String, 0),
        )
        streams = StreamExecutionEnvironment(remote)
        return streams, StreamTableEnvironment.create(streams)


def _stream(streams: Any, kind: str, columns: list[str], events: Path) -> Any:  # noqa: ANN401
    """Make a stream of the files of a kind, two at a time.

    Flink's own connector for files gives them to its readers in any order, and all but the latest
    would be late; a chain of sources keeps the order.
    """
    row = DataTypes.ROW([DataTypes.FIELD(column, _type_of(column)) for column in columns])
    form = ParquetColumnarRowInputFormat(row_type=row, batch_size=2048, is_utc_timestamp=True)
    paths = [path.as_uri() for path in sorted((events / kind).glob("*.parquet"))]
    parts = [
        FileSource.for_bulk_file_format(form, *paths[start : start + _READERS])
        .set_file_enumerator(FileEnumeratorProvider.default_non_splittable_file_enumerator())
        .build()
        for start in range(0, len(paths), _READERS)
    ]
    builder = HybridSource.builder(parts[0])
    for part in parts[1:]:
        builder = builder.add_source(part)
    # PyFlink has no words for rows in Flink's own form, which need no conversion.
    kinds = get_gateway().jvm.org.apache.flink.table.runtime.typeutils.InternalTypeInfo
    return DataStream(
        streams._j_stream_execution_environment.fromSource(  # noqa: SLF001
            builder.build().get_java_function(),
            WatermarkStrategy.no_watermarks()._j_watermark_strategy,  # noqa: SLF001
            kind,
            kinds.of(_to_java_data_type(row).getLogicalType()),
        )
    )


def _schema(columns: list[str], *, timed: bool) -> Any:  # noqa: ANN401
    schema = Schema.new_builder()
    for column in columns:
        schema.column(column, _type_of(column))
    if timed:
        schema.watermark("date_time", "date_time - INTERVAL '4' SECOND")
    return schema.build()


def _type_of(column: str) -> Any:  # noqa: ANN401  # another Python has the types
    if column in _TEXT:
        return DataTypes.STRING()
    return DataTypes.TIMESTAMP(3) if column in _TIMES else DataTypes.BIGINT()


def _reason(words: str) -> str:
    """Give the innermost cause of an error in Java, in one line."""
    causes = [line.strip() for line in words.splitlines() if line.startswith("Caused by: ")]
    return causes[-1] if causes else words.splitlines()[0]


def _write(tables: Any, query: Query, kept: Path) -> None:  # noqa: ANN401  # no types
    tables.create_temporary_view("result", tables.sql_query(query.sql))
    source = "TO_CHANGELOG(input => TABLE `result`)" if query.changes else "`result`"
    descriptor = TableDescriptor.for_connector("filesystem").option("path", kept.as_uri())
    sink = descriptor.option("format", "parquet").option("parquet.utc-timezone", "true").build()
    tables.sql_query(f"SELECT * FROM {source}").execute_insert(sink).wait()


def _last(kept: Path, query: Query) -> pa.Table:
    """Give all rows of a stream, and what is left of a table after all its changes."""
    found = pa.concat_tables([pq.read_table(path) for path in sorted(kept.iterdir())])
    if not query.changes:
        return found
    sign = pc.if_else(pc.is_in(found["op"], pa.array(["INSERT", "UPDATE_AFTER"])), 1, -1)
    names = [name for name in found.column_names if name != "op"]
    counted = found.select(names).append_column("sign", sign)
    left = counted.group_by(names).aggregate([("sign", "sum")])
    places = [n for n, times in enumerate(left["sign_sum"].to_pylist()) for _ in range(times)]
    return left.select(names).take(places)


def main() -> None:
    """Serve until told to stop."""
    scratch = Path(tempfile.mkdtemp(prefix="nexmark-flink-"))
    # With two cores the parallel collectors cost more than they save.
    os.environ.setdefault("JVM_ARGS", "-Xmx4g -XX:+UseSerialGC")
    logging = scratch / "log4j2.properties"
    logging.write_text("rootLogger.level = error\n", encoding="utf-8")
    os.environ["LOG4J_PROPERTIES"] = str(logging)
    try:
        with printing_aside():
            engine = Engine(scratch)
        serve(_NOWHERE if drops_results() else _WORDS, engine.run)
        engine.stop()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
