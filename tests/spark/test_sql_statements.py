"""The statements of sample V20 by the SQL engine, run by Spark and by this process (F01, F02)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.front.sql.statement import Started
from penstock.log.open import open_log
from penstock.model.physical import Settings
from penstock.sql.records import records_of
from penstock.sql.running import catch_up
from penstock.sql.spark_jobs import catch_up_on_spark
from tests.sql.kit import opened, rows, told
from tests.sql.page_views import aged, statements

pytestmark = pytest.mark.spark

# Topics are made before, as they were there.
STATEMENTS = aged(statements("age"))
RECORDS = """
INSERT INTO users (userid, registertime, gender, age, regionid, interests, contactinfo) VALUES
  ('User_1', 1, 'OTHER', 41, 'Region_1', ARRAY['Game'], MAP('zip' := '1')),
  ('User_2', 2, 'FEMALE', 29, 'Region_2', ARRAY['News'], MAP('zip' := '2'));
INSERT INTO pageviews VALUES (1000, 'User_1', 'Page_1'), (2000, 'User_2', 'Page_2'),
  (3000, 'User_3', 'Page_1'), (4000, 'User_1', 'Page_3'), (61000, 'User_2', 'Page_1');
"""
SETTINGS = Settings(buckets=1, parallelism=1)


def _queries(home: Path) -> list[Started]:
    with open_log(home) as log:
        for topic in ("pageviews", "users"):
            log.create_topic(topic)
    with opened(home) as session:
        told(session, STATEMENTS)
        told(session, RECORDS)
        return list(session.definitions().queries.values())


def _records(home: Path, topic: str) -> list[tuple[object, ...]]:
    with open_log(home) as log:
        found = records_of(log, topic)
        return sorted((repr(row["_key"]), repr(row["value"]), row["_timestamp"]) for row in found)


def test_six_statements_give_the_same_on_spark_as_in_this_process(
    tmp_path: Path, spark: SparkSession
) -> None:
    here, there = tmp_path / "here", tmp_path / "spark"
    catch_up(here, _queries(here))
    jobs = catch_up_on_spark(there, _queries(there), SETTINGS)
    assert [job.state for job in jobs] == ["finished"] * 4
    counted = "SELECT regionid, windowstart, ksql_col_0 FROM pageviews_per_region_per_minute;"
    for home in (here, there):
        with opened(home) as session:
            assert sorted(rows(session, counted)) == [
                ("Region_1", 0, 2),
                ("Region_2", 0, 1),
                ("Region_2", 60_000, 1),
            ]
            assert sorted(rows(session, "SELECT * FROM visitors;")) == [(29,), (29,), (41,), (41,)]
    for topic in ("PAGEVIEWS_TRANSFORMED", "PAGEVIEWS_ENRICHED", "visitors"):
        assert _records(there, topic) == _records(here, topic)
