"""What one can ask of jobs, from Python, the command line or anywhere else.

What is asked is written down, and whoever hosts the job sees to it: nothing here runs anything.
How a program becomes a job is in `jobs.submit`, what moves its state in `jobs.moving`.
"""

from __future__ import annotations

import contextlib
import getpass
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import JobError, PenstockError, UsageError
from penstock.jobs.definition import Definition, Event, Wish, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.named import belongs
from penstock.jobs.quiet import quiet, runs_on
from penstock.jobs.stop import Mode, ask_to_stop
from penstock.jobs.store import job_store
from penstock.log.kafka.home import is_elsewhere
from penstock.log.open import open_log
from penstock.spark.batch_log import NEEDED, BatchLog, batch_topic

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PAUSE = 0.05
_DONE: Mapping[Wish, str] = {"running": "started", "paused": "paused", "stopped": "stopped"}


def pause(home: Path, name: str, *, clock: Clock = SYSTEM_CLOCK) -> Definition:
    """Let a job rest where it is, after the batch in hand, until it is resumed."""
    definition = _wish(home, name, "paused", clock=clock)
    _ask_runs(home, definition, "stop")
    return definition


def resume(home: Path, name: str, *, clock: Clock = SYSTEM_CLOCK) -> Definition:
    """Let a paused job go on where it is."""
    if definition_store(home).get(name).wish == "stopped":
        raise JobError(
            "JOB_NOT_PAUSED",
            f'job "{name}" is stopped, not paused',
            hint=f"Start it with `penstock jobs start {name}`.",
        )
    return _wish(home, name, "running", "resumed", clock=clock)


def start(home: Path, name: str, *, clock: Clock = SYSTEM_CLOCK) -> Definition:
    """Let a job run that was stopped or paused, or that its host has given up."""
    known = definition_store(home).get(name)
    if known.wish == "running" and not runs_on(job_store(home), str(checkpoint_of(home, known))):
        # A host that has given it up tries again when the wish is newer than its failure.
        return _wish(home, name, "running", clock=clock, again=True)
    return _wish(home, name, "running", clock=clock)


def stop(home: Path, name: str, *, mode: Mode = "stop", clock: Clock = SYSTEM_CLOCK) -> Definition:
    """Let a job end until it is started; with mode `cancel` the batch in hand is given up."""
    what = "cancelled" if mode == "cancel" else "stopped"
    definition = _wish(home, name, "stopped", what, clock=clock)
    _ask_runs(home, definition, mode)
    return definition


def wait_until_ended(home: Path, name: str, seconds: float) -> None:
    """Wait until nobody runs a job; one that takes longer is refused."""
    store = job_store(home)
    checkpoint = str(checkpoint_of(home, definition_store(home).get(name)))
    deadline = time.monotonic() + seconds
    while runs := runs_on(store, checkpoint):
        if time.monotonic() >= deadline:
            raise JobError(
                "JOB_STOPPING",
                f'job "{name}" is still run by "{runs[0]}" after {seconds:g} s',
                hint="It ends after the batch in hand; `penstock jobs cancel` ends it at once.",
            )
        time.sleep(_PAUSE)


def remove(home: Path, name: str, *, keep_state: bool = False, seconds: float = 60.0) -> None:
    """Forget a job that is stopped, with its versions, its runs and its state; its results stay."""
    definitions, runs = definition_store(home), job_store(home)
    if definitions.get(name).wish == "running":
        raise JobError(
            "JOB_RUNNING",
            f'job "{name}" is to run, and cannot be removed',
            hint=f"Stop it first: penstock jobs stop {name}.",
        )
    with quiet(home, name, seconds) as definition:
        checkpoint = checkpoint_of(home, definition)
        for run in runs.jobs():
            if belongs(home, definition, run) and not run.alive:
                runs.forget(run.id)
        definitions.remove(name)
        for place in () if keep_state else _places(home, name, checkpoint):
            shutil.rmtree(place, ignore_errors=True)
    runs.forget_place(str(checkpoint))
    _forget_lag(home, name)
    if not keep_state:
        _forget_batches(home, name, checkpoint)


def _forget_lag(home: Path, name: str) -> None:
    """Remove the consumer group that showed how far a job was; one that others use stays."""
    if _has_log(home):
        with contextlib.suppress(PenstockError), open_log(home) as log:
            log.delete_group(name)


def _forget_batches(home: Path, name: str, checkpoint: Path) -> None:
    """Remove what a job that recovers from the log alone has noted there."""
    if _has_log(home):
        with contextlib.suppress(PenstockError), open_log(home) as log:
            BatchLog(log, batch_topic(name, checkpoint.name)).remove()
            log.delete_group(f"{name}{NEEDED}")


def _has_log(home: Path) -> bool:
    return is_elsewhere(home) or (home / "log").exists()


def _places(home: Path, name: str, checkpoint: Path) -> Iterator[Path]:
    """Give where a job remembers, and where versions of it did that were upgraded."""
    yield checkpoint
    version = re.compile(rf"{re.escape(name)}\.v\d+-[0-9a-f]{{8}}")
    others = {checkpoint_of(home, other).absolute() for other in definition_store(home).readable()}
    for place in (home / "jobs").iterdir():
        if version.fullmatch(place.name) and place.absolute() not in others:
            yield place


def event(what: str, detail: str = "", *, clock: Clock = SYSTEM_CLOCK) -> Event:
    """Say what the user of this process did now."""
    return Event(clock.now(), getpass.getuser(), what, detail)


def require_name(name: str) -> str:
    """Give a name that a job can have: it stands in names of files and on command lines."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            "JOB_NAME",
            f'a job cannot be called "{name}"',
            hint="Use up to 100 letters, digits, dots, underscores and hyphens; give another name"
            " with --name.",
        )
    return name


def _wish(
    home: Path,
    name: str,
    wish: Wish,
    what: str = "",
    *,
    clock: Clock,
    again: bool = False,
) -> Definition:
    store = definition_store(home)
    known = store.get(name)
    if known.wish == wish and not again:
        return known
    done = event(what or _DONE[wish], clock=clock)
    return store.change(name, done, lambda definition: replace(definition, wish=wish))


def _ask_runs(home: Path, definition: Definition, mode: Mode) -> None:
    """Ask those who run it now, so that it ends even where its host is slow or is no host."""
    store = job_store(home)
    for run in runs_on(store, str(checkpoint_of(home, definition))):
        # It may have ended by itself meanwhile.
        with contextlib.suppress(JobError):
            ask_to_stop(store, run, mode)
