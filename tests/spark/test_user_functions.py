from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.model.physical import Settings
from penstock.sql.session import SqlSession
from penstock.sql.spark_jobs import catch_up_on_spark
from tests.sql.kit import ORDERS, opened, rows, told
from tests.sql.test_functions import INVERSE, PRODUCT, ROWS, dead

LOUD = (
    "CREATE FUNCTION loud(text STRING) RETURNS STRING VECTORISED LANGUAGE PYTHON"
    " AS $$ text.str.to_uppercase() $$;"
)
QUERY = (
    "CREATE TABLE result AS SELECT loud(id) AS id, product(amount) AS p, SUM(inverse(amount)) AS s"
    " FROM orders GROUP BY loud(id);"
)


def run_all(home: Path, session: SqlSession) -> None:
    queries = list(session.definitions().queries.values())
    catch_up_on_spark(home, queries, Settings(buckets=2, parallelism=1))


@pytest.mark.spark
def test_functions_made_by_statements_run_in_sparks_workers(
    spark: SparkSession, home: Path
) -> None:
    assert spark.version
    with opened(home) as session:
        told(session, f"{ORDERS}{INVERSE}{PRODUCT}{LOUD}{QUERY}")
        told(session, ROWS)
        run_all(home, session)
        found = sorted(rows(session, "SELECT * FROM result;"))
        assert found == [("A", 10, 7.0), ("C", 1, 0.0)]
    (letter,) = dead(home, "RESULT.dead")
    assert "ZeroDivisionError" in letter["error"]
    assert "<function PRODUCT" in letter["traceback"]
