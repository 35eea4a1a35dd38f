"""A streaming job that stops at any step and is started again writes each record once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from penstock.log.embedded.log import EmbeddedLog
from tests.spark.conftest import VIEWS, values, view_rows
from tests.spark.faulty import STEPS, FaultyFormat, arm, is_armed
from tests.spark.pipes import Pipes

pytestmark = pytest.mark.spark


@pytest.fixture
def faulty(spark: SparkSession, pipes: Pipes) -> Pipes:
    spark.dataSource.register(FaultyFormat)
    return replace(pipes, format="faulty")


@pytest.mark.parametrize("step", STEPS)
def test_a_job_stopped_at_any_step_between_read_and_commit_goes_on_exactly(
    log: EmbeddedLog, home: Path, faulty: Pipes, pipes: Pipes, step: str
) -> None:
    log.create_topic("views", partitions=2, schema=VIEWS)
    log.create_topic("copy", partitions=3, schema=VIEWS)
    log.append("views", 0, view_rows(50))
    log.append("views", 1, view_rows(50, 1))
    _run(faulty)
    log.append("views", 0, view_rows(40, 0, first=50))
    log.append("views", 1, view_rows(40, 1, first=50))
    arm(home, step)
    with pytest.raises(StreamingQueryException, match=f"fault at {step}"):
        _run(faulty)
    assert not is_armed(home)
    log.append("views", 0, view_rows(10, 0, first=90))
    _run(faulty)
    assert values(pipes.table("copy")) == values(pipes.table("views"))
    assert pipes.table("copy").count() == 190
    assert not list((home / "staging").rglob("*.arrows"))


def test_a_batch_whose_commit_spark_forgot_is_not_written_twice(
    log: EmbeddedLog, pipes: Pipes
) -> None:
    log.create_topic("views", partitions=2, schema=VIEWS)
    log.create_topic("copy", partitions=3, schema=VIEWS)
    log.append("views", 0, view_rows(90))
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
    assert values(pipes.table("copy")) == [*range(90), *range(1_000_000, 1_000_005)]


def test_a_new_checkpoint_is_a_new_query_and_nothing_of_it_is_dropped(
    log: EmbeddedLog, pipes: Pipes, tmp_path: Path
) -> None:
    log.create_topic("views", partitions=2, schema=VIEWS)
    log.create_topic("copy", schema=VIEWS)
    log.append("views", 0, view_rows(70))
    _run(pipes)
    _run(replace(pipes, checkpoint=tmp_path / "another"))
    assert values(pipes.table("copy")) == sorted([*range(70), *range(70)])


def _run(pipes: Pipes) -> None:
    pipes.run(pipes.stream("views", maxRowsPerBatch=30).select("_key", "userid", "n"), topic="copy")
