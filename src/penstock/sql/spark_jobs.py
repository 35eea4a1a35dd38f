"""Queries that run on, run as jobs on Spark: each is listed, followed and stopped as others are."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.errors import JobError, PenstockError
from penstock.front.sql.statement import Started
from penstock.jobs.job import Job
from penstock.jobs.record import new_job
from penstock.jobs.run import Start, run_job
from penstock.jobs.stop import ask_to_stop
from penstock.jobs.store import JobStore, job_store
from penstock.model.physical import Settings
from penstock.model.progress import Progress
from penstock.spark.query import ProgramQuery
from penstock.spark.run import start
from penstock.sql.running import checkpoint_of, physical_of

_PATIENCE = 0.2


def run_on_spark(
    home: Path, queries: Sequence[Started], *, bounded: bool, settings: Settings | None = None
) -> list[Job]:
    """Run queries until they end or are stopped; give the records of their jobs.

    Bounded ones take what there is, one after the other, so that each finds what those before it
    have written. Ctrl-C stops all of them after the batch in hand.
    """
    jobs = [_QueryJob(home, query, settings, bounded=bounded) for query in queries]
    if bounded:
        return [job.run() for job in jobs]
    threads = [threading.Thread(target=job.run_quietly, name=job.name) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads):
            threads[0].join(_PATIENCE)
    except KeyboardInterrupt:
        for job in jobs:
            job.stop()
    for thread in threads:
        thread.join()
    failures = [job.failure for job in jobs if job.failure is not None]
    if failures:
        raise failures[0]
    return [job.done for job in jobs if job.done is not None]


class _QueryJob:
    """One query, its job, and what became of it."""

    def __init__(
        self, home: Path, query: Started, settings: Settings | None, *, bounded: bool
    ) -> None:
        self.name = query.id
        self.done: Job | None = None
        self.failure: PenstockError | None = None
        self._home = home
        self._bounded = bounded
        self._physical = physical_of(query, settings)
        self._checkpoint = checkpoint_of(home, query)
        self._store: JobStore = job_store(home)

    def run(self) -> Job:
        """Run it until it ends."""
        job = new_job(self._physical, application="sql", checkpoint=str(self._checkpoint))
        return run_job(self._start(), self._store, job)

    def run_quietly(self) -> None:
        """Run it in a thread, which has nobody to tell a failure to."""
        try:
            self.done = self.run()
        except PenstockError as error:
            self.failure = error

    def stop(self) -> None:
        """Ask it to stop; one that has ended need not."""
        for job in self._store.jobs():
            if job.name == self.name and job.alive:
                with contextlib.suppress(JobError):
                    ask_to_stop(self._store, job.id)

    def _start(self) -> Start:
        def begin(tell: Callable[[Progress], None]) -> ProgramQuery:
            return start(
                self._physical,
                home=self._home,
                checkpoint=self._checkpoint,
                bounded=self._bounded,
                on_progress=tell,
            )

        return begin
