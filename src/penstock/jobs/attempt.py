"""One run of a job by its host: in this process, or in a worker of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.jobs.job import Job
from penstock.jobs.record import JobRecord, unread_job
from penstock.jobs.run import Query, run_job
from penstock.jobs.runnable import Runnable
from penstock.jobs.store import JobStore
from penstock.model.progress import Progress


@dataclass(frozen=True, slots=True)
class Watch:
    """What a run asks of its supervisor, and tells it."""

    ending: Callable[[], bool] = lambda: False
    """Whether it is to end after the batch in hand."""
    restarts: int = 0
    registered: Callable[[str, int], None] = lambda _run, _pid: None
    """Told the id of the run where it is known, and the process that does it."""
    running: Callable[[], None] = lambda: None


Attempt: TypeAlias = Callable[[Runnable, Watch], Job]
"""Runs a job once, and gives the record of the run; a failure is raised."""


def attempt_here(
    store: JobStore,
    *,
    clock: Clock = SYSTEM_CLOCK,
    turn: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Attempt:
    """Give what runs jobs in this process; jobs begin in turn, as many at a time as that lets."""

    def attempt(runnable: Runnable, watch: Watch) -> Job:
        def begin(tell: Callable[[Progress], None]) -> Query:
            with turn():
                query = runnable.begin(tell)
            watch.running()
            return query

        return run_job(
            begin,
            store,
            replace(_described(runnable, store, clock), restarts=watch.restarts),
            clock=clock,
            ending=watch.ending,
            registered=lambda job: watch.registered(job.id, job.pid),
            how=runnable.settings,
        )

    return attempt


def _described(runnable: Runnable, store: JobStore, clock: Clock) -> Job:
    """Give the record of a run to come; where even that fails, it is written down as a run."""
    try:
        return runnable.describe()
    except Exception:
        with JobRecord(store, unread_job(runnable.name), clock=clock):
            raise
