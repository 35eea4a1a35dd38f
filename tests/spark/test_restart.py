"""A streaming job that stops at any step and is started again writes each record once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from penstock.log.embedded.log import EmbeddedLog
from tests.spark.conftest import VIEWS, stored, view_rows
from tests.spark.faulty import STEPS, FaultyFormat, arm, is_armed
from tests.spark.pipes import Pipes

pytestmark = pytest.mark.spark


@pytest.fixture
def faulty(spark: SparkSession, pipes: Pipes) -> Pipes:
    spark.dataSource.register(FaultyFormat)
    return replace(pipes, format="faulty")


def test_a_job_stopped_at_every_step_between_read_and_commit_writes_each_record_once(
    log: EmbeddedLog, home: Path, faulty: Pipes
) -> None:
    log.create_topic("views", partitions=2, schema=VIEWS)
    log.create_topic("copy", partitions=3, schema=VIEWS)
    given: list[int] = []
    # Each start runs the batch that the fault before it stopped, then meets its own fault.
    for number, step in enumerate(STEPS):
        for partition in range(2):
            rows = view_rows(40, partition, first=40 * number)
            log.append("views", partition, rows)
            given += rows.column("n").to_pylist()
        arm(home, step)
        with pytest.raises(StreamingQueryException, match=f"fault at {step}"):
            _run(faulty)
        assert not is_armed(home), step
        seen = stored(log, "copy")
        assert len(set(seen)) == len(seen), f"written twice after a fault at {step}"
    _run(faulty)
    assert stored(log, "copy") == sorted(given)
    assert not list((home / "staging").rglob("*.arrows"))


def test_a_batch_whose_commit_spark_forgot_is_not_written_twice(
    log: EmbeddedLog, pipes: Pipes
) -> None:
    log.create_topic("views", partitions=2, schema=VIEWS)
    log.create_topic("copy", partitions=3, schema=VIEWS)
    log.append("views", 0, view_rows(120))
    _run(pipes)
    commits = sorted(
        (file for file in (pipes.checkpoint / "commits").iterdir() if file.name.isdigit()),
        key=lambda file: int(file.name),
    )
    assert len(commits) == 3
    commits[-1].unlink()
    (commits[-1].parent / f".{commits[-1].name}.crc").unlink(missing_ok=True)
    log.append("views", 1, view_rows(5, 1))
    _run(pipes)
    assert stored(log, "copy") == [*range(120), *range(1_000_000, 1_000_005)]


def test_a_new_checkpoint_is_a_new_query_and_nothing_of_it_is_dropped(
    log: EmbeddedLog, pipes: Pipes, tmp_path: Path
) -> None:
    log.create_topic("views", partitions=2, schema=VIEWS)
    log.create_topic("copy", schema=VIEWS)
    log.append("views", 0, view_rows(70))
    _run(pipes)
    _run(replace(pipes, checkpoint=tmp_path / "another"))
    assert stored(log, "copy") == sorted([*range(70), *range(70)])


def _run(pipes: Pipes) -> None:
    pipes.run(pipes.stream("views", maxRowsPerBatch=50).select("_key", "userid", "n"), topic="copy")
