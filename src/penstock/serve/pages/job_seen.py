"""All that the page of a job shows, read at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK
from penstock.errors import PenstockError
from penstock.jobs.definition import checkpoint_of
from penstock.jobs.host_file import HostView, host_file
from penstock.jobs.input_pressure import InputPressure, pressure_on
from penstock.jobs.job_log import Entry
from penstock.jobs.kept_savepoints import savepoint_names
from penstock.jobs.plan_text import plan_texts
from penstock.jobs.recovery import recovery_of
from penstock.jobs.running import running_of
from penstock.jobs.store import job_store
from penstock.jobs.view import JobView, view_of
from penstock.model.recovery_report import RecoveryReport
from penstock.serve.platform import Platform

_LINES = 300


@dataclass(frozen=True, slots=True)
class Seen:
    """A job at one moment."""

    view: JobView
    host: HostView | None
    recovery: RecoveryReport | None
    entries: tuple[Entry, ...]
    savepoints: tuple[str, ...]
    pressure: tuple[InputPressure, ...]
    now: int


def seen(platform: Platform, name: str) -> Seen:
    """Look at a job."""
    home = platform.home
    view = view_of(home, name)
    store = job_store(home)
    entries = () if view.run is None else tuple(store.log(view.run.id).entries())
    return Seen(
        view,
        host_file(home).view(),
        _recovery(home, view),
        entries[-_LINES:],
        savepoint_names(home, view.name, view.history),
        pressure_on(platform.log, view.progress),
        SYSTEM_CLOCK.now(),
    )


def plans(home: Path, name: str) -> dict[str, str]:
    """Give the plan of a job at every stage; one that cannot be read says why."""
    from penstock.jobs.submit import known_program  # noqa: PLC0415  # PySpark: seconds

    try:
        return plan_texts(known_program(home, name), "all", running=running_of(home, name))
    except PenstockError as error:
        return {"model": str(error)}


def _recovery(home: Path, view: JobView) -> RecoveryReport | None:
    if view.definition is not None:
        return recovery_of(job_store(home), str(checkpoint_of(home, view.definition)))
    return None if view.run is None else job_store(home).recovery(view.run.id)
