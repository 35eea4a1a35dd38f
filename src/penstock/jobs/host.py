"""The host: runs all jobs that are wanted, and no others, for as long as it lives."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import PenstockError
from penstock.jobs.attempt import Attempt, attempt_here
from penstock.jobs.cause import cause_of
from penstock.jobs.host_file import HostedJob, HostFile, HostView, Leftover, host_file
from penstock.jobs.leftovers import await_gone, own_processes
from penstock.jobs.runnable import Runnable, Wanted
from penstock.jobs.store import job_store
from penstock.jobs.supervisor import Supervisor
from penstock.log.storage import Lock
from penstock.model.job_settings import Isolation

_PAUSE = 0.05
_LOOK = 0.5
"""Seconds between two looks at what is wanted."""
_COUNT_EVERY = 5.0
"""Seconds between two counts of the host's processes, which costs more than a look."""
_AT_A_TIME = 2
"""How many jobs begin at the same time: each takes a core for a second."""
_PREDECESSOR = 15.0
"""Seconds that what a killed host has left is given to end."""


class Host:
    """Runs the jobs of a home; a failure of one leaves the others alone.

    `attempts` say how a job is run by its isolation; without them all run in this process.
    Who is `told` hears of every job that has changed.
    """

    def __init__(
        self,
        home: Path,
        wanted: Wanted,
        *,
        attempts: Mapping[Isolation, Attempt] | None = None,
        told: Callable[[HostedJob], None] = lambda _: None,
        clock: Clock = SYSTEM_CLOCK,
        look: float = _LOOK,
    ) -> None:
        self._home = home
        self._wanted = wanted
        self._store = job_store(home)
        turns = threading.BoundedSemaphore(_AT_A_TIME)
        here = attempt_here(self._store, clock=clock, turn=lambda: turns)
        self._attempts: Mapping[Isolation, Attempt] = {
            "shared": here,
            "process": here,
            **(attempts or {}),
        }
        self._told = told
        self._clock = clock
        self._look = look
        self._file: HostFile = host_file(home)
        self._supervisors: dict[str, Supervisor] = {}
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._followed = threading.Event()
        self._counted = 0.0
        self._written: HostView | None = None
        self._view = HostView(os.getpid(), getpass.getuser(), socket.gethostname(), clock.now())

    @property
    def view(self) -> HostView:
        """What it runs now."""
        return self._view

    def run(self) -> None:
        """Run jobs until `stop` is called or an interrupt comes; then let all end their batch.

        A second host of the home is refused.
        """
        lock = self._take()
        try:
            self._follow_on()
        except KeyboardInterrupt:
            pass
        finally:
            self._end(lock)

    def stop(self) -> None:
        """Let `run` end."""
        self._stopping.set()
        self._woken.set()

    @contextmanager
    def started(self) -> Iterator[Host]:
        """Run jobs beside a block, and let them end after it."""
        lock = self._take()

        def follow_on() -> None:
            try:
                self._follow_on()
            finally:
                self._end(lock)

        thread = threading.Thread(target=follow_on, name="host", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.stop()
            thread.join()

    def follow(self) -> None:
        """Start what is wanted and does not run, and end what runs and is not wanted."""
        trouble = ""
        try:
            wanted = {runnable.name: runnable for runnable in self._wanted()}
        except Exception as error:  # noqa: BLE001  # no host is to end by what it cannot read
            # What was wanted before goes on.
            trouble = cause_of(error).line
            wanted = {name: found.runnable for name, found in self._supervisors.items()}
        for name, supervisor in list(self._supervisors.items()):
            runnable = wanted.get(name)
            if runnable is None or runnable.version != supervisor.runnable.version:
                supervisor.end()
                if not supervisor.is_alive():
                    del self._supervisors[name]
        for name, runnable in wanted.items():
            if name not in self._supervisors:
                self._supervisors[name] = self._started(runnable)
        self._followed.set()
        self._tell(trouble)

    def await_idle(self) -> None:
        """Wait until all jobs that are wanted have ended or were given up."""
        while not (self._followed.is_set() and self.idle):
            time.sleep(_PAUSE)

    @property
    def followed(self) -> bool:
        """Whether it has begun what was wanted when it was started."""
        return self._followed.is_set()

    @property
    def idle(self) -> bool:
        """Whether no job of those that were wanted last runs or is to be started again."""
        return not any(found.is_alive() for found in list(self._supervisors.values()))

    @property
    def failures(self) -> dict[str, BaseException]:
        """Why jobs were given up, by name."""
        return {
            name: found.failure
            for name, found in self._supervisors.items()
            if found.failure is not None
        }

    def _follow_on(self) -> None:
        while not self._stopping.is_set():
            self.follow()
            self._woken.wait(self._look)
            self._woken.clear()

    def _started(self, runnable: Runnable) -> Supervisor:
        supervisor = Supervisor(
            runnable,
            self._attempts[runnable.settings.isolation],
            self._store,
            clock=self._clock,
            changed=self._woken.set,
        )
        supervisor.start()
        return supervisor

    def _take(self) -> Lock:
        lock = self._file.take()
        try:
            before = self._file.view()
            left = () if before is None or _is_own(before) else before.processes
            # Should this host be killed meanwhile, the next one has to wait for them, too.
            self._file.write(replace(self._view, processes=left))
            await_gone(left, _PREDECESSOR)
        except BaseException:
            lock.close()
            raise
        return lock

    def _end(self, lock: Lock) -> None:
        """Let all jobs end after their batch, and leave the home to others when they have."""
        try:
            for supervisor in self._supervisors.values():
                supervisor.end()
            self._tell("")
            for supervisor in self._supervisors.values():
                supervisor.join()
            self._tell("")
        finally:
            lock.close()

    def _counted_processes(self) -> tuple[Leftover, ...]:
        """Give what ends with this host; a standby does not, and nobody is to wait for its end."""
        found = [found for found in self._supervisors.values() if found.view.worker]
        return own_processes(
            {one.view.pid for one in found},
            {one.view.pid for one in found if one.runnable.outlives},
        )

    def _tell(self, trouble: str) -> None:
        """Write down what runs, where that has changed."""
        jobs = tuple(self._supervisors[name].view for name in sorted(self._supervisors))
        processes = self._view.processes
        changed = jobs != self._view.jobs
        before = {job.name: (job.state, job.failure) for job in self._view.jobs}
        for job in jobs:
            if (job.state, job.failure) != before.get(job.name):
                self._told(job)
        if changed or time.monotonic() >= self._counted:
            self._counted = time.monotonic() + _COUNT_EVERY
            processes = self._counted_processes()
        view = replace(self._view, jobs=jobs, processes=processes, trouble=trouble)
        self._view = view
        if view != self._written:
            # On a full disk the jobs go on, and the view is written when it can be.
            with contextlib.suppress(PenstockError):
                self._file.write(view)
                self._written = view


def _is_own(before: HostView) -> bool:
    """Whether the host before was in this very process: then nothing was left by a dead one."""
    own = psutil.Process()
    return bool(before.pid == own.pid and before.since >= 1000 * own.create_time())
