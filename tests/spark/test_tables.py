"""Tables and counters on a running Spark (D37, D38, I03)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import penstock as ps
from penstock.log.embedded.log import EmbeddedLog
from tests.requirements.events import Row, rolled_up, visit_rows
from tests.requirements.homes import put
from tests.spark.pipes import Pipes
from tests.spark.programs import stored_rows

pytestmark = pytest.mark.spark

VISITS = pa.schema(
    [
        ("page", pa.string()),
        ("browser", pa.string()),
        ("referrer", pa.string()),
        ("at", pa.timestamp("ms", tz="UTC")),
    ]
)
GROUP = ("page", "browser", "referrer", "hour")


def counted(rows: list[Row]) -> dict[tuple[Any, ...], int]:
    """The last count of each group."""
    return {tuple(row[name] for name in GROUP): row["n"] for row in rows}


# D37, D38
@pytest.mark.timeout(400)
def test_a_batch_over_the_raw_events_gives_the_counters_of_the_stream(
    spark: SparkSession, log: EmbeddedLog, home: Path, pipes: Pipes, tmp_path: Path
) -> None:
    given = visit_rows(300)
    log.create_topic("visits", partitions=2, schema=VISITS)
    for partition in range(2):
        log.append("visits", partition, pa.Table.from_pylist(given[partition::2], VISITS))
    app = ps.App("counters")
    visits = app.stream("visits", schema=VISITS, event_time="at", max_ahead=None)
    hourly = visits.with_columns(hour=ps.date_trunc("hour", ps.col("at")))
    hourly.group_by(*GROUP).agg(n=ps.count()).to("counters")
    app.start(home=home, checkpoint=tmp_path / "job", bounded=True).await_end()
    raw = pipes.table("visits").withColumn("hour", f.date_trunc("hour", "at"))
    batch = raw.groupBy(*GROUP).count().collect()
    by_batch = {
        (row["page"], row["browser"], row["referrer"], row["hour"].timestamp()): row["count"]
        for row in batch
    }
    by_stream = {
        (*key[:3], key[3].timestamp()): n
        for key, n in counted(stored_rows(log, "counters")).items()
    }
    assert by_stream == by_batch
    assert sum(by_batch.values()) == 300
    assert len(by_batch) == len(rolled_up(given, GROUP))


# I03
@pytest.mark.timeout(400)
def test_a_replica_on_spark_equals_its_source_after_replay(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    columns = {"account": str, "balance": int}
    changes = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", None), ("c", 5), ("d", 6), ("d", None)]
    put(home, "accounts", columns, changes)
    source = ps.App("source")
    source.table("accounts", key="account", schema=columns).to("published")
    replica = ps.App("replica")
    copy = replica.table("published", key="account", schema=columns)
    copy.persist(tmp_path / "replica.sqlite", "accounts")
    for app in (source, replica):
        app.start(home=home, checkpoint=tmp_path / app.name, bounded=True).await_end()
    with closing(sqlite3.connect(tmp_path / "replica.sqlite")) as database:
        found = database.execute("SELECT account, balance FROM accounts").fetchall()
    assert sorted(found) == [("a", 3), ("c", 5)]
