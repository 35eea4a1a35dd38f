"""What a host writes down of itself, so that any process can see it: `<home>/host/host.json`.

It holds a lock beside it, which the system frees when it dies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from penstock.errors import JobError
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Lock, Storage

HostedState: TypeAlias = Literal[
    "starting", "running", "waiting", "busy", "ending", "stopped", "finished", "failed"
]
"""Waiting: to be started again. Busy: somebody else works on its checkpoint. Failed: for good."""

_FOLDER = "host"
_VIEW = "host.json"
_LOCK = "host.lock"
_PATIENCE = 0.05


@dataclass(frozen=True, slots=True)
class Leftover:
    """A process that a host has started; `created` tells it from a later one of its number."""

    pid: int
    created: float
    role: str


@dataclass(frozen=True, slots=True)
class HostedJob:
    """A job as its host has it: in the host's own process, or in the worker of this number."""

    name: str
    version: str
    state: HostedState
    since: int
    pid: int
    worker: bool = False
    restarts: int = 0
    run: str = ""
    failure: str = ""
    retry_at: int | None = None
    standby: int | None = None
    """The number of the process that stands by to take it over, if there is one."""


@dataclass(frozen=True, slots=True)
class HostView:
    """A host and what it runs; times are milliseconds since 1970. Not alive: it is gone."""

    pid: int
    user: str
    machine: str
    since: int
    jobs: tuple[HostedJob, ...] = ()
    processes: tuple[Leftover, ...] = ()
    trouble: str = ""
    """Why it does not know which jobs are wanted now, if so."""
    alive: bool = True


def host_file(home: Path) -> HostFile:
    """Give where the host of a home is written down."""
    return HostFile(DiskStorage(home / _FOLDER))


def host_folder(home: Path) -> Path:
    """Give the directory of a home's host."""
    return home / _FOLDER


class HostFile:
    """The one host of a home."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def take(self) -> Lock:
        """Give the lock of a home's host, held; where another host has it, that is refused."""
        with coded_storage_errors("starting a host"):
            self._storage.make_directory("")
            lock = self._storage.lock(_LOCK)
            if lock.acquire(_PATIENCE):
                return lock
            lock.close()
        view = self._read()
        who = "another process" if view is None else f"process {view.pid}"
        raise JobError(
            "HOST_RUNNING",
            f"{who} hosts the jobs of this home",
            hint="A home has one host: see what it does with `penstock host status`.",
        )

    def write(self, view: HostView) -> None:
        """Put what a host is doing in the place of what it did."""
        with coded_storage_errors("writing down a host"):
            self._storage.replace(_VIEW, json.dumps(asdict(view), indent=1).encode())

    def view(self) -> HostView | None:
        """Give the host as it is; none where there was none yet."""
        view = self._read()
        if view is None:
            return None
        return view if self._held() else replace(view, alive=False)

    def _read(self) -> HostView | None:
        with coded_storage_errors("reading of a host"):
            data = self._storage.read(_VIEW) if self._storage.exists(_VIEW) else None
        if data is None:
            return None
        try:
            told = _known(HostView, json.loads(data))
            told["jobs"] = _parts(HostedJob, told.get("jobs", ()))
            told["processes"] = _parts(Leftover, told.get("processes", ()))
            return HostView(**told)
        except (ValueError, TypeError, KeyError, AttributeError):
            # It is written anew within a second where a host runs.
            return None

    def _held(self) -> bool:
        with coded_storage_errors("looking for a host"):
            lock = self._storage.lock(_LOCK)
            try:
                return not lock.acquire(_PATIENCE)
            finally:
                lock.close()


def _parts(kind: type[Any], items: Iterable[dict[str, Any]]) -> tuple[Any, ...]:
    return tuple(kind(**_known(kind, item)) for item in items)


def _known(kind: type[Any], told: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in told.items() if name in names}
