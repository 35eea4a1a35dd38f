"""A query of a case on Spark: all of its records in a log, one batch, and what it wrote."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.front.sql.source import SqlSource
from penstock.front.sql.statement import Started
from penstock.log.open import open_log
from penstock.log.port import Log, ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.model.physical import Settings
from penstock.plan.planner import plan
from penstock.spark.run import start
from penstock.spark.session import spark_session
from tests.conformance.ksql_codec import Sent

_SETTINGS = Settings(buckets=2, parallelism=1)


def fed_on_spark(query: Started, records: Sequence[Sent]) -> list[Sent]:
    """Give what a query makes of records."""
    session = spark_session(master="local[2]", quick_start=True)
    with tempfile.TemporaryDirectory(prefix="ksql-") as folder:
        home = Path(folder)
        with open_log(home / "log") as log:
            for source in {source.topic: source for source in query.reads}.values():
                _write(log, source, [item for item in records if item.topic == source.topic])
            started = start(
                plan(query.plan, _SETTINGS),
                home=home / "log",
                checkpoint=home / "job",
                session=session,
                until="caught up",
            )
            started.await_end()
            return _written(log, query.writes)


def _write(log: Log, source: SqlSource, records: Sequence[Sent]) -> None:
    log.create_topic(source.topic, partitions=1)
    if records:
        rows = rows_of_bytes(
            [item.value for item in records],
            keys=[item.key for item in records],
            timestamps=[item.timestamp for item in records],
            headers=[item.headers for item in records],
        )
        log.append(source.topic, 0, rows)


def _written(log: Log, writes: SqlSource) -> list[Sent]:
    found: list[Sent] = []
    if writes.topic not in log.topics():
        return found
    for partition in range(log.topic(writes.topic).partitions):
        rows: list[dict[str, Any]] = log.read(
            writes.topic, partition, 0, ReadLimit()
        ).rows.to_pylist()
        found += [
            Sent(
                writes.topic,
                row["_key"],
                row["value"],
                row["_timestamp"],
                tuple((item["key"], item["value"]) for item in row["_headers"] or []),
            )
            for row in rows
        ]
    return found
