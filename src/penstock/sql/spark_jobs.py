"""Queries that run on, run as jobs on Spark: each is listed, followed and stopped as others are."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from penstock.errors import JobError, PenstockError
from penstock.front.sql.statement import Started
from penstock.jobs.job import Job
from penstock.jobs.run import run_job
from penstock.jobs.runnable import Runnable
from penstock.jobs.stop import ask_to_stop
from penstock.jobs.store import JobStore, job_store
from penstock.jobs.supervisor import BUSY
from penstock.model.physical import Settings
from penstock.spark.configured import configured_session
from penstock.sql.query_job import query_runnable
from penstock.sql.query_place import engine_of
from penstock.sql.running import Running, Wanted, catch_up
from penstock.sql.sharing import Sharing

_PATIENCE = 0.2
_LOOK = 1.0


def catch_up_on_spark(
    home: Path, queries: Sequence[Started], settings: Settings | None = None
) -> list[Job]:
    """Let queries take what there is; each finds what those before it have written.

    Those that were begun without Spark go on so.
    """
    configured_session()
    done: list[Job] = []
    for query in queries:
        if engine_of(home, query.id) == "here":
            catch_up(home, [query])
            continue
        job = _QueryJob(home, query_runnable(home, query, until="caught up", settings=settings))
        job.run()
        if job.failure is not None:
            raise job.failure
        done += [] if job.done is None else [job.done]
    return done


def run_on_spark(
    home: Path, wanted: Wanted, settings: Settings | None = None, sharing: Sharing | None = None
) -> None:
    """Run the queries that are to run, as the catalog changes, until Ctrl-C or all have ended.

    Those that were begun without Spark go on so. A failure of one ends all, and is raised. With
    `sharing` those that may are run as one.
    """
    configured_session()
    jobs = QueryJobs(home, settings, sharing)
    here = Running(home)
    try:
        while jobs.follow(queries := tuple(wanted())) or _goes_on_here(here, home, queries):
            time.sleep(_LOOK)
            jobs.raise_failure()
            for failure in here.failures().values():
                raise failure
    except KeyboardInterrupt:
        pass
    finally:
        here.stop()
        jobs.stop()
    jobs.raise_failure()


def _goes_on_here(here: Running, home: Path, queries: Sequence[Started]) -> bool:
    """Let queries go on that were begun without Spark; whether there are any, or none at all."""
    mine = [query for query in queries if engine_of(home, query.id) == "here"]
    here.follow(mine)
    return bool(mine) or not queries


class QueryJobs:
    """The jobs of the queries that are to run."""

    def __init__(
        self, home: Path, settings: Settings | None = None, sharing: Sharing | None = None
    ) -> None:
        self._home = home
        self._settings = settings
        self._sharing = sharing
        self._jobs: dict[str, _QueryJob] = {}
        self._known: dict[str, tuple[Started, Runnable]] = {}
        self._versions = 0

    def follow(self, queries: Sequence[Started]) -> bool:
        """Run these and no others; whether one runs. One that somebody stopped stays so."""
        mine = [query for query in queries if engine_of(self._home, query.id) != "here"]
        wanted = {runnable.name: runnable for runnable in self._runnables(mine)}
        for name, job in list(self._jobs.items()):
            # One that waits for those it was run with to let it go tries again.
            waits = self._sharing is not None and job.found_busy and not job.is_alive()
            if waits or name not in wanted or wanted[name].version != job.runnable.version:
                self._jobs.pop(name).stop()
        for name, runnable in wanted.items():
            if name not in self._jobs:
                self._jobs[name] = _QueryJob(self._home, runnable)
                self._jobs[name].start()
        return any(job.is_alive() for job in self._jobs.values()) or bool(
            self._sharing is not None and wanted
        )

    def _runnables(self, queries: Sequence[Started]) -> Sequence[Runnable]:
        self._known = {query.id: self._looked_up(query) for query in queries}
        if self._sharing is None:
            return [runnable for _, runnable in self._known.values()]
        return self._sharing.runnables(queries, lambda query: self._known[query.id][1])

    def _looked_up(self, query: Started) -> tuple[Started, Runnable]:
        known = self._known.get(query.id)
        if known is not None and known[0] == query:
            return known
        self._versions += 1
        version = str(self._versions)
        return query, query_runnable(self._home, query, version=version, settings=self._settings)

    def raise_failure(self) -> None:
        """Raise what ended one of them."""
        for job in self._jobs.values():
            if job.failure is not None:
                raise job.failure

    def stop(self) -> None:
        """Let all end after the batch in hand."""
        for job in self._jobs.values():
            job.ask_to_stop()
        for job in self._jobs.values():
            job.stop()


class _QueryJob(threading.Thread):
    """One query, its job, and what became of it."""

    def __init__(self, home: Path, runnable: Runnable) -> None:
        super().__init__(name=runnable.name, daemon=True)
        self.runnable = runnable
        self.done: Job | None = None
        self.failure: PenstockError | None = None
        self.found_busy = False
        """Whether another process had it, or those it was run with had not let it go."""
        self._store: JobStore = job_store(home)

    @override
    def run(self) -> None:
        try:
            described = self.runnable.describe()
            self.done = run_job(self.runnable.begin, self._store, described)
        except PenstockError as error:
            # Where another process has it, that one sees to it.
            self.found_busy = error.code == BUSY
            self.failure = None if self.found_busy else error

    def ask_to_stop(self) -> None:
        """Ask it to end after the batch in hand; one that has ended need not."""
        for job in self._store.jobs():
            if job.name == self.runnable.name and job.alive:
                with contextlib.suppress(JobError):
                    ask_to_stop(self._store, job.id)

    def stop(self) -> None:
        """Let it end, and wait until it has."""
        while self.is_alive():
            # It may not have been written down when it was asked first.
            self.ask_to_stop()
            self.join(_PATIENCE)
