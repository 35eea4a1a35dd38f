"""Programs that run on: what the clock, late rows and rows without a time do to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.log.embedded.log import EmbeddedLog
from penstock.model.plan import Plan, Sink
from penstock.model.trigger import AfterDelay, Repeat
from penstock.spark.file_clock import FileClock
from penstock.spark.query import ProgramQuery
from tests.spark.programs import Jobs, Row, append, by_page, stored_rows, visits

pytestmark = pytest.mark.spark
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def clock(tmp_path: Path) -> FileClock:
    clock = FileClock(tmp_path / "clock")
    clock.set(millis(NOON))
    return clock


@pytest.fixture
def jobs(spark: SparkSession, home: Path, tmp_path: Path) -> Jobs:
    return Jobs(spark, home, tmp_path / "job")


@pytest.fixture
def started(jobs: Jobs, clock: FileClock) -> Iterator[Callable[[Plan], ProgramQuery]]:
    running: list[ProgramQuery] = []

    def begin(program: Plan) -> ProgramQuery:
        running.append(jobs.start(program, clock=clock))
        return running[-1]

    yield begin
    for query in running:
        query.stop()


def millis(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def visit(page: str, seconds: float | None, n: int = 1) -> Row:
    at = None if seconds is None else NOON + timedelta(seconds=seconds)
    return {"page": page, "n": n, "at": at}


def wait_for(query: ProgramQuery, what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        if query.error is not None:
            raise query.error
        assert time.monotonic() < end
        time.sleep(0.02)


def batch(query: ProgramQuery) -> int:
    progress = query.progress
    return -1 if progress is None else progress.batch


def test_panes_come_when_the_clock_says_and_between_them_nothing_runs(
    log: EmbeddedLog, clock: FileClock, started: Callable[[Plan], ProgramQuery]
) -> None:
    every = Repeat(AfterDelay(timedelta(seconds=10)))
    counts = by_page(visits(idle=None), 3600, trigger=every)
    append(log, [visit("/a", 1), visit("/b", 2)])
    query = started(Plan("panes", (Sink(counts, "counts"),)))
    wait_for(query, lambda: batch(query) == 0)
    clock.set(millis(NOON) + 9_999)
    time.sleep(0.5)
    assert batch(query) == 0
    assert stored_rows(log, "counts") == []
    clock.set(millis(NOON) + 10_000)
    wait_for(query, lambda: len(stored_rows(log, "counts")) == 2)
    append(log, [visit("/a", 3, 5)])
    wait_for(query, lambda: batch(query) == 2)
    # Set back, the clock stands still for the program.
    clock.set(millis(NOON))
    time.sleep(0.3)
    assert len(stored_rows(log, "counts")) == 2
    clock.set(millis(NOON) + 60_000)
    wait_for(query, lambda: len(stored_rows(log, "counts")) == 3)
    assert {(r["page"], r["visits"], r["total"]) for r in stored_rows(log, "counts")} == {
        ("/a", 1, 1),
        ("/b", 1, 1),
        ("/a", 2, 6),
    }
    time.sleep(0.3)
    assert batch(query) == 3


def test_an_idle_partition_is_left_out_and_late_and_timeless_rows_are_kept_beside(
    log: EmbeddedLog, clock: FileClock, started: Callable[[Plan], ProgramQuery]
) -> None:
    source = visits(delay=timedelta(0), idle=timedelta(seconds=30), max_ahead=timedelta(hours=1))
    timeless = [visit("/b", None), visit("/c", 9e8)]
    append(log, [visit("/a", 1), visit("/b", 25), visit("/a", 31), *timeless])
    query = started(Plan("late", (Sink(by_page(source), "counts"),)))
    # The other partition is at 25 seconds: the windows from 20 on stay open.
    wait_for(query, lambda: [row["page"] for row in stored_rows(log, "counts")] == ["/a"])
    errors = sorted(row["error"] for row in stored_rows(log, "counts.dead"))
    assert [error[:18] for error in errors] == ["[EVENT_TIME_AHEAD]", "[EVENT_TIME_NULL] "]
    clock.set(millis(NOON) + 20_000)
    append(log, [visit("/a", 41)])
    wait_for(query, lambda: batch(query) == 1)
    clock.set(millis(NOON) + 30_000)
    wait_for(query, lambda: len(stored_rows(log, "counts")) == 3)
    append(log, [visit("/late", 5)])
    wait_for(query, lambda: len(stored_rows(log, "counts.late")) == 1)
    progress = query.progress
    assert progress is not None
    assert progress.watermark == millis(NOON) + 41_000
    assert all(account.balanced for account in progress.accounts)
    assert next(a for a in progress.accounts if a.operator == "agg-1").late == 1
