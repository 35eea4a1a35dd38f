"""E24 and F19: a program for Spark's Kafka connector runs on our log as it was written (V22)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.schema.codec.format import Format
from penstock.schema.registry.open import open_schemas
from penstock.schema.schema import Field, Schema
from penstock.schema.serde import writing_serde
from penstock.schema.types import INT64, STRING, struct_of
from penstock.spark.kafka.options import kafka_source_options
from penstock.spark.session import spark_session

pytestmark = pytest.mark.spark

ORDER = Schema((Field("id", INT64), Field("address", struct_of(street=STRING, county=STRING))))
COUNTIES = ("Switzerland", "France", "Switzerland", "Italy")


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return spark_session(master="local[2]")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with open_log(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def broker(log: EmbeddedLog, tmp_path: Path) -> str:
    # A served log (host:port) has its token in the home that the JVM was started with.
    return str(tmp_path / "home")


def send_orders(log: EmbeddedLog) -> None:
    serde = writing_serde("order", Format("avro"), ORDER, open_schemas(log))
    rows = [
        {"id": number, "address": {"street": "Main", "county": county}}
        for number, county in enumerate(COUNTIES)
    ]
    log.append("order", 0, serde.write(rows))


def read_stream(spark: SparkSession, broker: str, topic: str = "order") -> DataFrame:
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", broker)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )


def collected(frame: DataFrame, place: Path) -> list[dict[str, object]]:
    query = (
        frame.writeStream.format("json")
        .option("checkpointLocation", str(place / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(place / "rows"))
    )
    query.awaitTermination()
    files = sorted((place / "rows").glob("*.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_e24_f19_orders_from_elsewhere_are_dropped(
    spark: SparkSession, log: EmbeddedLog, broker: str, tmp_path: Path
) -> None:
    log.create_topic("order")
    send_orders(log)
    # One that cannot be read has no address, and so is from elsewhere.
    log.append("order", 0, rows_of_bytes([b"damaged"]))
    orders = read_stream(spark, broker)
    filtered = orders.where("address.county = 'Switzerland'").select("id", "offset", "topic")
    assert collected(filtered, tmp_path) == [
        {"id": 0, "offset": 0, "topic": "order"},
        {"id": 2, "offset": 2, "topic": "order"},
    ]


def test_e24_a_topic_without_a_schema_has_the_columns_of_the_connector(
    spark: SparkSession, log: EmbeddedLog, broker: str
) -> None:
    log.create_topic("plain", partitions=2)
    rows = rows_of_bytes(
        [b"a", None], keys=[b"k", b"gone"], timestamps=[1000, 2000], headers=[(("h", b"1"),), ()]
    )
    log.append("plain", 1, rows)
    found = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", broker)
        .option("subscribe", "plain")
        .option("includeHeaders", "true")
        .option("startingOffsets", '{"plain": {"0": -2, "1": 0}}')
        .load()
    )
    assert found.columns == [
        *("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
    ]
    cast = found.selectExpr(
        "CAST(key AS STRING)", "CAST(value AS STRING)", "partition", "offset", "headers[0].key"
    )
    assert [tuple(row) for row in cast.collect()] == [
        ("k", "a", 1, 0, "h"),
        ("gone", None, 1, 1, None),
    ]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "FORMAT_OPTION"),
        ({"subscribe": "a,b"}, "FORMAT_OPTION"),
        ({"subscribe": "plain", "maxOffsetsPerTrigger": "few"}, "FORMAT_OPTION"),
        ({"subscribe": "plain", "startingOffsets": '{"plain": 1}'}, "POSITION_TEXT"),
        ({"subscribe": "nothing"}, "TOPIC_MISSING"),
    ],
)
def test_e24_a_wrong_option_is_named(
    spark: SparkSession, broker: str, options: dict[str, str], code: str
) -> None:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker)
    with pytest.raises(PySparkException, match=code):
        reader.options(**options).load()


def test_e24_servers_are_brokers_a_server_of_ours_or_a_directory() -> None:
    def home(servers: str) -> str:
        given = {"kafka.bootstrap.servers": servers, "Subscribe": "order"}
        return kafka_source_options(given, stream=True).home

    assert home("broker-1:9092, broker-2:9092") == "kafka://broker-1:9092,broker-2:9092"
    # Nobody is there who speaks Kafka's protocol: a server of ours is asked, and tells.
    assert home("127.0.0.1:1") == "tcp://127.0.0.1:1"
    assert home("/some/home") == "/some/home"
