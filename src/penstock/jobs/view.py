"""Jobs as they are now: what is wished of each, what its latest run does, and how far it is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.jobs.definition import Definition, Event
from penstock.jobs.definitions import definition_store
from penstock.jobs.job import Job
from penstock.jobs.named import Named, belongs, named
from penstock.jobs.settings_document import settings_document
from penstock.jobs.store import job_store
from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.model.progress import PartitionPosition, Progress

WAITING = "waiting"
"""The state of a job that is to run, while nobody runs it."""
DAMAGED = "damaged"
"""The state of a job whose definition cannot be read."""


@dataclass(frozen=True, slots=True)
class JobView:
    """A defined job, or a run of a program that is none: then there is no definition."""

    name: str
    definition: Definition | None
    run: Job | None
    progress: Progress | None
    runs: tuple[Job, ...] = ()
    versions: tuple[int, ...] = ()
    history: tuple[Event, ...] = ()
    damage: str = ""
    """Why its definition cannot be read."""

    @property
    def state(self) -> str:
        """What it does: as its run says, or what is wished where none is at work."""
        if self.damage:
            return DAMAGED
        if self.definition is None or (self.run is not None and self.run.alive):
            return "" if self.run is None else self.run.state
        if self.run is not None and self.run.state in {"failed", "finished"}:
            return self.run.state
        return WAITING if self.definition.wish == "running" else self.definition.wish

    @property
    def lag(self) -> int | None:
        """How many records wait to be read; none before its first batch."""
        return None if self.progress is None else self.progress.lag

    @property
    def errors(self) -> tuple[Job, ...]:
        """The runs that have failed, latest last."""
        return tuple(run for run in self.runs if run.failure)


def views(home: Path) -> tuple[JobView, ...]:
    """Give all defined jobs by name, then the runs of programs that are none."""
    store = definition_store(home)
    runs = job_store(home).jobs()
    found: list[JobView] = []
    for definition in store.readable():
        own = tuple(run for run in runs if belongs(home, definition, run))
        found.append(_view(home, Named(definition.name, "", definition, own)))
    taken = {run.id for view in found for run in view.runs}
    loose = (run for run in runs if run.id not in taken)
    found += [_view(home, Named(run.id, run.checkpoint, None, (run,))) for run in loose]
    found += [
        JobView(name, None, None, None, damage=str(error))
        for name, error in store.damaged().items()
    ]
    return tuple(with_lag(home, found))


def view_of(home: Path, text: str) -> JobView:
    """Give one of them, by its name or the id of a run, with its versions and history."""
    view = _view(home, named(home, text))
    (view,) = with_lag(home, [view])
    if view.definition is None:
        return view
    store = definition_store(home)
    return replace(view, versions=store.versions(view.name), history=store.history(view.name))


def with_lag(home: Path, found: Iterable[JobView]) -> Iterator[JobView]:
    """Put the ends that partitions have now in the place of those of the last batch."""
    shown = list(found)
    if not any(view.progress is not None and view.progress.positions for view in shown):
        yield from shown
        return
    # A log that is out of reach or broken is no reason to show nothing.
    with contextlib.suppress(PenstockError), open_log(home) as log:
        shown = [replace(view, progress=_now(log, view.progress)) for view in shown]
    yield from shown


def view_document(view: JobView) -> dict[str, Any]:
    """Give a view as JSON has it: the run's own fields first, as of a run that is no job."""
    document: dict[str, Any] = {"id": "", "name": view.name, "application": "", "elements": []}
    if view.run is not None:
        document |= asdict(view.run)
    document["state"] = view.state
    if view.damage:
        document["failure"] = view.damage
    document["job"] = None if view.definition is None else definition_document(view.definition)
    document["lag"] = view.lag
    document["watermark"] = None if view.progress is None else view.progress.watermark
    if view.definition is not None:
        document |= {"name": view.name, "application": view.definition.application}
    return document


def definition_document(definition: Definition) -> dict[str, Any]:
    """Give a definition as JSON has it."""
    return asdict(definition) | {"settings": settings_document(definition.settings)}


def _view(home: Path, found: Named) -> JobView:
    run = found.run
    progress = None if run is None else job_store(home).progress(run.id)
    if progress is None and found.asked != getattr(run, "id", None):
        # A run that has just begun goes on where the one before it was.
        earlier = (job_store(home).progress(item.id) for item in reversed(found.runs))
        progress = next((item for item in earlier if item is not None), None)
    return JobView(found.name, found.definition, run, progress, found.runs)


def _now(log: Log, progress: Progress | None) -> Progress | None:
    if progress is None or not progress.positions:
        return progress
    known = set(log.topics())
    topics = sorted({place.topic for place in progress.positions} & known)
    ends = {place: bound.end for place, bound in log.snapshot(topics).items()}
    return replace(
        progress, positions=tuple(_position(place, ends) for place in progress.positions)
    )


def _position(place: PartitionPosition, ends: dict[Any, int]) -> PartitionPosition:
    return replace(place, end=ends.get((place.topic, place.partition), place.end))
