"""What the host of a home runs: the jobs that are wished to run, and the queries of its catalog."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, Self, TypeAlias

from penstock.config import load_settings
from penstock.errors import JobError
from penstock.front.sql.statement import Started
from penstock.jobs.attempt import attempt_here
from penstock.jobs.control import event
from penstock.jobs.defined_job import DefinedJob
from penstock.jobs.definition import Definition, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.host import Host
from penstock.jobs.host_file import HostedJob, host_folder
from penstock.jobs.job import Job
from penstock.jobs.record import new_job
from penstock.jobs.run import Query
from penstock.jobs.runnable import Runnable
from penstock.jobs.said_settings import file_settings
from penstock.jobs.standby import begin_active, is_standby, standbys
from penstock.jobs.store import job_store
from penstock.jobs.submit import job_program
from penstock.jobs.takeover import settle_before_run
from penstock.jobs.worker import Workers, work
from penstock.log.open import open_log
from penstock.model.job_settings import JOB_SETTINGS
from penstock.model.progress import Progress
from penstock.spark.configured import configured_session
from penstock.spark.program_options import Until
from penstock.spark.run import start
from penstock.sql.catalog_store import CATALOG_TOPIC
from penstock.sql.query_job import query_runnable
from penstock.sql.session import SqlSession
from penstock.sql.sharing import Sharing

_FOLDER = "definitions"
_DEFINITION = "definition.json"


Told: TypeAlias = Callable[[HostedJob], None]
"""Told a job whose state has changed."""


def host_of(home: Path, jobs: Jobs, *, told: Told = lambda _: None) -> Host:
    """Give the host of a home: jobs share its process, but those that are to have their own."""
    workers = Workers(_worker_command(home), job_store(home), host_folder(home))
    return Host(home, jobs.wanted, attempts={"process": workers.attempt}, told=told)


def run_worker(home: Path, name: str, restarts: int = 0) -> int:
    """Run a job once as the worker of a host, and give the exit status."""
    with Jobs(home) as jobs:
        found = [runnable for runnable in jobs.wanted() if runnable.name == name]
        if not found:
            raise JobError(
                "JOB_MISSING",
                f'job "{name}" is not wished to run',
                hint="Hosts start workers; a job is started with `penstock jobs start`.",
            )
        # A standby is there for when its host is gone.
        gone = (lambda _: None) if is_standby(name) else os._exit
        return work(found[0], attempt_here(job_store(home)), restarts, gone)


def run_until_idle(home: Path, *, told: Told = lambda _: None) -> dict[str, BaseException]:
    """Let all jobs read what there is until none has written more; give why some failed.

    A job that reads what another writes has its turn again. Windows that are open stay so.
    """
    with Jobs(home, until="caught up") as jobs, open_log(home) as log:
        while True:
            before = log.snapshot(log.topics())
            # All in this process: a Spark for each that is to be alone would take far longer.
            host = Host(home, jobs.wanted, told=told)
            with host.started():
                host.await_idle()
            if host.failures or log.snapshot(log.topics()) == before:
                return host.failures


class Jobs:
    """All that is wished to run in a home, looked up again where something has changed.

    With `shared` queries of SQL that may are run as one.
    """

    def __init__(self, home: Path, until: Until = "stopped", *, shared: bool = False) -> None:
        self._home = home
        self._until: Until = until
        self._store = definition_store(home)
        self._known: dict[str, tuple[_Stamp, Runnable | None]] = {}
        self._queries = _Queries(home, until, shared=shared)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._queries.close()

    def wanted(self) -> Sequence[Runnable]:
        """Give the jobs that are wished to run now."""
        stamps = _stamps(self._home / _FOLDER)
        self._known = {name: self._looked_up(name, stamp) for name, stamp in stamps.items()}
        jobs = [runnable for _, runnable in self._known.values() if runnable is not None]
        return [*jobs, *standbys(self._home, jobs), *self._queries.wanted()]

    def _looked_up(self, name: str, stamp: _Stamp) -> tuple[_Stamp, Runnable | None]:
        known = self._known.get(name)
        if known is not None and known[0] == stamp:
            return known
        try:
            definition = self._store.get(name)
        except JobError as error:
            # The others are not to suffer; this one shows as failed, and says why.
            return stamp, _unreadable(name, str(stamp), error)
        if definition.wish != "running":
            return stamp, None
        return stamp, definition_runnable(self._home, definition, self._until)


def definition_runnable(home: Path, definition: Definition, until: Until = "stopped") -> Runnable:
    """Give how a job is run as it was submitted."""
    checkpoint = checkpoint_of(home, definition)
    settings = definition.settings
    if settings.recovery == "active" and (definition.bounded or until != "stopped"):
        # One that ends by itself goes on from its checkpoint.
        settings = replace(settings, recovery="passive")

    def describe() -> Job:
        physical = job_program(home, definition)
        return new_job(physical, application=definition.application, checkpoint=str(checkpoint))

    def begin(tell: Callable[[Progress], None]) -> Query:
        _require_current(home, definition)
        if settings.recovery == "active":
            return begin_active(home, checkpoint, job_program(home, definition), settings, tell)
        return start(
            job_program(home, definition),
            home=home,
            checkpoint=checkpoint,
            session=configured_session(),
            until="end" if definition.bounded else until,
            how=settings,
            on_progress=tell,
        )

    def ended(_: Job) -> None:
        if definition.bounded:
            definition_store(home).change(
                definition.name, event("finished"), lambda found: replace(found, wish="stopped")
            )

    version = f"{definition.version}.{definition.changed_at}"
    return Runnable(definition.name, version, describe, begin, settings, ended)


def _require_current(home: Path, definition: Definition) -> None:
    """Refuse a version that is over: an upgrade that was cut short is finished first."""
    job, name = DefinedJob(home, definition.name), definition.name
    settled = settle_before_run(job)
    if settled or job.definition.version != definition.version:
        raise JobError(
            "JOB_BUSY",
            f'job "{name}" has become another version',
            hint="Its host begins that one next.",
        )


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What tells whether a definition may have changed, without reading it."""

    changed: int
    inode: int
    size: int


def _stamps(folder: Path) -> dict[str, _Stamp]:
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except FileNotFoundError:
        return {}
    found: dict[str, _Stamp] = {}
    for name in names:
        try:
            status = (folder / name / _DEFINITION).stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        found[name] = _Stamp(status.st_mtime_ns, status.st_ino, status.st_size)
    return found


def _unreadable(name: str, version: str, error: JobError) -> Runnable:
    def fail(*_: object) -> NoReturn:
        raise error

    return Runnable(name, version, fail, fail)


class _Queries:
    """The queries of a home's SQL catalog that are not paused."""

    def __init__(self, home: Path, until: Until, *, shared: bool) -> None:
        self._home = home
        self._until: Until = until
        self._sharing = Sharing(home, goes_on=self._exists) if shared else None
        self._session: SqlSession | None = None
        self._seen: object = None
        self._known: dict[str, tuple[Started, Runnable]] = {}
        self._versions = 0

    def close(self) -> None:
        """Let go of the catalog."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def wanted(self) -> Sequence[Runnable]:
        """Give the queries that are to run now."""
        if self._session is None:
            if not self._has_catalog():
                return ()
            self._session = SqlSession(self._home)
        definitions = self._session.definitions()
        if definitions is not self._seen:
            self._known = {query.id: self._looked_up(query) for query in definitions.runnable}
            self._seen = definitions
        if self._sharing is None:
            return [runnable for _, runnable in self._known.values()]
        queries = [query for query, _ in self._known.values()]
        return self._sharing.runnables(queries, lambda query: self._known[query.id][1])

    def _exists(self, id_: str) -> bool:
        return self._session is not None and id_ in self._session.definitions().queries

    def _has_catalog(self) -> bool:
        # To open a log that is not there would make one.
        if not self._home.exists():
            return False
        with open_log(self._home) as log:
            return CATALOG_TOPIC in log.topics()

    def _looked_up(self, query: Started) -> tuple[Started, Runnable]:
        known = self._known.get(query.id)
        if known is not None and known[0] == query:
            return known
        self._versions += 1
        return query, query_runnable(
            self._home,
            query,
            version=str(self._versions),
            until=self._until,
            how=file_settings(JOB_SETTINGS, load_settings().jobs, query.id),
        )


def _worker_command(home: Path) -> Callable[[str, int], Sequence[str]]:
    def command(name: str, restarts: int) -> Sequence[str]:
        words = ["host", "worker", name, "--restarts", str(restarts), f"--home={home}"]
        return [sys.executable, "-m", "penstock", *words]

    return command
