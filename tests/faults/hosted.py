"""A host in a process of its own: started, looked at and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from penstock.jobs.host_file import HostedJob, HostView, host_file

PATIENCE = 120.0
_PAUSE = 0.2


class HostProcess:
    """One life of a host; what still runs of it at the end of a with block is killed."""

    def __init__(self, home: Path) -> None:
        self.home = home
        command = [sys.executable, "-m", "penstock", "host", f"--home={home}"]
        self._process = subprocess.Popen(command)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    @property
    def view(self) -> HostView:
        """What it says of itself."""
        found = host_file(self.home).view()
        assert found is not None
        return found

    def job(self, name: str) -> HostedJob:
        """A job as it has it."""
        return next(job for job in self.view.jobs if job.name == name)

    def await_running(self, jobs: int) -> None:
        """Wait until it runs so many jobs."""

        def all_run() -> bool:
            view = host_file(self.home).view()
            if view is None or view.pid != self._process.pid:
                return False
            return [job.state for job in view.jobs] == ["running"] * jobs

        self.eventually(all_run)

    def java(self) -> int:
        """The JVM that the jobs of the host share."""
        children = psutil.Process(self._process.pid).children()
        return next(int(child.pid) for child in children if child.name() == "java")

    def kill(self) -> None:
        """Kill the process of the host, and nothing else: the others are to see to themselves."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """Ask it to end as a service manager does, and give its exit status."""
        os.kill(self._process.pid, signal.SIGTERM)
        return self._process.wait(PATIENCE)

    def eventually(self, holds: Callable[[], bool], *, pause: float = _PAUSE) -> None:
        """Wait until something holds; it is an error when it does not come, or the host ends."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert self._process.poll() is None, "the host has ended"
            assert time.monotonic() < deadline, self.view
            time.sleep(pause)
