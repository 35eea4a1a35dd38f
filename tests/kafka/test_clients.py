"""Clients of others: what one of them writes, every other reads as it was."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from tests.kafka.cluster import Brokers
from tests.kafka.tools import CONSUMER, GROUPS, PRODUCER, TOPICS, kcat, kcat_missing, tool

pytestmark = pytest.mark.slow


def produced(brokers: Brokers, topic: str, *pairs: tuple[str, str]) -> None:
    producer = Producer({"bootstrap.servers": brokers.address, "partitioner": "murmur2_random"})
    for key, value in pairs:
        producer.produce(topic, value, key, headers={"from": b"confluent"})
    assert producer.flush(30) == 0


def consumed(brokers: Brokers, topic: str, count: int) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": brokers.address, "group.id": "none"})
    try:
        numbers = range(len(brokers.partitions(topic)))
        consumer.assign([TopicPartition(topic, number, 0) for number in numbers])
        found = [consumer.poll(30) for _ in range(count)]
        assert consumer.poll(0.2) is None
        return [record for record in found if record is not None]
    finally:
        consumer.close()


def pairs(records: list[Message]) -> set[tuple[object, object]]:
    return {(record.key(), record.value()) for record in records}


def test_a56_topic_producer_and_consumer_by_commands(kafka: Brokers) -> None:
    name = f"{kafka.topic()}-by-hand"
    tool(kafka, TOPICS, "--create", "--topic", name, "--partitions", "2")
    assert name in tool(kafka, TOPICS, "--list").split()
    typed = ("--topic", name, "--property", "parse.key=true")
    tool(kafka, PRODUCER, *typed, "--property", "key.separator=:", stdin="a:1\nb:2\n")
    assert pairs(consumed(kafka, name, 2)) == {(b"a", b"1"), (b"b", b"2")}

    produced(kafka, name, ("c", "3"))
    whole = ("--topic", name, "--from-beginning", "--max-messages", "3", "--group", name)
    shown = tool(kafka, CONSUMER, *whole, "--property", "print.headers=true")
    assert sorted(line.split("\t") for line in shown.splitlines()) == [
        ["NO_HEADERS", "1"],
        ["NO_HEADERS", "2"],
        ["from:confluent", "3"],
    ]
    table = tool(kafka, GROUPS, "--describe", "--group", name).splitlines()
    rows = [line.split() for line in table if name in line]
    assert [(row[3], row[4], row[5]) for row in rows if row[3] != row[4]] == []
    assert sum(int(row[3]) for row in rows if row[3] != "-") == 3


def test_java_and_c_choose_the_same_partition_for_a_key(kafka: Brokers) -> None:
    topic = kafka.topic(7)
    keys = [f"key-{number}" for number in range(20)]
    lines = "".join(f"{key}:java\n" for key in keys)
    words = ("--topic", topic, "--property", "parse.key=true")
    tool(kafka, PRODUCER, *words, "--property", "key.separator=:", stdin=lines)
    produced(kafka, topic, *((key, "c") for key in keys))
    places: dict[object, set[int | None]] = {}
    for record in consumed(kafka, topic, 40):
        places.setdefault(record.key(), set()).add(record.partition())
    assert len(places) == 20
    assert {len(found) for found in places.values()} == {1}


def test_kcat_writes_and_reads(kafka: Brokers) -> None:
    if kcat_missing():
        pytest.skip(kcat_missing())
    topic = kafka.topic()
    kcat(kafka, "-P", "-t", topic, "-K", ":", "-H", "from=kcat", stdin="a:1\nb:2\n")
    records = consumed(kafka, topic, 2)
    assert pairs(records) == {(b"a", b"1"), (b"b", b"2")}
    assert [record.headers() for record in records] == [[("from", b"kcat")]] * 2
    produced(kafka, topic, ("c", "3"))
    shown = kcat(kafka, "-C", "-t", topic, "-e", "-q", "-f", "%o %k %s %h\n")
    assert shown == "0 a 1 from=kcat\n1 b 2 from=kcat\n2 c 3 from=confluent\n"
    assert f'topic "{topic}" with 1 partitions' in kcat(kafka, "-L", "-t", topic)
