"""What a cluster of brokers promises, seen from outside, on three of them."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.cimpl import NewTopic

from penstock.broker import wire
from tests.kafka.cluster import Brokers, brokers_of_ones_own, missing
from tests.kafka.confluent import QUICK, ConfluentReader, ConfluentWriter
from tests.kafka.load import Load
from tests.kafka.storm import RECOVERY
from tests.kafka.tools import REASSIGN, tool

pytestmark = [pytest.mark.slow, pytest.mark.kill]

_LIST_OFFSETS, _NOT_LEADER = 2, 6


def produced(
    brokers: Brokers, topic: str, values: list[bytes], partition: int = -1, **settings: object
) -> list[KafkaError]:
    """Write values, and give what went wrong with any of them."""
    asked = {key.replace("_", "."): value for key, value in settings.items()}
    producer = Producer({**QUICK, "bootstrap.servers": brokers.address, "acks": "all", **asked})
    errors: list[KafkaError] = []

    def done(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            errors.append(error)

    for value in values:
        producer.produce(topic, value, partition=partition, on_delivery=done)
    assert producer.flush(60) == 0
    return errors


def values_of(brokers: Brokers, topic: str, partition: int, count: int) -> list[object]:
    settings = {**QUICK, "bootstrap.servers": brokers.address, "group.id": "none"}
    consumer = Consumer(settings)
    try:
        consumer.assign([TopicPartition(topic, partition, 0)])
        found = (consumer.poll(30) for _ in range(count))
        return [record.value() for record in found if record is not None]
    finally:
        consumer.close()


def files_of(brokers: Brokers, broker: int, topic: str) -> dict[str, bytes]:
    """Give the segments that a broker holds of a topic, by folder and name."""
    data = brokers.cluster.folder_of(broker) / "data"
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in data.glob(f"{topic}-*/*.log")
    }


def refusal(brokers: Brokers, topic: NewTopic) -> int | None:
    client = brokers.admin()
    (made,) = client.create_topics([topic]).values()
    with pytest.raises(KafkaException) as caught:
        made.result(30)
    code: int = caught.value.args[0].code()
    return code


def error_of_asking(port: int, topic: str) -> int:
    """Ask a broker itself for the end of partition 0, and give the code of its answer."""
    name = struct.pack(">h", len(topic)) + topic.encode()
    body = struct.pack(">ii", -1, 1) + name + struct.pack(">iiq", 1, 0, -1)
    answer = wire._ask(port, _LIST_OFFSETS, 1, body, 5)
    answer.number()
    answer.text()
    answer.take(8)
    return answer.short()


def test_a41_a45_a52_a63_a_topic_is_a_log_in_partitions_with_copies(
    kafka_cluster: Brokers,
) -> None:
    spread = kafka_cluster.topic(6, copies=1)
    assert Counter(part.leader for part in kafka_cluster.partitions(spread)) == {1: 2, 2: 2, 3: 2}
    assert spread in kafka_cluster.view().topics
    assert refusal(kafka_cluster, NewTopic(spread, 1)) == KafkaError.TOPIC_ALREADY_EXISTS
    many = NewTopic(f"{spread}-4", 1, 4)
    assert refusal(kafka_cluster, many) == KafkaError.INVALID_REPLICATION_FACTOR

    for partition in range(6):
        assert produced(kafka_cluster, spread, [b"%08192d" % n for n in range(20)], partition) == []
        assert values_of(kafka_cluster, spread, partition, 1) == [b"%08192d" % 0]
    (error,) = {found.code() for found in produced(kafka_cluster, spread, [b""], 6)}
    assert error == KafkaError._UNKNOWN_PARTITION
    held = {number: files_of(kafka_cluster, number, spread) for number in (1, 2, 3)}
    assert len({name for files in held.values() for name in files}) == 6
    sizes = [sum(map(len, files.values())) for files in held.values()]
    assert max(sizes) - min(sizes) < sum(sizes) / 100

    twice = kafka_cluster.topic(copies=2)
    assert produced(kafka_cluster, twice, [b"one", b"two"]) == []
    (part,) = kafka_cluster.partitions(twice)
    first, second = (files_of(kafka_cluster, number, twice) for number in part.replicas)
    assert first == second
    assert b"two" in b"".join(first.values())
    (other,) = {1, 2, 3} - set(part.replicas)
    assert files_of(kafka_cluster, other, twice) == {}


def test_a42_a43_a44_h17_h22_a_follower_takes_over_from_a_leader_that_is_killed(
    kafka_cluster: Brokers,
) -> None:
    topic = kafka_cluster.topic(copies=3, min_insync_replicas="2")
    strict = kafka_cluster.topic(copies=3, min_insync_replicas="3")
    (before,) = kafka_cluster.partitions(topic)
    assert sorted(before.replicas) == sorted(before.in_sync) == [1, 2, 3]
    for node in kafka_cluster.plan.nodes:
        expected = 0 if node.id == before.leader else _NOT_LEADER
        assert error_of_asking(node.port, topic) == expected

    assert produced(kafka_cluster, topic, [b"%d" % n for n in range(1000)]) == []
    kafka_cluster.kill(before.leader)
    assert produced(kafka_cluster, topic, [b"after"]) == []
    (after,) = kafka_cluster.partitions(topic)
    assert after.leader in set(before.replicas) - {before.leader}
    assert before.leader not in kafka_cluster.view().brokers
    kept = values_of(kafka_cluster, topic, 0, 1001)
    assert kept == [*(b"%d" % n for n in range(1000)), b"after"]

    # Two of three hold a copy: a write that needs all three is refused, and not lost later.
    (refused,) = produced(kafka_cluster, strict, [b"x"], retries=0, enable_idempotence=False)
    assert refused.code() == KafkaError.NOT_ENOUGH_REPLICAS
    kafka_cluster.restart(before.leader)
    assert kafka_cluster.until(kafka_cluster.whole) < RECOVERY
    assert produced(kafka_cluster, strict, [b"y"]) == []
    assert values_of(kafka_cluster, strict, 0, 1) == [b"y"]


def test_a48_a_broker_is_added_while_records_are_written(tmp_path: Path) -> None:
    if missing():
        pytest.skip(missing())
    with brokers_of_ones_own(tmp_path, 1) as brokers:
        topic = brokers.topic(2)
        writer = ConfluentWriter(brokers.address, topic)
        load = Load(writer, ConfluentReader(brokers.address, topic, 2), partitions=2, rate=1000)
        load.start()
        try:
            brokers.cluster.up(brokers.machinery, brokers=2)
            moved = [{"topic": topic, "partition": 1, "replicas": [2]}]
            plan = tmp_path / "plan.json"
            plan.write_text(json.dumps({"version": 1, "partitions": moved}))
            tool(brokers, REASSIGN, "--reassignment-json-file", str(plan), "--execute")
            brokers.until(lambda: [p.replicas for p in brokers.partitions(topic)] == [(1,), (2,)])
        finally:
            load.end(at_least=5000)
        assert load.problems() == []
        assert [part.leader for part in brokers.partitions(topic)] == [1, 2]
