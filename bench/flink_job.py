"""Runs one job on PyFlink and prints the seconds of each run: for the Python that has it.

`python bench/flink_job.py NAME ROWS RUNS FOLDER`; bench.flink starts it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyflink.common import Configuration  # type: ignore[import-not-found]  # of another Python
from pyflink.table import (  # type: ignore[import-not-found]
    EnvironmentSettings,
    TableDescriptor,
    TableEnvironment,
)

_SETTINGS = {
    "parallelism.default": "2",
    # On the heap, as is the default: at this size up to twice as fast as in RocksDB.
    "state.backend.type": "hashmap",
    "execution.checkpointing.interval": "10 s",
    # Else a job that has read all waits for the next checkpoint, up to 10 s that are no work.
    "execution.checkpointing.checkpoints-after-tasks-finish": "false",
    "table.local-time-zone": "UTC",
}
# Changes of tables are taken together, as a micro-batch does; rows of streams cannot be.
_TOGETHER = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "50000",
}
_OF_TABLES = ("table-table", "foreign-key")
_FEW = 1000
_KEYS = 100_000
_PACE = 20_000
_EPOCH = 1_700_000_000_000
_SOURCE = """
CREATE TABLE {name} (
  n BIGINT, k INT, o INT, amount DOUBLE, jitter INT,
  number AS n - CASE WHEN MOD(n, 10) = 9 THEN 1 ELSE 0 END,
  `user` AS CONCAT('user-', CAST(k AS STRING)),
  owner AS CONCAT('user-', CAST(o AS STRING)),
  arrived AS PROCTIME(),
  happened AS TO_TIMESTAMP_LTZ({epoch} + n * 1000 / {pace} - jitter, 3),
  WATERMARK FOR happened AS happened - INTERVAL '2' SECOND
) WITH (
  'connector' = 'datagen', 'rows-per-second' = '1000000000',
  'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '{last}',
  'fields.k.min' = '0', 'fields.k.max' = '{keys}',
  'fields.o.min' = '0', 'fields.o.max' = '{owners}',
  'fields.amount.min' = '0', 'fields.amount.max' = '100',
  'fields.jitter.min' = '0', 'fields.jitter.max' = '999')
"""
_LATEST = """
CREATE TEMPORARY VIEW {name} AS SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {by} DESC) AS place FROM {source})
WHERE place = 1
"""
_FIRST = """
CREATE TEMPORARY VIEW once AS SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY number ORDER BY arrived) AS place FROM orders)
WHERE place = 1
"""
_PAID = """
SELECT o.number, o.`user`, o.amount, o.happened, p.n, p.amount FROM {orders} o
JOIN payments p ON o.`user` = p.`user`
  AND p.happened BETWEEN o.happened AND o.happened + INTERVAL '5' SECOND
"""
_QUERIES = {
    "stream-stream": ([], _PAID.format(orders="orders")),
    "deduplicated": ([_FIRST], _PAID.format(orders="once")),
    "stream-table": (
        [_LATEST.format(name="people", key="`user`", by="happened", source="users")],
        "SELECT o.number, o.`user`, o.amount, o.happened, p.amount FROM orders o"
        " LEFT JOIN people FOR SYSTEM_TIME AS OF o.happened AS p ON o.`user` = p.`user`",
    ),
    "table-table": (
        [
            _LATEST.format(name="latest_left", key="`user`", by="arrived", source="orders"),
            _LATEST.format(name="latest_right", key="`user`", by="arrived", source="payments"),
        ],
        "SELECT o.`user`, o.number, o.amount, p.n, p.amount FROM latest_left o"
        " JOIN latest_right p ON o.`user` = p.`user`",
    ),
    "foreign-key": (
        [
            _LATEST.format(name="latest_left", key="k", by="arrived", source="orders"),
            _LATEST.format(name="latest_right", key="owner", by="arrived", source="users"),
        ],
        "SELECT o.k, o.owner, o.amount, p.amount FROM latest_left o"
        " JOIN latest_right p ON o.owner = p.owner",
    ),
}


def main(name: str, rows: int, runs: int, folder: Path) -> None:
    """Run a job several times after one that does not count, and print the seconds of each."""
    _seconds(name, rows, folder)
    taken = [
        # What a job of next to no rows takes is start-up, which is left out for all engines.
        max(_seconds(name, rows, folder) - _seconds(name, _FEW, folder), 0.001)
        for _ in range(runs)
    ]
    print(json.dumps(taken))


def _seconds(name: str, rows: int, folder: Path) -> float:
    tables = TableEnvironment.create(_settings(name, folder))
    for source, divisor in (("orders", 1), ("payments", 1), ("users", 10)):
        words = {"epoch": _EPOCH, "pace": _PACE // divisor, "last": rows // divisor - 1}
        sizes = {"keys": _KEYS - 1, "owners": _KEYS // 10 - 1}
        tables.execute_sql(_SOURCE.format(name=source, **words, **sizes))
    views, query = _QUERIES[name]
    for view in views:
        tables.execute_sql(view)
    nowhere = TableDescriptor.for_connector("blackhole").build()
    running = tables.sql_query(query).execute_insert(nowhere)
    running.wait()
    done = running.get_job_client().get_job_execution_result().result()
    return float(done.get_net_runtime()) / 1000


def _settings(name: str, folder: Path) -> EnvironmentSettings:
    chosen = {**_SETTINGS, **(_TOGETHER if name in _OF_TABLES else {})}
    chosen["execution.checkpointing.dir"] = folder.resolve().as_uri()
    made = Configuration()
    for key, value in chosen.items():
        made.set_string(key, value)
    return EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(made).build()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
