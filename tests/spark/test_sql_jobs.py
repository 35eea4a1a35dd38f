from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.model.physical import Settings
from penstock.sql.session import SqlSession
from penstock.sql.spark_jobs import catch_up_on_spark
from tests.sql.kit import opened, rows, told

SOURCES = """
CREATE STREAM orders (id STRING KEY, item STRING, amount INT, ts BIGINT)
  WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1, TIMESTAMP='ts');
CREATE TABLE items (item STRING PRIMARY KEY, price INT)
  WITH (KAFKA_TOPIC='items', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE TABLE per_minute AS SELECT item, COUNT(*) AS n, SUM(amount) AS total FROM orders
  WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY item;
CREATE STREAM priced AS SELECT o.item AS item, o.id AS id, o.amount * i.price AS cost
  FROM orders o LEFT JOIN items i ON o.item = i.item WHERE o.amount > 1;
INSERT INTO items VALUES ('tea', 3), ('ox', 100);
INSERT INTO orders VALUES ('a', 'tea', 2, 1000), ('b', 'tea', 1, 2000), ('c', 'ox', 7, 61000);
"""


def run(home: Path, session: SqlSession) -> None:
    settings = Settings(buckets=2, parallelism=1)
    catch_up_on_spark(home, session.definitions().runnable, settings)


@pytest.mark.spark
def test_queries_of_a_catalog_run_on_spark_and_go_on_exactly_once(
    tmp_path: Path, spark: SparkSession
) -> None:
    with opened(tmp_path) as session:
        told(session, SOURCES)
        run(tmp_path, session)
        told(session, "INSERT INTO orders VALUES ('d', 'tea', 20, 3000);")
        assert [row[-1] for row in rows(session, "SHOW QUERIES EXTENDED;")] == [1, 0, 1]
        run(tmp_path, session)
        counted = "SELECT item, windowstart, n, total FROM per_minute ORDER BY item;"
        assert rows(session, counted) == [("ox", 60000, 1, 7), ("tea", 0, 3, 23)]
        found = rows(session, "SELECT id, cost FROM priced ORDER BY id;")
        assert found == [("a", 6), ("c", 700), ("d", 60)]
        states = {row[1:3] for row in rows(session, "SHOW QUERIES EXTENDED;")}
        assert states == {("not running", "Spark")}
