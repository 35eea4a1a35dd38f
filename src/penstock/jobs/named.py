"""What a person may call a job by: its name, or the id of one of its runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.errors import JobError, did_you_mean
from penstock.jobs.definition import Definition, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.job import Job
from penstock.jobs.quiet import quiet_checkpoint, runs_on
from penstock.jobs.store import job_store
from penstock.spark.standby_files import STANDBY


@dataclass(frozen=True, slots=True)
class Named:
    """A defined job, or a run of a program that is none; with the runs known, latest last."""

    name: str
    checkpoint: str
    definition: Definition | None
    runs: tuple[Job, ...]
    asked: str = ""
    """What it was called by."""

    @property
    def run(self) -> Job | None:
        """The run that was asked for, or the latest; a standby that goes on where that has died."""
        leading = [run for run in self.runs if Path(run.checkpoint).name != STANDBY]
        latest = leading[-1] if leading else None
        if latest is not None and not latest.alive:
            standbys = [run for run in self.runs if run.alive and run not in leading]
            latest = standbys[-1] if standbys else latest
        return next((run for run in self.runs if run.id == self.asked), latest)


def named(home: Path, text: str) -> Named:
    """Find a job by its name, or by the id of a run; a job's name is taken before an id."""
    definition = definition_store(home).find(text)
    runs = job_store(home).jobs()
    if definition is not None:
        return _defined(home, definition, runs)
    run = next((run for run in runs if run.id == text), None)
    if run is None:
        raise JobError(
            "JOB_MISSING",
            f'job "{text}" does not exist',
            hint=did_you_mean(text, names(home)) or "List what exists with `penstock jobs list`.",
        )
    for definition in definition_store(home).readable():
        if belongs(home, definition, run):
            return replace(_defined(home, definition, runs), asked=text)
    return Named(run.id, run.checkpoint, None, (run,))


def names(home: Path) -> list[str]:
    """Give all names that jobs and runs go by."""
    return [*definition_store(home).names(), *(run.id for run in job_store(home).jobs())]


def belongs(home: Path, definition: Definition, run: Job) -> bool:
    """Whether a run is one of a job: it works on the job's checkpoint, or on one it had before."""
    if not run.checkpoint:
        # Its program could not be looked at: only its name is known.
        return run.name == definition.name
    place = Path(run.checkpoint).absolute()
    own = checkpoint_of(home, definition).absolute()
    if place in {own, own / STANDBY}:
        return True
    # A version that was upgraded had a checkpoint of its own.
    return run.name == definition.name and place.parent == (home / "jobs").absolute()


def require_defined(home: Path, text: str) -> Definition:
    """Give the definition of a job by its name or a run's id; a run of no job is refused."""
    found = named(home, text)
    if found.definition is None:
        raise JobError(
            "JOB_UNDEFINED",
            f'"{text}" is a run of a program that is no job',
            hint="Make it one with `penstock jobs submit FILE`; it goes on where the run stopped.",
        )
    return found.definition


@contextmanager
def hushed(home: Path, found: Named, seconds: float) -> Iterator[None]:
    """Keep a job from running during a block; a run that nobody would start again is refused."""
    store = job_store(home)
    if found.definition is None and (runs := runs_on(store, found.checkpoint)):
        raise JobError(
            "JOB_RUNNING",
            f'job "{runs[0]}" runs, and nobody would start it again',
            hint=f"It was begun by `penstock run`: stop it first with `penstock jobs stop"
            f" {runs[0]}`.",
        )
    with quiet_checkpoint(store, found.checkpoint, seconds):
        _require_same_place(home, found)
        yield


def _require_same_place(home: Path, found: Named) -> None:
    """Refuse to work on a checkpoint that its job has left while it was waited for."""
    if found.definition is None:
        return
    now = definition_store(home).get(found.name)
    if str(checkpoint_of(home, now)) != found.checkpoint:
        raise JobError(
            "JOB_BUSY",
            f'job "{found.name}" has become version {now.version} meanwhile',
            hint="Nothing was done: try again.",
        )


def _defined(home: Path, definition: Definition, runs: tuple[Job, ...]) -> Named:
    own = tuple(run for run in runs if belongs(home, definition, run))
    return Named(definition.name, str(checkpoint_of(home, definition)), definition, own)
