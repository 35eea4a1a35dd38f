"""Rows joined with tables that do not change, and with versions of tables, on Spark."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.front.dsl.static import enriched, spark_table, static
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.join import Join, Pick
from penstock.model.join_bound import AsOf
from penstock.model.latest import Latest
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.testing.driver import TestDriver
from tests.spark.programs import Jobs, append, folded, rows, stored_rows, visits

pytestmark = pytest.mark.spark

WEIGHT = {"page": str, "weight": float}


@pytest.fixture
def jobs(spark: SparkSession, home: Path, tmp_path: Path) -> Jobs:
    return Jobs(spark, home, tmp_path / "job")


def written(relation: Relation) -> Plan:
    return Plan("joined", (Sink(relation, "out"),))


@pytest.mark.timeout(300)
def test_static_tables_are_read_once_and_found_by_rows_wherever_they_are(
    spark: SparkSession, log: EmbeddedLog, jobs: Jobs, tmp_path: Path
) -> None:
    names = pl.DataFrame({"page": ["/1", "/2"], "title": ["one", "two"]})
    names.write_parquet(tmp_path / "names.parquet")
    known = [("/1", 1.5), ("/3", 2.5)]
    weights = spark.createDataFrame(known, "page string, weight double")
    weights.createOrReplaceTempView("weights")
    step = enriched(visits(), names.rename({"title": "held"}), "page", "left")
    from_file = static(tmp_path / "names.parquet", schema={"page": str, "title": str})
    step = enriched(step, from_file, "page", "left")
    step = enriched(step, spark_table("weights", schema=WEIGHT), "page", "left")
    first, then = rows(40), rows(40, first=40)
    append(log, first)
    jobs.run(written(step), until="caught up")
    (tmp_path / "names.parquet").unlink()
    spark.catalog.dropTempView("weights")
    append(log, then)
    jobs.run(written(step), until="caught up")
    titles, weighed = dict(names.iter_rows()), dict(known)
    expected = [
        (row["n"], titles.get(row["page"]), titles.get(row["page"]), weighed.get(row["page"]))
        for row in [*first, *then]
    ]
    found: list[Any] = [
        (row["n"], row["held"], row["title"], row["weight"]) for row in stored_rows(log, "out")
    ]
    assert sorted(found) == expected


@pytest.mark.timeout(300)
def test_a_table_that_spark_does_not_have_is_named(log: EmbeddedLog, jobs: Jobs) -> None:
    append(log, rows(1))
    step = enriched(visits(), spark_table("missing", schema=WEIGHT), "page")
    with pytest.raises(RunError, match="STATIC_SPARK") as refused:
        jobs.run(written(step))
    assert '"missing"' in refused.value.fact


@pytest.mark.timeout(300)
def test_rows_meet_the_version_of_their_time_as_in_the_test_driver(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    prices = Latest(visits("prices"), ("page",), "event time")
    picks = (Pick("page", "page", "page"), Pick("n", "n"), Pick("price", None, "n"))
    bound = AsOf("event time", wait=True, keep=timedelta(minutes=5))
    join = Join(visits(), prices, (("page", "page"),), "left", bound, picks)
    views, versions = rows(200), rows(60, step=1.5, seed=2)
    for part in range(4):
        append(log, versions[part * 15 : part * 15 + 15], topic="prices")
        append(log, views[part * 50 : part * 50 + 50])
    jobs.run(written(join), rows=40)
    driver = TestDriver(written(join))
    driver.push("prices", versions)
    driver.push("visits", views)
    driver.finish()
    found = stored_rows(log, "out")
    assert len(found) == len(views)
    assert any(row["price"] is not None for row in found)
    assert folded(found) == folded(driver.rows("out"))
