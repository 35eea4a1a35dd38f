"""Clients of others and ours on one Kafka, by commands: each reads what the others write.

What SQL runs on Spark here has no jar of Kafka and no way to fetch one (A56, I01; want 10).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.cli.shell import start
from tests.kafka.cluster import Brokers
from tests.kafka.java_client import java_missing, java_reads, java_writes
from tests.kafka.tools import CONSUMER, PRODUCER, kcat, kcat_missing, tool

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "ITEM", "type": "string"}, {"name": "AMOUNT", "type": "int"}],
}
STATEMENTS = """
CREATE STREAM plain (id STRING KEY, item STRING, amount INT)
  WITH (KAFKA_TOPIC='{plain}', VALUE_FORMAT='JSON');
CREATE STREAM typed (id STRING KEY, item STRING, amount INT)
  WITH (KAFKA_TOPIC='{typed}', VALUE_FORMAT='AVRO');
CREATE STREAM both WITH (KAFKA_TOPIC='{both}', VALUE_FORMAT='JSON')
  AS SELECT id, item, amount * 2 AS twice FROM plain WHERE amount > 1;
INSERT INTO both SELECT id, item, amount * 2 AS twice FROM typed WHERE amount > 1;
CREATE STREAM again WITH (KAFKA_TOPIC='{again}', VALUE_FORMAT='AVRO')
  AS SELECT id, item, twice FROM both;
"""


def penstock(*words: str, stdin: str = "") -> str:
    """Run a command of a user who has no jar and no way to fetch one; give what it printed."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    java = f"-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9 -Duser.home={Path.cwd()}"
    nobody = dict.fromkeys(("HOME", "XDG_CACHE_HOME"), str(Path.cwd() / "nobody"))
    ran = subprocess.run(
        [sys.executable, "-m", "penstock", *words],
        capture_output=True,
        check=False,
        env={**os.environ, **proxies, **nobody, "JDK_JAVA_OPTIONS": java},
        input=stdin,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@contextmanager
def registry() -> Iterator[SchemaRegistryClient]:
    """The registry of the log, as clients of Confluent ask it."""
    with start("registry", "serve", "--port", "0") as server:
        try:
            assert server.stdout is not None
            with SchemaRegistryClient({"url": server.stdout.readline().strip()}) as client:
                yield client
        finally:
            server.kill()


def order(item: str, amount: int) -> str:
    return json.dumps({"ITEM": item, "AMOUNT": amount})


def avro_written(kafka: Brokers, client: SchemaRegistryClient, topic: str) -> None:
    serialize = AvroSerializer(client, json.dumps(ORDER))
    producer = Producer({"bootstrap.servers": kafka.address})
    for number, amount in enumerate((1, 6)):
        row = {"ITEM": "avro", "AMOUNT": amount}
        value = serialize(row, SerializationContext(topic, MessageField.VALUE))
        producer.produce(topic, value, f"v{number}")
    assert producer.flush(30) == 0


def avro_read(kafka: Brokers, client: SchemaRegistryClient, topic: str, count: int) -> list[object]:
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "none"})
    deserialize = AvroDeserializer(client)
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        found = [consumer.poll(30) for _ in range(count)]
        context = SerializationContext(topic, MessageField.VALUE)
        return [deserialize(record.value(), context) for record in found if record is not None]
    finally:
        consumer.close()


def test_a56_i01_sql_reads_what_others_write_and_they_read_what_it_writes(
    kafka: Brokers, project: Path
) -> None:
    if kcat_missing() or java_missing():
        pytest.skip(kcat_missing() or java_missing())
    plain, typed = kafka.topic(), kafka.topic()
    both, again = f"{plain}-both", f"{plain}-again"
    keyed = ("--property", "parse.key=true", "--property", "key.separator=:")
    tool(kafka, PRODUCER, "--topic", plain, *keyed, stdin=f"c1:{order('tea', 2)}\n")
    kcat(kafka, "-P", "-t", plain, "-K", ":", stdin=f"k1:{order('ox', 1)}\nk2:{order('ox', 3)}\n")
    java_writes(kafka, plain, f"j1:{order('jam', 4)}\n")
    penstock("produce", plain, "--key-separator", ":", stdin=f"p1:{order('pie', 5)}\n")
    with registry() as client:
        avro_written(kafka, client, typed)
        script = STATEMENTS.format(plain=plain, typed=typed, both=both, again=again)
        (project / "shop.sql").write_text(script)
        penstock("sql", "-f", "shop.sql")
        penstock("sql", "run", "--bounded")
        expected = {"c1": "tea", "j1": "jam", "k2": "ox", "p1": "pie", "v1": "avro"}
        doubled = {"c1": 4, "j1": 8, "k2": 6, "p1": 10, "v1": 12}
        lines = [
            f'{key}:{{"ITEM":"{item}","TWICE":{doubled[key]}}}' for key, item in expected.items()
        ]
        assert java_reads(kafka, both, 5) == lines
        shown = ("--from-beginning", "--max-messages", "5", "--isolation-level", "read_committed")
        named = ("--property", "print.key=true", "--property", "key.separator=:")
        read = tool(kafka, CONSUMER, "--topic", both, *shown, *named)
        assert sorted(read.splitlines()) == lines
        read = kcat(kafka, "-C", "-t", both, "-e", "-q", "-f", "%k:%s\n")
        assert sorted(read.splitlines()) == lines
        read = penstock("consume", both, "--from-beginning", "--show", "key", "--max", "5")
        assert sorted(read.replace("\t", ":").splitlines()) == lines
        found = avro_read(kafka, client, again, 5)
    assert sorted(found, key=str) == sorted(
        ({"ITEM": item, "TWICE": doubled[key]} for key, item in expected.items()), key=str
    )
