"""A stopped program goes on with more or fewer tasks: nothing is lost, nothing comes twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError, StateError, UsageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.spark.file_clock import FileClock
from penstock.spark.rescale import rescale
from tests.spark.faulty import arm
from tests.spark.faulty_program import FAULTY
from tests.spark.programs import (
    Jobs,
    Row,
    append,
    batched,
    chained,
    folded,
    rows,
    stored_rows,
    with_panes,
)

pytestmark = pytest.mark.spark


@pytest.mark.timeout(300)
def test_a_program_rescaled_after_a_crash_keeps_its_state_its_place_and_its_counts(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    program = with_panes(chained())
    jobs = Jobs(spark, home, tmp_path / "job")
    clock = FileClock(tmp_path / "clock")
    batches: list[tuple[int, list[Row]]] = []

    def more() -> None:
        batches.append((100_000 + 7_000 * len(batches), rows(25, first=25 * len(batches))))
        clock.set(batches[-1][0])
        append(log, batches[-1][1])

    more()
    arm(home, "after decide")
    with pytest.raises(RunError, match="fault"):
        jobs.start(program, clock=clock, until="caught up", parts=FAULTY).await_end()
    rescale(home, jobs.checkpoint, 3, session=spark)
    more()
    with pytest.raises(StateError, match="CHECKPOINT_PARALLELISM"):
        jobs.start(program)
    jobs = jobs.with_settings(parallelism=3)
    jobs.start(program, clock=clock, until="caught up").await_end()
    rescale(home, jobs.checkpoint, 1, session=spark)
    jobs = jobs.with_settings(parallelism=1)
    # The clock alone makes the next batch due: what waits is remembered, too.
    batches.append((200_000, []))
    clock.set(200_000)
    query = jobs.start(program, clock=clock, until="caught up")
    query.await_end()
    for topic, wanted in batched(program, batches).items():
        found = stored_rows(log, topic)
        assert sorted(map(str, found)) == sorted(map(str, wanted)), topic
        assert folded(found) == folded(wanted), topic
    progress = query.progress
    assert progress is not None
    assert {a.operator: a.taken for a in progress.accounts}["scan-visits"] == 50


def test_what_is_not_a_stopped_job_is_not_rescaled(
    spark: SparkSession, home: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="PARALLELISM"):
        rescale(home, tmp_path / "job", 0, session=spark)
    with pytest.raises(StateError, match="CHECKPOINT_MISSING"):
        rescale(home, tmp_path / "job", 2, session=spark)
