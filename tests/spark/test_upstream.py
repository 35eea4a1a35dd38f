"""H10: a job that keeps no checkpoint makes its state anew from the log, and trims what it can."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError, StateError
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.job_settings import JobSettings
from penstock.spark import acknowledge
from penstock.spark.batch_log import batch_topic
from penstock.spark.file_clock import FileClock
from penstock.spark.run import PARTS, Parts
from tests.spark.faulty import arm
from tests.spark.faulty_program import FAULTY
from tests.spark.programs import (
    Jobs,
    Row,
    append,
    batched,
    chained,
    driven,
    folded,
    rows,
    stored_rows,
    windowed,
    with_panes,
)
from tests.spark.test_persist import expected, in_store
from tests.spark.test_persist import program as persisting

pytestmark = pytest.mark.spark

UPSTREAM = JobSettings(recovery="upstream")
TRIMMING = JobSettings(recovery="upstream", trim=True)
LAST = "commit log not yet written"


@pytest.mark.timeout(400)
def test_an_empty_start_makes_the_state_anew_and_gives_nothing_twice(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    # Early panes by the clock, and a count that remembers without an end.
    program = with_panes(chained())
    jobs = Jobs(spark, home, tmp_path / "job")
    clock = FileClock(tmp_path / "clock")
    batches: list[tuple[int, list[Row]]] = []

    def run(parts: Parts = PARTS) -> None:
        shutil.rmtree(jobs.checkpoint, ignore_errors=True)
        jobs.start(program, clock=clock, until="caught up", parts=parts, how=UPSTREAM).await_end()

    for number, step in enumerate(("", "progress written", "after append", LAST)):
        batches.append((100_000 + 7_000 * number, rows(12, first=12 * number)))
        clock.set(batches[-1][0])
        append(log, batches[-1][1])
        if step:
            arm(home, step)
            with pytest.raises(RunError, match=f"fault at {step}"):
                run(FAULTY)
        run()
    wanted = batched(program, batches)
    for topic, given in wanted.items():
        assert sorted(map(str, stored_rows(log, topic))) == sorted(map(str, given)), topic
    assert wanted["panes"]


@pytest.mark.timeout(400)
def test_what_no_open_window_needs_is_trimmed_and_the_rest_read_again(
    spark: SparkSession,
    log: EmbeddedLog,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(acknowledge, "_EVERY", 0.0)
    jobs = Jobs(spark, home, tmp_path / "job")
    given: list[Row] = []
    for number in range(4):
        given += (more := rows(60, first=60 * number))
        append(log, more)
        shutil.rmtree(jobs.checkpoint, ignore_errors=True)
        query = jobs.start(windowed(), rows=20, until="caught up", how=TRIMMING)
        query.await_end()
    starts = {at.partition: bound for at, bound in log.snapshot(["visits"]).items()}
    # Two minutes of rows went by; windows of ten seconds are open for twenty at most.
    assert all(60 <= bound.start < bound.end - 5 for bound in starts.values())
    needed = log.committed("windowed.needed")
    assert {at.partition: offset for at, offset in needed.items()} == {
        number: bound.start for number, bound in starts.items()
    }
    noted = log.bounds(batch_topic("windowed", "job"), 0)
    assert 0 < noted.start < noted.end
    # It was not read from the first row again: there is none any more.
    assert query.progress is not None
    jobs.start(windowed(), until="end", how=TRIMMING).await_end()
    driver = driven(windowed(), given)
    assert folded(stored_rows(log, "counts")) == folded(driver.rows("counts"))
    assert len(stored_rows(log, "counts")) == len(driver.rows("counts"))


def test_rows_reach_a_store_once_without_a_checkpoint(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    store = tmp_path / "results.sqlite"
    jobs = Jobs(spark, home, tmp_path / "job")
    program = persisting(store).plan()
    given: list[Row] = []
    # The store has the rows of the batch, the log has not; and then both, though nobody knows.
    for number, step in enumerate(("decide", LAST)):
        given += (more := rows(12, first=12 * number))
        append(log, more)
        arm(home, step)
        with pytest.raises(RunError, match=f"fault at {step}"):
            jobs.start(program, until="caught up", parts=FAULTY, how=UPSTREAM).await_end()
        shutil.rmtree(jobs.checkpoint)
        jobs.start(program, until="caught up", how=UPSTREAM).await_end()
        for statement, wanted in expected(given).items():
            assert in_store(store, statement) == wanted, step
    # A rebuild forgets what was given, and gives all of it again.
    persisting(store).run(home=home, checkpoint=jobs.checkpoint, bounded=True, rebuild=True)
    for statement, wanted in expected(given).items():
        assert in_store(store, statement) == wanted
    with pytest.raises(StateError, match="RECOVERY_CHANGED"):
        jobs.start(program, how=UPSTREAM)


def test_a_job_that_needs_all_rows_for_ever_does_not_trim(
    log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    append(log, rows(2))
    jobs = Jobs(None, home, tmp_path / "job")  # type: ignore[arg-type]  # refused before Spark
    with pytest.raises(RunError, match="TRIM_UNBOUNDED"):
        jobs.start(chained(), how=TRIMMING)
    with pytest.raises(RunError, match="TRIM_UNSUPPORTED"):
        jobs.start(windowed(), how=JobSettings(recovery="active", trim=True))
