"""Tables on Spark: tombstones in, upserts and tombstones out, and tables joined by any key."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.producer import Producer
from penstock.model.plan import Plan
from tests.spark.programs import Jobs, records

pytestmark = pytest.mark.spark

USERS = pa.schema([("id", pa.int64()), ("name", pa.string()), ("region", pa.string())])
ORDERS = pa.schema([("order", pa.int64()), ("user", pa.int64()), ("price", pa.int64())])
USER = {"id": "int64", "name": "string", "region": "string"}
ORDER = {"order": "int64", "user": "int64", "price": "int64"}

Row = dict[str, Any]
Change = tuple[int, Row | None]


@pytest.fixture
def jobs(spark: SparkSession, home: Path, tmp_path: Path) -> Jobs:
    return Jobs(spark, home, tmp_path / "job")


def a_replica(source: str = "users", target: str = "replica") -> Plan:
    app = ps.App(f"{source}-{target}")
    users = app.table(source, key="id", schema=USER)
    users.filter(ps.col("region") != "hidden").to(target)
    users.group_by("region").count().to_table().to(f"{target}-regions")
    return app.plan()


def some_changes(count: int, seed: int) -> list[Change]:
    chance = random.Random(seed)
    made: list[Change] = []
    for number in range(count):
        key = chance.randrange(12)
        region = chance.choice(["eu", "us", "hidden"])
        row = {"id": key, "name": f"u{number}", "region": region}
        made.append((key, None if chance.random() < 0.25 else row))
    return made


def send(log: EmbeddedLog, topic: str, schema: pa.Schema, changes: Iterable[Change]) -> None:
    if topic not in log.topics():
        log.create_topic(topic, partitions=2, schema=schema)
    with Producer(log) as producer:
        for key, row in changes:
            producer.send(topic, row, key=str(key).encode())


def held(log: EmbeddedLog, topic: str) -> dict[bytes, Row]:
    """The table that a compacted topic amounts to."""
    table: dict[bytes, Row] = {}
    for record in records(log, topic):
        if record["_deleted"]:
            table.pop(record["_key"], None)
        else:
            table[record["_key"]] = {n: v for n, v in record.items() if n[0] != "_"}
    return table


def last_rows(changes: Iterable[Change]) -> dict[int, Row]:
    return {key: row for key, row in dict(changes).items() if row is not None}


def test_a_replica_holds_what_its_source_holds_and_so_does_a_replica_of_it(
    log: EmbeddedLog, jobs: Jobs, spark: SparkSession, home: Path, tmp_path: Path
) -> None:
    changes = some_changes(120, seed=1)
    send(log, "users", USERS, changes)
    jobs.run(a_replica(), rows=40)
    shown = {key: row for key, row in last_rows(changes).items() if row["region"] != "hidden"}
    assert held(log, "replica") == {str(key).encode(): row for key, row in shown.items()}
    assert log.topic("replica").config.cleanup == "compact"
    regions = [row["region"] for row in last_rows(changes).values()]
    assert {row["region"]: row["count"] for row in held(log, "replica-regions").values()} == {
        region: regions.count(region) for region in set(regions)
    }
    again = Jobs(spark, home, tmp_path / "again")
    again.run(a_replica("replica", "second"), rows=40)
    assert held(log, "second") == held(log, "replica")


def a_shop() -> Plan:
    """Orders with their users, by foreign key, and what is made of them."""
    app = ps.App("shop")
    users = app.table("users", key="id", schema=USER)
    orders = app.table("orders", key="order", schema=ORDER)
    sales = orders.join(users, on={"user": "id"}, how="left")
    sales.to("sales")
    sales.group_by("region").agg(n=ps.count(), total=ps.sum("price")).to_table().to("regions")
    return app.plan()


def some_orders(count: int, seed: int) -> list[Change]:
    chance = random.Random(seed)
    made: list[Change] = []
    for _ in range(count):
        key = chance.randrange(30)
        row = {"order": key, "user": chance.randrange(14), "price": chance.randrange(9)}
        made.append((key, None if chance.random() < 0.2 else row))
    return made


def test_a_foreign_key_join_of_tables_equals_the_join_of_their_last_rows(
    log: EmbeddedLog, jobs: Jobs
) -> None:
    users, orders = some_changes(80, seed=2), some_orders(150, seed=3)
    half = len(orders) // 2
    send(log, "users", USERS, users[:40])
    send(log, "orders", ORDERS, orders[:half])
    jobs.start(a_shop(), rows=60, until="caught up").await_end()
    send(log, "users", USERS, users[40:])
    send(log, "orders", ORDERS, orders[half:])
    jobs.start(a_shop(), rows=60, until="caught up").await_end()
    known = last_rows(users)
    nobody = {"id": None, "name": None, "region": None}
    expected = {
        str(key).encode(): {**row, **known.get(row["user"], nobody)}
        for key, row in last_rows(orders).items()
    }
    assert held(log, "sales") == expected
    totals: dict[str | None, list[int]] = {}
    for row in expected.values():
        count = totals.setdefault(row["region"], [0, 0])
        count[0] += 1
        count[1] += row["price"]
    found = {row["region"]: [row["n"], row["total"]] for row in held(log, "regions").values()}
    assert found == totals
