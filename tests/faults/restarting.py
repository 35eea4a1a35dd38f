"""Runs a program on Spark that fails at steps of some batches and is started again each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from penstock.errors import RunError
from penstock.model.progress import Progress
from penstock.spark.query import ProgramQuery
from tests.faults.pane_job import Feed
from tests.faults.pane_run import PaneRun
from tests.faults.stopping import BEFORE_OFFSETS
from tests.spark.faulty import arm, is_armed

HOUR = 3_600_000


class Faults:
    """Lets each batch fail at its steps, one after the other; armed when the one before is done."""

    def __init__(self, run: PaneRun, feed: Feed, steps: Sequence[Sequence[str]]) -> None:
        self._home = run.home
        self._feed = feed
        self._waiting = [list(found) for found in steps]
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
        done = not self._waiting[self.batch] and not is_armed(self._home)
        if progress.batch == self.batch and done:
            self.batch = min(self.batch + 1, len(self._waiting) - 1)
            self.arm_next()


def restarted(
    run: PaneRun, feed: Feed, steps: Sequence[Sequence[str]], look: Callable[[int, str], None]
) -> ProgramQuery:
    """Run a program to its end with a restart at each step; `look` is called after each fault."""
    feed.begin()
    faults = Faults(run, feed, steps)
    for _ in range(sum(map(len, steps))):
        with pytest.raises(RunError) as caught:
            run.run(faults)
        assert f"fault at {faults.step}" in str(caught.value), str(caught.value)
        look(faults.batch, faults.step)
        if faults.step != BEFORE_OFFSETS:
            # The batch has its clock reading: what the clock says now is nothing to it.
            run.clock.set(run.clock.now() + HOUR)
        faults.arm_next()
    return run.run(faults)
