"""A program stopped at any commit step and started again writes what it would have written."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.log.open import open_log
from penstock.model.progress import Progress
from penstock.spark.job_files import current_files
from penstock.spark.progress_file import left_before
from tests.faults.pane_job import BATCHES, Feed, told, written
from tests.faults.pane_run import Calm, PaneRun
from tests.faults.stopping import BEFORE_OFFSETS, COMMIT_STEPS, STOPPING
from tests.spark.faulty import arm

pytestmark = pytest.mark.spark

HOUR = 3_600_000
PROGRESS_FROM = COMMIT_STEPS.index("progress written")


class Faults:
    """Lets each batch fail at some steps, one after the other; armed when the one before is done.

    The commit steps are dealt out over the batches, in their order.
    """

    def __init__(self, run: PaneRun, feed: Feed) -> None:
        self._home = run.home
        self._feed = feed
        self._waiting = [list(COMMIT_STEPS[number::BATCHES]) for number in range(BATCHES)]
        self.batch = 0
        self.step = ""
        self.arm_next()

    def arm_next(self) -> None:
        waiting = self._waiting[self.batch]
        if waiting:
            self.step = waiting.pop(0)
            arm(self._home, self.step)

    def __call__(self, progress: Progress) -> None:
        self._feed(progress)
        if progress.batch == self.batch and not self._waiting[self.batch]:
            self.batch = min(self.batch + 1, BATCHES - 1)
            self.arm_next()


@pytest.mark.timeout(400)
def test_a_restart_at_every_commit_step_changes_nothing_that_is_written(
    spark: SparkSession, tmp_path: Path, calm: Calm
) -> None:
    run = PaneRun(tmp_path, spark, STOPPING)
    files = current_files(run.checkpoint)
    with open_log(run.home) as log:
        feed = run.feed(log)
        feed.begin()
        faults = Faults(run, feed)
        for number in range(len(COMMIT_STEPS)):
            with pytest.raises(RunError) as caught:
                run.run(faults)
            step, batch = faults.step, faults.batch
            assert f"fault at {step}" in str(caught.value), number
            place = COMMIT_STEPS.index(step)
            # The fault was where its name says it was.
            assert files.begun == (batch - 1 if step == BEFORE_OFFSETS else batch), step
            assert files.committed == batch - 1, step
            left = left_before(files)
            assert (-1 if left is None else left.batch) == batch - (place < PROGRESS_FROM), step
            if step != BEFORE_OFFSETS:
                # The batch has its clock reading: what the clock says now is nothing to it.
                run.clock.set(run.clock.now() + HOUR)
            faults.arm_next()
        query = run.run(faults)
        found = written(log)
        assert found.keys() == calm.written.keys()
        for topic, wanted in calm.written.items():
            assert found[topic] == wanted, topic
        assert told(query.progress) == calm.progress
        assert not list((run.home / "staging").rglob("*.arrows"))
