"""kill -9 of the process that leads a job: its standby goes on, and nothing is lost or doubled."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

from penstock.jobs.record import new_job
from penstock.jobs.recovery import recovery_lines, recovery_of
from penstock.jobs.run import run_job
from penstock.jobs.stop import ask_to_stop, wait_for_end
from penstock.jobs.store import job_store
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.model.job_settings import JobSettings
from penstock.plan.planner import plan
from penstock.spark.admission import BatchLimits
from penstock.spark.standby.pair import ActiveOptions, ActiveQuery, start_active
from penstock.spark.standby_files import STANDBY, Sides
from tests.eventually import eventually
from tests.spark.programs import Jobs, append, chained, driven, folded, rows, stored_rows

pytestmark = [pytest.mark.spark, pytest.mark.kill]

PROJECT = Path(__file__).resolve().parents[2]
ACTIVE = JobSettings(recovery="active")
STEP = 80


@pytest.mark.timeout(300)
def test_a_standby_goes_on_where_a_killed_lead_was(spark: SparkSession, tmp_path: Path) -> None:
    kill_and_compare(spark, tmp_path, kills=1)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_standby_goes_on_ten_times(spark: SparkSession, tmp_path: Path) -> None:
    kill_and_compare(spark, tmp_path, kills=int(os.environ.get("SOAK_CYCLES", "10")))


def kill_and_compare(spark: SparkSession, folder: Path, *, kills: int) -> None:
    pair = Pair(spark, folder)
    moments = random.Random(5)
    given = rows(STEP * (3 * kills + 1))
    feed = (given[at : at + STEP] for at in range(0, len(given), STEP))
    with open_log(pair.home) as log:
        append(log, next(feed))
        for _ in range(kills):
            pair.lead_dies(log, feed, moments.uniform(0, 0.5))
        Jobs(spark, pair.home, pair.checkpoint).run(chained(), rows=40)
        driver = driven(chained(), given)
        for topic in ("counts", "spread", "busy"):
            assert folded(stored_rows(log, topic)) == folded(driver.rows(topic)), topic


class Pair:
    """A lead in a process of its own, and a standby in this one."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.home = folder / "home"
        self.checkpoint = folder / "job"
        self.sides = Sides(self.checkpoint)
        self.store = job_store(self.home)
        self.query: ActiveQuery | None = None

    def lead_dies(
        self, log: EmbeddedLog, feed: Iterator[list[dict[str, object]]], after: float
    ) -> None:
        with self.child() as lead, self.standby() as run:
            eventually(lambda: self.done == self.sides.files(self.sides.lead.side).committed > 0)
            before = self.done
            append(log, next(feed))
            eventually(lambda: self.done > before)
            append(log, next(feed))
            time.sleep(after)
            term = self.sides.lead.term
            os.killpg(lead.pid, signal.SIGKILL)
            append(log, next(feed))
            eventually(lambda: self.query is not None and self.query.leads)
            assert self.sides.lead.term == term + 1
            eventually(lambda: self.has_reported(run))
            report = recovery_of(self.store, str(self.checkpoint))
            assert report is not None
            assert (report.kind, report.run) == ("active", run)
            assert (report.lost, report.duplicated) == (0, 0)
            assert report.seconds is not None
            assert report.seconds > 0
            assert "to the first new result: noticed" in list(recovery_lines(report))[-1]

    @property
    def done(self) -> int:
        """The last batch that the standby has done."""
        assert self.query is not None
        progress = self.query.progress
        return -1 if progress is None else progress.batch

    def has_reported(self, run: str) -> bool:
        """Whether a run's own report is complete: those before it have left theirs."""
        report = recovery_of(self.store, str(self.checkpoint))
        return report is not None and report.run == run and report.first_result_at is not None

    @contextmanager
    def child(self) -> Iterator[subprocess.Popen[str]]:
        command = [sys.executable, "-m", "tests.faults.standby_child"]
        with subprocess.Popen(
            [*command, str(self.home), str(self.checkpoint)],
            cwd=PROJECT,
            env={**os.environ, "TMPDIR": str(self.folder)},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == "at work\n"
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    @contextmanager
    def standby(self) -> Iterator[str]:
        """Follow the lead as a run that is written down, and give its id."""

        def begin(tell: Callable[..., None]) -> ActiveQuery:
            options = ActiveOptions(
                how=ACTIVE, session=self.spark, limits=BatchLimits(rows=40), on_progress=tell
            )
            self.query = start_active(
                None, home=self.home, checkpoint=self.checkpoint, options=options
            )
            return self.query

        job = new_job(plan(chained()), checkpoint=str(self.checkpoint / STANDBY))
        job = replace(job, name=f"{job.name}/standby")
        runs: list[str] = []

        def work() -> None:
            run_job(begin, self.store, job, how=ACTIVE, registered=lambda run: runs.append(run.id))

        thread = Thread(target=work)
        thread.start()
        try:
            eventually(lambda: self.query is not None)
            yield runs[0]
        finally:
            ask_to_stop(self.store, runs[0])
            assert wait_for_end(self.store, runs[0], 60).state == "stopped"
            thread.join()
            self.query = None
