"""A program run as a job: written down, watched, and stopped when someone asks."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol, TypeAlias

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.jobs.job import Job
from penstock.jobs.kept_plan import KeptPlan
from penstock.jobs.record import JobRecord
from penstock.jobs.recovery import RecoveryWatch
from penstock.jobs.stop import Mode
from penstock.jobs.store import JobStore
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.progress import Progress

_PATIENCE = timedelta(seconds=1)
_PAUSE = 0.01
_LONGEST_BATCH = 30.0


class Query(Protocol):
    """What runs a program."""

    @property
    def busy(self) -> bool:
        """Whether a batch is in hand."""

    def explain(self) -> str:
        """Give the plan that Spark made; nothing where it is not run by Spark."""

    def await_end(self, timeout: timedelta | None = None) -> bool:
        """Wait until it has ended or the time is over; whether it has. A failure is raised."""

    def stop(self) -> None:
        """End it; a batch in hand is given up and done again by the next start."""


Start: TypeAlias = Callable[[Callable[[Progress], None]], Query]
"""Starts a program that tells its progress to who is given."""


def run_job(  # noqa: PLR0913  # all but the first are by name
    start: Start,
    store: JobStore,
    job: Job,
    *,
    clock: Clock = SYSTEM_CLOCK,
    ending: Callable[[], bool] = lambda: False,
    registered: Callable[[Job], None] = lambda _: None,
    how: JobSettings = JOB_SETTINGS,
) -> Job:
    """Run a program until it ends or is asked to, and give the record of it.

    It is asked by a wish in the store, or by `ending` of who calls this: after the batch in hand.
    """
    with JobRecord(store, job, clock=clock) as record:
        registered(record.job)
        recovery = RecoveryWatch(store, record.job, how, clock)
        query = start(recovery.telling(record.progress))
        recovery.started(query)
        record.running()
        plan = KeptPlan(store, record, query)
        try:
            while not query.await_end(_PATIENCE):
                plan.keep()
                mode = _asked(record, ending)
                if mode is not None:
                    if mode == "stop":
                        _let_finish(query, record)
                    query.stop()
            plan.keep()
        except KeyboardInterrupt:
            query.stop()
            raise
    return record.job


def _asked(record: JobRecord, ending: Callable[[], bool]) -> Mode | None:
    request = record.requested()
    if request is not None:
        return request.mode
    if not ending():
        return None
    record.stopping("its host ends it")
    return "stop"


def _let_finish(query: Query, record: JobRecord) -> None:
    """Wait until the batch in hand has ended; one that takes too long is given up.

    A busy query begins the next batch at once: what it has done of that one is little.
    """
    before = record.batch
    deadline = time.monotonic() + _LONGEST_BATCH
    while query.busy and record.batch == before and time.monotonic() < deadline:
        time.sleep(_PAUSE)
