"""Groups and their members, as a real broker coordinates them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer

from tests.house.survey import ROOT
from tests.kafka.cluster import Brokers

pytestmark = [pytest.mark.slow, pytest.mark.kill]


@contextmanager
def a_member(brokers: Brokers, group: str, topic: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.kafka.member_child", brokers.address, group, topic]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        try:
            yield child
        finally:
            child.kill()


def members(brokers: Brokers, group: str) -> int:
    client = brokers.admin()
    return len(client.describe_consumer_groups([group])[group].result(30).members)


def offsets(brokers: Brokers, group: str) -> dict[int, int]:
    client = brokers.admin()
    asked = client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
    return {found.partition: found.offset for found in asked[group].result(30).topic_partitions}


def test_a32_a46_a47_a57_h18_a_member_that_dies_is_missed_and_nothing_is_lost(
    kafka: Brokers,
) -> None:
    topic = kafka.topic(2)
    group = f"{topic}-group"
    # Nobody reads yet: who writes does not depend on it, and is gone when somebody does.
    producer = Producer({"bootstrap.servers": kafka.address})
    for partition in range(2):
        for value in ("a", "commit", "b", "c"):
            producer.produce(topic, value, partition=partition)
    assert producer.flush(30) == 0
    del producer

    with a_member(kafka, group, topic) as child:
        assert child.stdout is not None
        said = [child.stdout.readline().strip() for _ in range(8)]
        assert sorted(said) == sorted(["a", "commit", "b", "c"] * 2)
        assert members(kafka, group) == 1
        assert offsets(kafka, group) == {0: 2, 1: 2}
    assert kafka.until(lambda: members(kafka, group) == 0) < 10

    settings = {"bootstrap.servers": kafka.address, "group.id": group}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([topic])
        # What was processed and not committed comes again; what was committed does not.
        found = [consumer.poll(30) for _ in range(4)]
        assert (
            sorted(str(record.value()) for record in found if record) == ["b'b'"] * 2 + ["b'c'"] * 2
        )
        assert consumer.poll(0.3) is None
    finally:
        consumer.close()


def test_a32_a48_partitions_pass_to_who_is_left(kafka: Brokers) -> None:
    topic = kafka.topic(2)
    group = f"{topic}-group"
    settings = {"bootstrap.servers": kafka.address, "group.id": group, "session.timeout.ms": 6000}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([topic])
        kafka.until(lambda: consumer.poll(0.1) is None and len(consumer.assignment()) == 2)
        with a_member(kafka, group, topic):
            kafka.until(lambda: consumer.poll(0.1) is None and len(consumer.assignment()) == 1)
            assert members(kafka, group) == 2
        kafka.until(lambda: consumer.poll(0.1) is None and len(consumer.assignment()) == 2)
        producer = Producer({"bootstrap.servers": kafka.address})
        for partition in range(2):
            producer.produce(topic, b"x", partition=partition)
        assert producer.flush(30) == 0
        assert [record is not None for record in (consumer.poll(30), consumer.poll(30))] == [
            True
        ] * 2
    finally:
        consumer.close()
