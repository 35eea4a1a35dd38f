"""One topic of a broker, and every way to write programs: the same comes of it (E24, E31)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typing_extensions import override

import penstock as ps
import penstock.streams as ks
from penstock.config import load_settings
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.schema.codec.format import Format
from penstock.schema.registry.open import open_schemas
from penstock.schema.serde import writing_serde
from penstock.sql.session import SqlSession
from penstock.sql.spark_jobs import catch_up_on_spark
from penstock.topology import (
    BasicBolt,
    LogSpout,
    OutputDeclarer,
    TopologyBuilder,
    quiet,
    run_topology,
)
from penstock.topology import Tuple as TopologyTuple
from tests.eventually import eventually
from tests.kafka.cluster import Brokers
from tests.requirements.orders import ORDER, ORDERS, SETTINGS, TOTALS, last, on_broker
from tests.requirements.test_structured_streaming import COUNTIES, collected, read_stream
from tests.requirements.test_structured_streaming import ORDER as TYPED_ORDER

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


class Sum(ps.Processor[Any]):
    """Adds up the amounts of a key, one by one, as a task of Samza does."""

    total = ps.value_state(int, default=0)

    @override
    def process(self, row: dict[str, Any], ctx: ps.Context) -> Iterator[dict[str, Any]]:
        self.total.value += row["amount"]
        yield {"item": ctx.key, "total": self.total.value}


class AddBolt(BasicBolt):
    """Adds up what comes to it, in a table of whoever made it."""

    def __init__(self, totals: dict[str, int]) -> None:
        self.totals = totals

    def __deepcopy__(self, _: object) -> AddBolt:
        return self

    @override
    def process(self, received: TopologyTuple) -> list[tuple[object, ...]]:
        row = json.loads(str(received["value"], "utf-8"))  # type: ignore[call-overload]
        self.totals[row["item"]] = self.totals.get(row["item"], 0) + row["amount"]
        return []

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        """Nothing comes of it."""


def by_dsl(kafka: Brokers, orders: str) -> dict[str, int]:
    app = ps.App(f"{orders}-dsl")
    read = app.stream(orders, schema=ORDER, format="json")
    read.group_by("item").agg(total=ps.sum("amount")).to(f"{orders}-dsl", format="json")
    app.run(bounded=True, settings=SETTINGS)
    return last(on_broker(kafka, f"{orders}-dsl"), "total")


def by_task(kafka: Brokers, orders: str) -> dict[str, int]:
    app = ps.App(f"{orders}-task")
    read = app.stream(orders, schema=ORDER, format="json")
    summed = read.group_by("item").process(Sum, schema={"item": str, "total": int})
    summed.to(f"{orders}-task", key="item", format="json")
    app.run(bounded=True, settings=SETTINGS)
    return last(on_broker(kafka, f"{orders}-task"), "total")


def by_sql(kafka: Brokers, orders: str) -> dict[str, int]:
    home = load_settings().home
    with SqlSession(home) as session:
        statements = f"""
            CREATE STREAM orders (item STRING, amount INT)
              WITH (KAFKA_TOPIC='{orders}', VALUE_FORMAT='JSON');
            CREATE TABLE totals WITH (KAFKA_TOPIC='{orders}-sql', VALUE_FORMAT='JSON') AS
              SELECT item, SUM(amount) AS total FROM orders GROUP BY item;
        """
        list(session.run(statements))
        catch_up_on_spark(home, session.definitions().runnable, SETTINGS)
    return last(on_broker(kafka, f"{orders}-sql"), "TOTAL")


def by_streams(kafka: Brokers, orders: str) -> dict[str, int]:
    builder = ks.KStreamBuilder()
    read = builder.stream(orders, value_serde=ks.Serdes.json())
    amounts = read.map_values(lambda row: row["amount"])
    summed = amounts.reduce_by_key(lambda one, other: one + other, "Totals")
    summed.to_stream().to(ks.Serdes.string(), ks.Serdes.json(), f"{orders}-streams")
    with ks.KafkaStreams(builder, {"application.id": f"{orders}-streams"}):
        eventually(lambda: len(on_broker(kafka, f"{orders}-streams")) >= len(ORDERS), pause=0.2)
    return {key: json.loads(value) for key, value in on_broker(kafka, f"{orders}-streams")}


def by_topology(orders: str) -> dict[str, int]:
    totals: dict[str, int] = {}
    builder = TopologyBuilder()
    builder.set_spout("orders", LogSpout(orders, group=f"{orders}-topology"), 2)
    builder.set_bolt("add", AddBolt(totals)).global_grouping("orders")
    run_topology(builder.create_topology(), until=quiet)
    return totals


def by_structured_streaming(kafka: Brokers, spark: SparkSession, orders: str) -> dict[str, int]:
    lines = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", kafka.address)
        .option("subscribe", orders)
        .option("startingOffsets", "earliest")
        .load()
    )
    read = lines.selectExpr("from_json(CAST(value AS STRING), 'item STRING, amount INT') AS o")
    summed = read.where("o.amount >= 0").groupBy("o.item").sum("o.amount")
    name = orders.replace("-", "_")
    query = (
        summed.writeStream.format("memory")
        .queryName(name)
        .outputMode("complete")
        .option("checkpointLocation", str(Path("structured").absolute()))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return dict(map(tuple, spark.table(name).collect()))


def test_e31_v27_every_way_to_write_a_program_makes_the_same_of_one_topic(
    kafka: Brokers, spark: SparkSession, project: Path, orders: str
) -> None:
    found = {
        "structured streaming": by_structured_streaming(kafka, spark, orders),
        "storm": by_topology(orders),
        "kafka streams": by_streams(kafka, orders),
        "dsl": by_dsl(kafka, orders),
        "samza": by_task(kafka, orders),
        "sql": by_sql(kafka, orders),
    }
    assert found == dict.fromkeys(found, TOTALS)


def test_e24_v22_orders_of_a_broker_are_filtered_as_the_course_writes_it(
    kafka: Brokers, spark: SparkSession, project: Path
) -> None:
    order = kafka.topic()
    rows = [
        {"id": number, "address": {"street": "Main", "county": county}}
        for number, county in enumerate(COUNTIES)
    ]
    with open_log() as log:
        serde = writing_serde(order, Format("avro"), TYPED_ORDER, open_schemas(log))
        log.append(order, 0, serde.write(rows))
        log.append(order, 0, rows_of_bytes([b"damaged"]))
    orders = read_stream(spark, kafka.address, order)
    filtered = orders.where("address.county = 'Switzerland'").select("id", "offset", "topic")
    assert collected(filtered, project) == [
        {"id": 0, "offset": 0, "topic": order},
        {"id": 2, "offset": 2, "topic": order},
    ]
