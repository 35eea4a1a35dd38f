"""Kafka Streams programs on Spark: the same results as in one process."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock as ps
import penstock.streams as ks
from penstock.log.embedded.log import EmbeddedLog
from tests.requirements.homes import records

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def word_count(home: Path) -> ks.KafkaStreams:
    builder = ks.KStreamBuilder()
    words = builder.stream("lines").flat_map_values(str.split)
    counts = words.group_by(lambda _, word: word).count("Counts")
    counts.to_stream().to(ks.Serdes.string(), ks.Serdes.long(), "counts")
    builder.table("users").filter(lambda _, name: name != "nobody").to("somebody")
    props = {"application.id": "words", "penstock.home": home, "penstock.engine": "spark"}
    return ks.KafkaStreams(builder, props)


def send(log: EmbeddedLog, topic: str, *pairs: tuple[bytes | None, bytes | None]) -> None:
    with ps.Producer(log) as producer:
        for key, value in pairs:
            producer.send(topic, value, key=key)


def wait_for(home: Path, topic: str, number: int) -> None:
    deadline = time.monotonic() + 120
    while len(records(home, topic)) < number:
        assert time.monotonic() < deadline, f"{topic} has no {number} records"
        time.sleep(0.1)


def test_a_program_runs_on_spark_and_goes_on_after_a_restart(
    spark: SparkSession, home: Path, log: EmbeddedLog
) -> None:
    log.create_topic("lines", partitions=2)
    log.create_topic("users")
    send(log, "lines", (None, b"all streams lead to kafka"), (None, b"hello kafka"))
    send(log, "users", (b"1", b"Ann"), (b"2", b"Bob"))
    with word_count(home) as streams:
        wait_for(home, "counts", 7)
        wait_for(home, "somebody", 2)
        assert streams.state == "running"
        assert len(streams.tasks) == 2
    assert streams.state == "closed"
    send(log, "lines", (None, b"kafka again"))
    send(log, "users", (b"1", b"nobody"), (b"2", None))
    with word_count(home) as streams:
        wait_for(home, "counts", 9)
        wait_for(home, "somebody", 4)
        assert streams.store("Counts").get("kafka") == 3
    assert [row["value"] for row in records(home, "somebody")][2:] == [None, None]
