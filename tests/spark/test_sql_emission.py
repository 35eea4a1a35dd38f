"""Triggers, refinements, starts and late rows of SQL: the same on Spark as in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.log.open import open_log
from penstock.model.physical import Settings
from penstock.sql.records import records_of
from penstock.sql.running import catch_up
from penstock.sql.spark_jobs import catch_up_on_spark
from tests.sql.kit import ORDERS, opened, rows, told

pytestmark = pytest.mark.spark

SETTINGS = Settings(buckets=2, parallelism=1)
QUERIES = """
SET 'penstock.emit' = 'record';
CREATE STREAM changed AS SELECT item, SUM(amount) AS total FROM orders FROM OFFSET 1
  WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY item
  EMIT RETRACTING WHEN CLOSED, EARLY EACH ROW, KEEP LATE 0 SECONDS;
CREATE TABLE totals AS SELECT item, SUM(amount) AS total FROM orders GROUP BY item
  HAVING SUM(amount) > 1;
"""
ROWS = [(1000, "x", 50), (2000, "x", 1), (3000, "x", 2), (3500, "y", 5), (21000, "x", 3)]


def _values(home: Path, topic: str) -> list[dict[str, Any]]:
    with open_log(home) as log:
        found = list(records_of(log, topic))
    return [json.loads(it["value"]) for it in found if it["value"] is not None]


def _filled(home: Path) -> None:
    with opened(home) as session:
        told(session, ORDERS)
        told(session, QUERIES)
        for time, item, amount in ROWS:
            told(
                session,
                "INSERT INTO orders (ROWTIME, id, item, amount)"
                f" VALUES ({time}, 'o', '{item}', {amount});",
            )


def test_spark_and_this_process_give_the_same_changes(tmp_path: Path, spark: SparkSession) -> None:
    assert spark is not None
    for engine in ("here", "spark"):
        _filled(tmp_path / engine)
        with opened(tmp_path / engine) as session:
            queries = list(session.definitions().queries.values())
        if engine == "here":
            catch_up(tmp_path / engine, queries)
        else:
            catch_up_on_spark(tmp_path / engine, queries, SETTINGS)
    wanted = [(1, 1), (1, -1), (3, 1), (3, -1), (3, 1), (5, 1), (5, -1), (5, 1), (3, 1)]
    for engine in ("here", "spark"):
        changed = [(it["TOTAL"], it["_WEIGHT"]) for it in _values(tmp_path / engine, "CHANGED")]
        assert sorted(changed) == sorted(wanted)
        totals = [it["TOTAL"] for it in _values(tmp_path / engine, "TOTALS")]
        assert sorted(totals) == [5, 50, 51, 53, 56]
        with opened(tmp_path / engine) as session:
            assert rows(session, "SELECT reason FROM changed.LATE;") == []
