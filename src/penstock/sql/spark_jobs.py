"""Queries that run on, run as jobs on Spark: each is listed, followed and stopped as others are."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from typing_extensions import override

from penstock.config import load_settings
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
from penstock.spark.session import spark_session
from penstock.sql.query_place import checkpoint_of, engine_of, taken
from penstock.sql.running import Running, Wanted, catch_up, physical_of, tables_first

_PATIENCE = 0.2
_LOOK = 1.0


def catch_up_on_spark(
    home: Path, queries: Sequence[Started], settings: Settings | None = None
) -> list[Job]:
    """Let queries take what there is; each finds what those before it have written.

    Those that were begun without Spark go on so.
    """
    _start_spark()
    done: list[Job] = []
    for query in queries:
        if engine_of(home, query.id) == "here":
            catch_up(home, [query])
            continue
        job = _QueryJob(home, query, settings, bounded=True)
        job.run()
        if job.failure is not None:
            raise job.failure
        done += [] if job.done is None else [job.done]
    return done


def run_on_spark(home: Path, wanted: Wanted, settings: Settings | None = None) -> None:
    """Run the queries that are to run, as the catalog changes, until Ctrl-C or all have ended.

    Those that were begun without Spark go on so. A failure of one ends all, and is raised.
    """
    _start_spark()
    jobs = _Jobs(home, settings)
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


def _start_spark() -> None:
    """Start the session of this process as its settings say, before threads ask for it."""
    settings = load_settings()
    spark_session(master=settings.spark_master, driver_memory=settings.spark_driver_memory)


def _goes_on_here(here: Running, home: Path, queries: Sequence[Started]) -> bool:
    """Let queries go on that were begun without Spark; whether there are any, or none at all."""
    mine = [query for query in queries if engine_of(home, query.id) == "here"]
    here.follow(mine)
    return bool(mine) or not queries


class _Jobs:
    """The jobs of the queries that are to run."""

    def __init__(self, home: Path, settings: Settings | None) -> None:
        self._home = home
        self._settings = settings
        self._jobs: dict[str, _QueryJob] = {}

    def follow(self, queries: Sequence[Started]) -> bool:
        """Run these and no others; whether one runs. One that somebody stopped stays so."""
        wanted = {query.id: query for query in queries if engine_of(self._home, query.id) != "here"}
        for id_, job in list(self._jobs.items()):
            if wanted.get(id_) != job.query:
                self._jobs.pop(id_).stop()
        for id_, query in wanted.items():
            if id_ not in self._jobs:
                self._jobs[id_] = _QueryJob(self._home, query, self._settings, bounded=False)
                self._jobs[id_].start()
        return any(job.is_alive() for job in self._jobs.values())

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

    def __init__(
        self, home: Path, query: Started, settings: Settings | None, *, bounded: bool
    ) -> None:
        super().__init__(name=query.id, daemon=True)
        self.query = query
        self.done: Job | None = None
        self.failure: PenstockError | None = None
        self._home = home
        self._bounded = bounded
        self._settings = settings
        self._store: JobStore = job_store(home)

    @override
    def run(self) -> None:
        try:
            with taken(self._home, self.query.id, "spark") as ours:
                if ours:
                    self.done = self._run()
        except PenstockError as error:
            self.failure = error

    def ask_to_stop(self) -> None:
        """Ask it to end after the batch in hand; one that has ended need not."""
        for job in self._store.jobs():
            if job.name == self.query.id and job.alive:
                with contextlib.suppress(JobError):
                    ask_to_stop(self._store, job.id)

    def stop(self) -> None:
        """Let it end, and wait until it has."""
        while self.is_alive():
            # It may not have been written down when it was asked first.
            self.ask_to_stop()
            self.join(_PATIENCE)

    def _run(self) -> Job:
        physical = physical_of(self.query, self._settings)
        checkpoint = checkpoint_of(self._home, self.query.id)

        def begin(tell: Callable[[Progress], None]) -> ProgramQuery:
            return start(
                physical,
                home=self._home,
                checkpoint=checkpoint,
                until="caught up" if self._bounded else "stopped",
                on_progress=tell,
                first=tables_first(self.query),
            )

        started: Start = begin
        job = new_job(physical, application="sql", checkpoint=str(checkpoint))
        return run_job(started, self._store, job)
