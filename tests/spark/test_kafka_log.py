"""Programs whose log is Kafka: what they give on the embedded log, and once, whatever is killed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.plan import Plan, Sink
from penstock.spark.file_clock import FileClock
from tests.kafka.emptied import EmptiedBroker
from tests.spark.programs import (
    Jobs,
    append,
    chained,
    driven,
    folded,
    rows,
    stored_rows,
    visits,
    windowed,
    with_panes,
)
from tests.spark.test_program_kill import run_program

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def home(emptied_broker: EmptiedBroker, tmp_path: Path) -> Path:
    return emptied_broker.bind(tmp_path / "home")


@pytest.fixture
def log(home: Path) -> Iterator[Log]:
    with open_log(home) as opened:
        yield opened


@pytest.fixture
def jobs(spark: SparkSession, home: Path, tmp_path: Path) -> Jobs:
    return Jobs(spark, home, tmp_path / "job")


def test_a_window_gives_the_table_of_the_driver_and_its_lag_is_in_a_group(
    log: Log, jobs: Jobs
) -> None:
    given = rows(120)
    append(log, given[:70])
    jobs.start(windowed(), until="caught up", rows=50).await_end()
    append(log, given[70:])
    assert jobs.run(windowed(), rows=50).status == "ended"
    assert folded(stored_rows(log, "counts")) == folded(driven(windowed(), given).rows("counts"))
    ends = {TopicPartition("visits", number): 60 for number in range(2)}
    assert log.committed("windowed") == ends
    assert not (jobs.home / "log").exists()


def test_several_topics_of_one_batch_and_an_aggregate_of_a_retracting_one(
    log: Log, jobs: Jobs
) -> None:
    given = rows(90)
    append(log, given)
    jobs.run(chained(), rows=40)
    driver = driven(chained(), given)
    for topic in ("counts", "spread", "busy"):
        assert folded(stored_rows(log, topic)) == folded(driver.rows(topic)), topic


def test_many_rows_without_state_are_written_once_and_in_order(log: Log, jobs: Jobs) -> None:
    append(log, rows(20_000))
    jobs.run(Plan("copy", (Sink(visits(), "copy", keys=("page",)),)), rows=7_000)
    found = stored_rows(log, "copy")
    assert sorted(row["n"] for row in found) == list(range(20_000))
    of_page = [row["n"] for row in found if row["page"] == "/3" and row["n"] % 2]
    assert of_page == sorted(of_page)


def test_sparks_own_format_reads_the_brokers_address(
    log: Log, spark: SparkSession, emptied_broker: EmptiedBroker
) -> None:
    log.create_topic("clicks", partitions=2)
    for number in range(2):
        log.append("clicks", number, pa.table({"value": [b"a", b"b"], "_key": [b"k", None]}))
    found = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", emptied_broker.servers)
        .option("subscribe", "clicks")
        .load()
        .selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)", "partition", "offset")
        .collect()
    )
    assert sorted(map(tuple, found), key=str) == sorted(
        [(None, "b", 0, 1), (None, "b", 1, 1), ("k", "a", 0, 0), ("k", "a", 1, 0)], key=str
    )


@pytest.mark.kill
@pytest.mark.timeout(300)
def test_a_program_killed_three_times_gives_what_an_unkilled_one_does_on_the_embedded_log(
    emptied_broker: EmptiedBroker, tmp_path: Path
) -> None:
    kill_and_compare(emptied_broker, tmp_path, kills=3)


@pytest.mark.kill
@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_program_killed_a_hundred_times_gives_what_an_unkilled_one_does(
    emptied_broker: EmptiedBroker, tmp_path: Path
) -> None:
    kill_and_compare(emptied_broker, tmp_path, kills=100)


def kill_and_compare(broker: EmptiedBroker, folder: Path, *, kills: int) -> None:
    given = rows(80 * kills)
    moments = random.Random(7)
    broker.bind(folder / "killed" / "home")
    (folder / "whole").mkdir()
    for name in ("killed", "whole"):
        with open_log(folder / name / "home") as log:
            append(log, given)
        FileClock(folder / name / "clock").set(100_000)
    for _ in range(kills):
        run_program(folder / "killed", kill_after=(moments.randrange(4), moments.uniform(0, 0.5)))
    for name in ("killed", "whole"):
        run_program(folder / name)
    with open_log(folder / "killed" / "home") as killed, open_log(folder / "whole" / "home") as one:
        for sink in with_panes(chained()).sinks:
            found, expected = stored_rows(killed, sink.topic), stored_rows(one, sink.topic)
            assert sorted(map(str, found)) == sorted(map(str, expected)), sink.topic
            assert found, sink.topic
