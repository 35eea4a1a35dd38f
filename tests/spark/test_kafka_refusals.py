"""Jobs whose topics on Kafka are deleted, emptied, damaged or too small: they end with a code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from penstock.errors import PenstockError
from penstock.log.kafka.log import KafkaLog
from penstock.log.kafka.properties import kafka_place
from penstock.log.topic import TopicConfig
from penstock.model.plan import Plan, Sink
from tests.eventually import eventually
from tests.kafka.emptied import EmptiedBroker
from tests.spark.programs import VISITS, Jobs, append, rows, stored_rows, visits

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LONGEST = timedelta(seconds=60)
"""By then a job that cannot go on has said so."""
_LONG = 40_000


@pytest.fixture
def log(emptied_broker: EmptiedBroker) -> Iterator[KafkaLog]:
    with KafkaLog(kafka_place(emptied_broker.address, {})) as opened:
        yield opened


@pytest.fixture
def jobs(spark: SparkSession, log: KafkaLog, emptied_broker: EmptiedBroker, tmp_path: Path) -> Jobs:
    return Jobs(spark, emptied_broker.bind(tmp_path / "home"), tmp_path / "job")


def copy() -> Plan:
    return Plan("copy", (Sink(visits(), "copy", keys=("page",)),))


def test_a_topic_deleted_under_a_running_job_stops_it_and_a_new_one_is_another(
    log: KafkaLog, jobs: Jobs
) -> None:
    append(log, rows(20))
    query = jobs.start(copy())
    eventually(lambda: query.progress is not None)
    log.delete_topic("visits")
    with pytest.raises(PenstockError, match="TOPIC_MISSING"):
        query.await_end(LONGEST)
    append(log, rows(20, first=20))
    with pytest.raises(PenstockError, match="TOPIC_REPLACED"):
        jobs.run(copy())


def test_a_topic_that_a_running_job_writes_is_missed_when_it_is_deleted(
    log: KafkaLog, jobs: Jobs
) -> None:
    append(log, rows(20))
    query = jobs.start(copy())
    eventually(lambda: query.progress is not None)
    log.delete_topic("copy")
    append(log, rows(20, first=20))
    with pytest.raises(PenstockError, match="TOPIC_MISSING"):
        query.await_end(LONGEST)


def test_records_that_went_before_a_job_read_them_stop_it(log: KafkaLog, jobs: Jobs) -> None:
    append(log, rows(20))
    jobs.start(copy(), until="caught up").await_end(LONGEST)
    append(log, rows(20, first=20))
    log.delete_records("visits", 0, before_offset=15)
    with pytest.raises(PenstockError, match="OFFSET_EXPIRED"):
        jobs.start(copy(), until="caught up").await_end(LONGEST)


def test_a_value_whose_schema_is_not_in_the_registry_stops_the_job(
    log: KafkaLog, jobs: Jobs, emptied_broker: EmptiedBroker
) -> None:
    append(log, rows(20))
    stranger = Producer({"bootstrap.servers": emptied_broker.servers})
    stranger.produce("visits", b"\x00\x00\x00\x27\x0f\x02", partition=1)
    assert stranger.flush(30) == 0
    with pytest.raises(PenstockError, match="VALUE_DECODE") as refused:
        jobs.start(copy(), until="caught up").await_end(LONGEST)
    assert "9999" in str(refused.value)


def test_a_row_too_large_for_the_topic_stops_the_job_and_nothing_of_its_batch_is_seen(
    log: KafkaLog, jobs: Jobs
) -> None:
    append(log, rows(20))
    log.create_topic("copy", schema=VISITS, config=TopicConfig(max_record_bytes=_LONG // 2))
    jobs.start(copy(), until="caught up").await_end(LONGEST)
    large = rows(1, first=20)[0] | {"page": "x" * _LONG}
    append(log, [*rows(4, first=21), large])
    with pytest.raises(PenstockError, match="RECORD_TOO_LARGE"):
        jobs.start(copy(), until="caught up").await_end(LONGEST)
    assert sorted(row["n"] for row in stored_rows(log, "copy")) == list(range(20))
    log.configure_topic("copy", TopicConfig())
    # The log that jobs of this process share believes what it was told for a second.
    time.sleep(1.2)
    jobs.start(copy(), until="caught up").await_end(LONGEST)
    assert sorted(row["n"] for row in stored_rows(log, "copy")) == list(range(25))
