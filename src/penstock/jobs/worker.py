"""A worker: a process of its own for one run of a job, with a Spark of its own.

Its host holds its standard input: `stop` in it asks for an end after the batch in hand; when it is
closed without that, the host is gone, and the worker ends at once.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, TypeAlias

from penstock.errors import JobError, PenstockError, RunError
from penstock.jobs.attempt import Attempt, Watch
from penstock.jobs.cause import cause_told
from penstock.jobs.job import Job
from penstock.jobs.runnable import Runnable
from penstock.jobs.store import JobStore, slug
from penstock.jobs.supervisor import BUSY

Command: TypeAlias = Callable[[str, int], Sequence[str]]
"""Gives the command line of a job's worker, told how often it was started again before."""

STOP = "stop"
EXIT_BUSY = 75
"""The exit status of a worker that found its job's checkpoint in use."""
_LOOK = 0.1
_LOOKS_A_READ = 5
"""Looks at a worker for one at the record of its run."""
_LONGEST_END = 60.0
"""Seconds after which a worker that was asked to end is killed: its batch is done again."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Starts workers, and waits for them; what they print goes to a file for each job."""

    command: Command
    store: JobStore
    folder: Path

    def output(self, name: str) -> Path:
        """Give where the last worker of a job has printed to."""
        return self.folder / f"{slug(name)}.txt"

    def attempt(self, runnable: Runnable, watch: Watch) -> Job:
        """Run a job once in a worker."""
        name = runnable.name
        self.folder.mkdir(parents=True, exist_ok=True)
        with (
            self.output(name).open("wb") as printed,
            subprocess.Popen(  # noqa: S603  # our own command
                self.command(name, watch.restarts),
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for the host, which asks its workers to end.
                start_new_session=True,
            ) as process,
        ):
            try:
                watch.registered("", process.pid)
                status = self._awaited(process, name, watch)
            except BaseException:
                process.kill()
                raise
        return self._became(name, process.pid, status)

    def _awaited(self, process: subprocess.Popen[bytes], name: str, watch: Watch) -> int:
        """Wait until a worker has ended; tell when its run begins, ask it to end if it is to."""
        deadline: float | None = None
        looks = count()
        runs = False
        while True:
            try:
                return process.wait(_LOOK)
            except subprocess.TimeoutExpired:
                pass
            if not runs and next(looks) % _LOOKS_A_READ == 0:
                runs = self._told(name, process.pid, watch)
            if deadline is None and watch.ending():
                deadline = time.monotonic() + _LONGEST_END
                _ask_to_stop(process)
            elif deadline is not None and time.monotonic() >= deadline:
                process.kill()

    def _told(self, name: str, pid: int, watch: Watch) -> bool:
        """Tell of a worker's run, once it is there; whether it runs."""
        run = self._run(name, pid)
        if run is None or not run.alive or run.state == "starting":
            return False
        watch.registered(run.id, pid)
        watch.running()
        return True

    def _run(self, name: str, pid: int) -> Job | None:
        """Give the run of a worker, which writes it down itself."""
        # A process before it may have had its number.
        mine = [run for run in self.store.runs(name) if run.pid == pid]
        return mine[-1] if mine else None

    def _became(self, name: str, pid: int, status: int) -> Job:
        """Give the run of a worker that has ended as it should; raise what it has failed by."""
        if status == EXIT_BUSY:
            raise JobError("JOB_BUSY", f'job "{name}" is in use by another run or operation')
        run = self._run(name, pid)
        if run is not None and run.state == "failed":
            cause = cause_told(run.failure)
            raise RunError("WORKER_FAILED", f"the worker stopped: {cause.line}")
        if run is not None and status == 0:
            return run
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        raise RunError(
            "WORKER_LOST",
            f'worker {pid} of job "{name}" {how}',
            hint=f'What it printed is in "{self.output(name)}".',
        )


def _ask_to_stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    # It may have ended this moment.
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(f"{STOP}\n".encode())
        process.stdin.flush()


def work(
    runnable: Runnable,
    attempt: Attempt,
    restarts: int = 0,
    gone: Callable[[int], object] = os._exit,
) -> int:
    """Run a job once as the worker of a host, and give the exit status."""
    ending = threading.Event()
    follow_host(sys.stdin, ending, gone)
    try:
        attempt(runnable, Watch(ending=ending.is_set, restarts=restarts))
    except PenstockError as error:
        if error.code == BUSY:
            return EXIT_BUSY
        raise
    return 0


def follow_host(
    orders: IO[str], ending: threading.Event, gone: Callable[[int], object] = os._exit
) -> threading.Thread:
    """Heed what a host says to a process of its own; `gone` is called when the host is."""

    def follow() -> None:
        for line in orders:
            if line.strip() == STOP:
                ending.set()
        if not ending.is_set():
            gone(1)

    thread = threading.Thread(target=follow, name="host", daemon=True)
    thread.start()
    return thread
