"""Who may work on a job's checkpoint: one runner, or one who wants it quiet for a while.

A runner holds the work lock of its checkpoint. One who wants it quiet first holds the quiet lock,
which keeps runners from beginning, then asks the one that runs to stop, and waits for its lock.
The system frees the locks of a process that dies: nobody is kept out for ever, and a host finds
the job it wants free again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from penstock.errors import JobError
from penstock.jobs.definition import Definition, checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.stop import Mode, ask_to_stop
from penstock.jobs.store import JobStore, job_store
from penstock.log.storage import Lock
from penstock.spark.standby_files import STANDBY

_PAUSE = 0.1
# Long enough that two hosts looking at once are not taken for one who wants it quiet.
_LOOK = 0.02


@contextmanager
def quiet(
    home: Path, name: str, seconds: float = 60.0, *, mode: Mode = "stop"
) -> Iterator[Definition]:
    """Keep a job from running during a block; afterwards its host goes on with it, if wished.

    A run is asked to end after its batch; one that takes longer than so many seconds is refused.
    """
    definition = definition_store(home).get(name)
    checkpoint = str(checkpoint_of(home, definition))
    with quiet_checkpoint(job_store(home), checkpoint, seconds, mode=mode):
        yield definition_store(home).get(name)


@contextmanager
def quiet_checkpoint(
    store: JobStore, checkpoint: str, seconds: float, *, mode: Mode = "stop"
) -> Iterator[None]:
    """Let whoever works on a checkpoint stop, and keep everybody from it during a block."""
    deadline = time.monotonic() + seconds
    asked: set[str] = set()

    def ask() -> None:
        for run in runs_on(store, checkpoint):
            if run not in asked:
                asked.add(run)
                # It may have ended by itself meanwhile.
                with contextlib.suppress(JobError):
                    ask_to_stop(store, run, mode)

    with ExitStack() as stack:
        for place in _places(checkpoint):
            stack.enter_context(_held(store.quiet_lock(place), place, deadline, lambda: None))
        for place in _places(checkpoint):
            stack.enter_context(_held(store.work_lock(place), place, deadline, ask))
        yield


def take_place(store: JobStore, checkpoint: str) -> Lock:
    """Give the held work lock of a checkpoint for a run; one that is not free is refused."""
    work = store.work_lock(checkpoint)
    if work.acquire(_LOOK):
        # One who wants it quiet and came first waits for this lock, and must get it.
        if not is_quiet(store, checkpoint):
            return work
        work.release()
    work.close()
    raise JobError(
        "JOB_BUSY",
        f'the checkpoint "{checkpoint}" is in use by another run or operation',
        hint="See who runs it with `penstock jobs list`; it can have one at a time.",
    )


def is_quiet(store: JobStore, checkpoint: str) -> bool:
    """Whether somebody wants nobody to begin on a checkpoint now."""
    lock = store.quiet_lock(checkpoint)
    try:
        return not lock.acquire(_LOOK)
    finally:
        lock.close()


def runs_on(store: JobStore, checkpoint: str) -> list[str]:
    """Give the ids of the runs that work on a checkpoint; its standby is one of them."""
    places = {Path(place).absolute() for place in _places(checkpoint)}
    return [
        run.id
        for run in store.jobs()
        if run.alive and run.checkpoint and Path(run.checkpoint).absolute() in places
    ]


def _places(checkpoint: str) -> tuple[str, ...]:
    """Give the places of those who work on a checkpoint: of its run, and of its standby's."""
    standby = Path(checkpoint) / STANDBY
    return (checkpoint, str(standby)) if standby.exists() else (checkpoint,)


@contextmanager
def _held(
    lock: Lock, checkpoint: str, deadline: float, meanwhile: Callable[[], None]
) -> Iterator[None]:
    try:
        while not lock.acquire(_PAUSE):
            if time.monotonic() >= deadline:
                raise JobError(
                    "JOB_STOPPING",
                    f'the checkpoint "{checkpoint}" is still in use',
                    hint="A run ends after the batch in hand: give more time with --timeout, or"
                    " end it at once with `penstock jobs cancel`.",
                )
            meanwhile()
        yield
    finally:
        lock.close()
