"""Orders in a topic of a broker, written and read by a client of others."""

from __future__ import annotations

import json

from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.model.physical import Settings
from tests.kafka.cluster import Brokers

ORDER = {"item": str, "amount": int}
ORDERS = [(f"item-{number % 5}", number) for number in range(60)]
TOTALS = {f"item-{n}": sum(amount for _, amount in ORDERS if amount % 5 == n) for n in range(5)}
SETTINGS = Settings(buckets=2, parallelism=1)


def send(kafka: Brokers, topic: str, rows: list[tuple[str, int]]) -> None:
    producer = Producer({"bootstrap.servers": kafka.address})
    for item, amount in rows:
        producer.produce(topic, json.dumps({"item": item, "amount": amount}), item)
    assert producer.flush(30) == 0


def on_broker(kafka: Brokers, topic: str) -> list[tuple[str, bytes]]:
    """Key and value of all records that are committed, as a client of others finds them."""
    settings = {"bootstrap.servers": kafka.address, "group.id": "none"}
    consumer = Consumer({**settings, "enable.partition.eof": True})
    numbers = range(len(kafka.partitions(topic)))
    consumer.assign([TopicPartition(topic, number, 0) for number in numbers])
    found: list[tuple[str, bytes]] = []
    ended = 0
    while ended < len(numbers):
        record = consumer.poll(30)
        assert record is not None
        if record.error() is None:
            found.append(((record.key() or b"").decode(), record.value() or b""))
        else:
            ended += 1
    consumer.close()
    return found


def last(rows: list[tuple[str, bytes]], column: str) -> dict[str, int]:
    """The table that a changelog of JSON amounts to."""
    return {key: json.loads(value)[column] for key, value in rows}
