"""Runs a program on Spark batch by batch, in peace or with restarts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import SparkSession

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.model.physical import Settings
from penstock.model.plan import Plan
from penstock.model.progress import Progress
from penstock.plan.planner import plan
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import current_files
from penstock.spark.query import ProgramQuery
from penstock.spark.run import PARTS, Parts, start
from tests.faults.large_job import large_program, large_rows
from tests.faults.meeting_job import meeting_program, meeting_rows
from tests.faults.pane_job import BATCHES, Feed, batch_rows, pane_program, told, written
from tests.spark.programs import Row

OnProgress: TypeAlias = Callable[[Progress], None]

SETTINGS = Settings(buckets=4)
JOBS = {
    "panes": (pane_program, batch_rows),
    "meetings": (meeting_program, meeting_rows),
    "large": (large_program, large_rows),
}
"""Programs by name, with the rows of each batch."""
_PATIENCE = 120.0


@dataclass(frozen=True)
class Calm:
    """What a run has written and what it says of itself at its end."""

    written: dict[str, list[Row]]
    progress: Progress


@dataclass(frozen=True)
class PaneRun:
    """A log, a clock and a checkpoint that belong together, below one folder."""

    folder: Path
    spark: SparkSession | None = None
    parts: Parts = PARTS
    batches: int = BATCHES
    program: Callable[[], Plan] = pane_program
    rows_of: Callable[[int], list[Row]] = batch_rows

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "job"

    @property
    def clock(self) -> FileClock:
        return FileClock(self.folder / "clock")

    def feed(self, log: EmbeddedLog) -> Feed:
        return Feed(log, self.clock, self.batches, self.rows_of)

    @property
    def committed(self) -> int:
        """The last batch that Spark knows to be done."""
        return current_files(self.checkpoint).committed

    def start(self, feed: OnProgress) -> ProgramQuery:
        return start(
            plan(self.program(), SETTINGS),
            home=self.home,
            checkpoint=self.checkpoint,
            session=self.spark,
            clock=self.clock,
            on_progress=feed,
            parts=self.parts,
        )

    def run(self, feed: OnProgress) -> ProgramQuery:
        """Run until all batches are done; a failure is raised."""
        query = self.start(feed)
        end = time.monotonic() + _PATIENCE
        seen = self.committed
        while self.committed < self.batches - 1:
            if query.error is not None:
                raise query.error
            if self.committed > seen:
                seen, end = self.committed, time.monotonic() + _PATIENCE
            assert time.monotonic() < end, "the program does not go on"
            time.sleep(0.02)
        query.stop()
        return query


def calm_run(run: PaneRun) -> Calm:
    """Run a program without a fault."""
    with open_log(run.home) as log:
        feed = run.feed(log)
        feed.begin()
        query = run.run(feed)
        return Calm(written(log), told(query.progress))
