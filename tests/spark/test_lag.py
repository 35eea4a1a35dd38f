"""How far a job is behind: in its progress, as a consumer group, and to producers it slows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.kernel.port import START_OF_TIME
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.pressure import Pressure, lag_of
from penstock.log.producer import Producer
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.progress import PartitionPosition, Progress
from penstock.plan.planner import plan
from penstock.spark.admission import BatchLimits
from penstock.spark.batch import first_marks
from penstock.spark.lag_group import commit_lag, lag_groups, with_available
from penstock.spark.program_admission import PacedLimits, sample_of
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_progress import program_progress
from penstock.spark.progress_file import Left
from penstock.spark.run import start
from tests.spark.programs import append, rows, stored_rows, visits

TOLD: dict[str, Any] = {
    "clock": 1_000,
    "counts": {"scan-t": [40, 40, 0, 0, 0, 40, 0]},
    "base": {},
    "skew": {},
    "state": {},
    "millis": 300,
    "history": [],
}
PLACES = (TopicPartition("t", 0), TopicPartition("t", 1))


def left(batch: int, *positions: int, **told: object) -> Left:
    at = ProgramOffset(
        dict(zip(PLACES, positions, strict=True)), {"t": "id"}, 1_000, first_marks(0)
    )
    marks: dict[str, Any] = {"reached": START_OF_TIME, "started_at": 0, "marks": []}
    return Left(batch, at, marks, None, {**TOLD, **told})


@pytest.fixture
def physical() -> Physical:
    return plan(Plan("shop", (Sink(visits("t"), "out"),)))


@pytest.fixture
def topic(log: EmbeddedLog) -> EmbeddedLog:
    log.create_topic("t", partitions=2)
    for partition in range(2):
        log.append("t", partition, rows_of_bytes([b"v"] * 5))
    return log


def test_progress_tells_where_each_partition_is_and_what_waits(
    topic: EmbeddedLog, physical: Physical
) -> None:
    told = with_available(left(3, 5, 2), topic, physical)
    progress = program_progress(told, physical)
    assert progress.positions == (
        PartitionPosition("t", 0, 5, 5),
        PartitionPosition("t", 1, 2, 5),
    )
    assert [place.lag for place in progress.positions] == [0, 3]
    assert (progress.lag, progress.batch, progress.batch_rows) == (3, 3, 40)
    # A checkpoint of an earlier version does not say where partitions ended.
    assert program_progress(left(3, 5, 2), physical).lag == 0


def test_positions_are_committed_where_they_moved_or_may_not_have_been(
    topic: EmbeddedLog, physical: Physical
) -> None:
    commit_lag(topic, physical, left(0, 2, 0), None)
    assert topic.committed("shop") == {PLACES[0]: 2, PLACES[1]: 0}
    topic.commit("shop", {PLACES[0]: 0})
    commit_lag(topic, physical, left(1, 2, 0), left(0, 2, 0))
    assert topic.committed("shop")[PLACES[0]] == 0
    # Run again after a crash it finds what it has left itself, and commits.
    commit_lag(topic, physical, left(1, 2, 0), left(1, 2, 0))
    assert topic.committed("shop")[PLACES[0]] == 2
    commit_lag(topic, physical, left(2, 5, 5), left(1, 2, 0))
    assert lag_of(topic, "shop", "t") == 0


def test_a_group_that_somebody_reads_with_is_left_alone(
    topic: EmbeddedLog, physical: Physical
) -> None:
    member = topic.join("shop", ["t"])
    member.heartbeat()
    commit_lag(topic, physical, left(0, 5, 5), None)
    assert topic.committed("shop") == {}
    member.leave()


def test_files_have_no_group(tmp_path: Path) -> None:
    files = replace(visits("t"), files=str(tmp_path / "*.csv"))
    physical = plan(Plan("shop", (Sink(files, "out"),)))
    assert lag_groups(physical) == {"shop": frozenset()}


def options(**more: Any) -> ProgramOptions:  # noqa: ANN401
    return ProgramOptions(home="", program="", folder="", job="j", scans=(("scan-t", "t"),), **more)


def test_batches_follow_the_time_their_owner_gives_them_and_begin_where_the_last_run_was() -> None:
    given = BatchLimits(rows=100_000)
    assert PacedLimits(options(limits=given)).after(left(0, 1, 1)) == given
    paced = PacedLimits(options(limits=given, latency=1.0))
    assert paced.any
    assert paced.after(None).rows == 10_000
    counts = {"scan-t": [20_000, 0, 0, 0, 0, 0, 0]}
    slow = left(7, 1, 1, counts=counts, millis=3_800, ready_at=5_000)
    assert paced.after(slow).rows == 4_000
    # Asked again about the same batch nothing is learned twice.
    assert paced.after(slow).rows == 4_000


def test_a_batch_counts_from_when_it_was_planned_unless_it_was_run_again() -> None:
    scans = frozenset({"scan-t"})
    assert sample_of(left(0, 1, 1, ready_at=1_500), scans) == (40, 500)
    assert sample_of(left(0, 1, 1, ready_at=9_000_000), scans) == (40, 300)
    assert sample_of(left(0, 1, 1), scans) == (40, 300)


@contextmanager
def running(
    spark: SparkSession, home: Path, checkpoint: Path, how: JobSettings, told: list[Progress]
) -> Iterator[None]:
    physical = plan(Plan("paced", (Sink(visits(), "copies"),)), Settings(1, 1))
    query = start(
        physical, home=home, checkpoint=checkpoint, session=spark, how=how, on_progress=told.append
    )
    try:
        yield
    finally:
        query.stop()
    assert query.error is None


@pytest.mark.spark
def test_a_slow_job_slows_its_producer_loses_nothing_and_shows_its_lag_as_a_group(
    spark: SparkSession, home: Path, tmp_path: Path, log: EmbeddedLog
) -> None:
    append(log, rows(400))
    told: list[Progress] = []
    how = JobSettings(batch_rows=200, latency=timedelta(seconds=30))
    most = 300
    worst = 0
    with running(spark, home, tmp_path / "job", how, told):
        pressure = Pressure(group="paced", max_lag=most, buffer_bytes=4_000)

        def send() -> None:
            with Producer(log, pressure=pressure, linger=timedelta(0)) as producer:
                for row in rows(1000, first=400):
                    producer.send("visits", row)

        sender = threading.Thread(target=send)
        sender.start()
        end = time.monotonic() + 60
        while sender.is_alive() or lag_of(log, "paced", "visits"):
            assert time.monotonic() < end
            worst = max(worst, lag_of(log, "paced", "visits"))
            time.sleep(0.01)
    # The backlog there was is worked off first; then the producer is as fast as the job.
    assert worst <= max(400, most) + 200
    assert len(stored_rows(log, "copies")) == 1400
    assert len({row["n"] for row in stored_rows(log, "copies")}) == 1400
    assert [progress.batch for progress in told] == list(range(len(told)))
    assert all(progress.batch_rows <= 200 for progress in told)
    assert len(told) >= 7
    assert told[-1].lag == 0
