"""Kafka Streams on Kafka itself, by plain processes and the tools of others (E15, E16, E20)."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

import penstock as ps
import penstock.streams as ks
from tests.eventually import eventually
from tests.kafka.cluster import Brokers
from tests.kafka.tools import CONSUMER, GROUPS, PRODUCER, tool
from tests.requirements.homes import records

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WORDS = """
import re, sys
import penstock.streams as ks

source, target = sys.argv[1:]
builder = ks.KStreamBuilder()
words = builder.stream(source).flat_map_values(lambda line: re.split(r"\\W+", line.lower()))
counts = words.map(lambda _, word: (word, word)).count_by_key("Counts").to_stream()
counts.to(ks.Serdes.string(), ks.Serdes.long(), target)
with ks.KafkaStreams(builder, {"application.id": target}) as streams:
    sys.stdin.readline()
foreign = [name for name in sys.modules if name.startswith(("pyspark", "py4j"))]
print(foreign, open("/proc/thread-self/children").read().split())
"""
"""The word count of a plain script, which ends when it is told to."""

COUNTS = """
import sys, time
import penstock.streams as ks

source, target = sys.argv[1:]
builder = ks.KStreamBuilder()
counts = builder.stream(source).count_by_key("Counts").to_stream()
counts.to(ks.Serdes.string(), ks.Serdes.long(), target)
props = {"application.id": target, "processing.guarantee": "exactly_once"}
with ks.KafkaStreams(builder, props) as streams:
    for line in sys.stdin:
        print(*streams.tasks, flush=True)
"""
"""The count of records by their key; it tells its share whenever it is asked."""


@contextmanager
def running(project: Path, script: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script in a process of its own, until the block is left at the latest."""
    with subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=project,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def asked(process: subprocess.Popen[str]) -> list[str]:
    """What a process answers."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline().split()


def send(kafka: Brokers, topic: str, keys: Sequence[str], partitions: int) -> None:
    """Write a record for each key, by another's client; a key has one partition."""
    producer = Producer({"bootstrap.servers": kafka.address})
    for key in keys:
        producer.produce(topic, b"x", key, partition=int(key) % partitions)
    assert producer.flush(30) == 0


def committed(kafka: Brokers, topic: str) -> Mapping[str, Sequence[tuple[int, int]]]:
    """All that transactions have written, by key: each with its partition, in order."""
    consumer = Consumer(
        {"bootstrap.servers": kafka.address, "group.id": "none", "enable.partition.eof": True}
    )
    found = defaultdict(list)
    numbers = range(len(kafka.partitions(topic)))
    consumer.assign([TopicPartition(topic, number, 0) for number in numbers])
    ended = 0
    while ended < len(numbers):
        record = consumer.poll(30)
        assert record is not None
        if record.error() is not None:
            ended += 1
            continue
        key, value, at = record.key(), record.value(), record.partition()
        assert key is not None
        assert value is not None
        assert at is not None
        found[bytes(key).decode()].append((at, int.from_bytes(value, "big")))
    consumer.close()
    return found


def has(kafka: Brokers, topic: str, key: str, value: int) -> bool:
    """Whether the last that was written of a key is a value."""
    found = committed(kafka, topic).get(key, ())
    return len(found) > 0 and found[-1][1] == value


def test_e15_a_plain_script_counts_words_of_a_broker_without_spark(
    kafka: Brokers, project: Path
) -> None:
    source = kafka.topic()
    target = f"{source}-counts"
    tool(kafka, PRODUCER, "--topic", source, stdin="all streams lead to kafka\nhello kafka\n")
    with running(project, WORDS, source, target) as process:
        kafka.until(lambda: len(kafka.partitions(target)) > 0)
        shown = tool(
            kafka,
            *(CONSUMER, "--topic", target, "--from-beginning", "--max-messages", "7"),
            *("--property", "print.key=true", "--property", "key.separator= "),
            *("--value-deserializer", "org.apache.kafka.common.serialization.LongDeserializer"),
        )
        said, _ = process.communicate("end\n", timeout=60)
    words = ["all", "streams", "lead", "to", "kafka", "hello"]
    assert shown.splitlines() == [*(f"{word} 1" for word in words), "kafka 2"]
    assert said == "[] []\n"
    assert process.returncode == 0


@pytest.mark.kill
def test_e16_two_processes_share_the_partitions_and_one_takes_over_from_a_killed_one(
    kafka: Brokers, project: Path
) -> None:
    source = kafka.topic(4)
    target = f"{source}-counts"
    keys = [str(number % 8) for number in range(80)]
    send(kafka, source, keys, 4)
    with running(project, COUNTS, source, target) as one:
        eventually(lambda: len(asked(one)) == 4)
        with running(project, COUNTS, source, target) as other:
            eventually(lambda: (len(asked(one)), len(asked(other))) == (2, 2))
            assert {*asked(one), *asked(other)} == {f"0_{number}" for number in range(4)}
            table = tool(kafka, GROUPS, "--describe", "--group", target, "--members", "--verbose")
            shares = [
                word.split(":")[1]
                for word in table.split()
                if word[: len(source) + 1] == f"{source}:"
            ]
            assert sorted(",".join(shares).split(",")) == ["0", "1", "2", "3"]
            assert [share.count(",") for share in shares] == [1, 1]
            send(kafka, source, keys, 4)
            eventually(lambda: len(committed(kafka, target)) == 8)
            other.kill()
        send(kafka, source, keys, 4)
        eventually(lambda: len(asked(one)) == 4)
        eventually(lambda: sum(map(len, committed(kafka, target).values())) == 240)
    found = committed(kafka, target)
    # Each count once and in its order, though the process that had begun to count was killed.
    assert found == {
        key: [(found[key][0][0], count) for count in range(1, 31)] for key in set(keys)
    }


def test_e20_a_record_gives_its_result_before_the_next_is_there_and_late_ones_are_told(
    kafka: Brokers, project: Path
) -> None:
    source = kafka.topic()
    target = f"{source}-views"
    builder = ks.KStreamBuilder()
    views = builder.stream(source).count_by_key("V", window=ps.tumbling("1 minute"), grace="30s")
    views.to_stream().map(lambda at, count: (f"{at.start // 1000}", count)).to(
        ks.Serdes.string(), ks.Serdes.long(), target
    )
    producer = Producer({"bootstrap.servers": kafka.address})
    given = {5: ("0", 1), 65: ("60", 1), 50: ("0", 2), 95: ("60", 2)}
    with ks.KafkaStreams(builder, {"application.id": target, "max.poll.records": 1}):
        for at, (window, count) in given.items():
            producer.produce(source, b"x", "a", timestamp=1000 * at)
            assert producer.flush(30) == 0
            eventually(partial(has, kafka, target, window, count))
        producer.produce(source, b"x", "a", timestamp=40_000)
        assert producer.flush(30) == 0
        eventually(lambda: len(records(project / ".penstock", f"{target}.late")) == 1)
    assert records(project / ".penstock", f"{target}.late")[0]["time"] == 40_000
    assert committed(kafka, target) == {"0": [(0, 1), (0, 2)], "60": [(0, 1), (0, 2)]}
