"""A batch of few rows is one task's: it takes its rows through all levels, with no exchange."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.log.embedded.log import EmbeddedLog
from penstock.model.plan import Plan
from penstock.spark.failpoints import FAILING
from penstock.spark.file_clock import FileClock
from tests.spark.programs import Jobs, append, chained, records, renamed, rows, with_panes

pytestmark = pytest.mark.spark
TOPICS = ("counts", "spread", "busy", "panes")
LEVELS = 2


@pytest.fixture
def jobs(spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path) -> Jobs:
    append(log, rows(55))
    return Jobs(spark, home, tmp_path / "job")


def stages_of(spark: SparkSession, run: str) -> list[int]:
    """How many stages each job of a run had, the first job first."""
    tracker = spark.sparkContext.statusTracker()
    jobs = sorted(tracker.getJobIdsForGroup(run))
    found = (tracker.getJobInfo(job) for job in jobs)
    return [len(info.stageIds) for info in found if info is not None]


def ran(jobs: Jobs, clock: Path, program: Plan, **more: object) -> list[int]:
    """Run a program over what there is in batches of ten rows; give the stages of each."""
    moments = FileClock(clock)
    moments.set(100_000)
    query = jobs.run(program, rows=10, clock=moments, **more)
    return stages_of(jobs.spark, str(query._query.runId))  # Spark knows jobs by it


def given(log: EmbeddedLog, topic: str) -> list[dict[str, object]]:
    """All records of a topic at their places, but for when they were written."""
    return [
        {name: value for name, value in row.items() if name != "_timestamp"}
        for row in records(log, topic)
    ]


def test_batches_that_are_a_whole_give_what_every_other_one_and_none_gives(
    jobs: Jobs, log: EmbeddedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = with_panes(chained())
    others = {"-mixed": {"parts": FAILING}, "-apart": {}}
    found = {"": ran(jobs, tmp_path / "clock", program)}
    for suffix, more in others.items():
        if suffix == "-apart":
            monkeypatch.setattr("penstock.spark.run.rows_of_a_whole", lambda _: None)
        else:
            monkeypatch.undo()
        side = Jobs(jobs.spark, jobs.home, tmp_path / f"job{suffix}")
        found[suffix] = ran(side, tmp_path / "clock", renamed(program, suffix), **more)
    assert set(found[""]) == {1}
    assert set(found["-mixed"]) == {1, 1 + LEVELS}
    assert set(found["-apart"]) == {1 + LEVELS}
    for topic in TOPICS:
        wanted = given(log, topic)
        assert wanted, topic
        for suffix in others:
            assert given(log, topic + suffix) == wanted, topic + suffix


def test_more_rows_than_one_task_is_to_do_are_exchanged(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.spark.run.rows_of_a_whole", lambda _: 9)
    # Batches of ten rows, and one of five.
    assert ran(jobs, tmp_path / "clock", chained()) == [1 + LEVELS] * 5 + [1]
