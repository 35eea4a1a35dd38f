"""The host of a home beside its server: Spark and the jobs start while pages answer already."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.jobs.cause import cause_of
from penstock.jobs.host_file import HostedJob

if TYPE_CHECKING:
    from penstock.jobs.host import Host


class BackgroundHost:
    """Runs the jobs of a home in a thread of its own from `start` to `stop`.

    Who is `told` hears of every job that has changed; `refused` hears why there is no host.
    """

    def __init__(
        self,
        home: Path,
        *,
        shared: bool = False,
        told: Callable[[HostedJob], None] = lambda _: None,
        refused: Callable[[PenstockError], None] = lambda _: None,
    ) -> None:
        self._home = home
        self._shared = shared
        self._told = told
        self._refused = refused
        self._host: Host | None = None
        self._guard = threading.Lock()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="penstock-host", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Let all jobs end after their batch, and wait for that."""
        with self._guard:
            self._stopping = True
            if self._host is not None:
                self._host.stop()
        if self._thread.ident is not None:
            self._thread.join()

    def starting(self) -> Sequence[str]:
        """Give what is not there yet: the host, then each job that starts."""
        if not self._thread.is_alive():
            # Ended, or refused: there is nothing to wait for.
            return ()
        host = self._host
        if host is None or not host.followed:
            return ("host of jobs",)
        return [f"job {job.name}" for job in host.view.jobs if job.state == "starting"]

    def _run(self) -> None:
        try:
            # Spark takes seconds to load, and the server is to answer before.
            from penstock.serve.hosting import Jobs, host_of  # noqa: PLC0415

            with Jobs(self._home, shared=self._shared) as jobs:
                host = host_of(self._home, jobs, told=self._told)
                with self._guard:
                    if self._stopping:
                        return
                    self._host = host
                host.run()
        except PenstockError as error:
            self._refused(error)
        except Exception as error:  # noqa: BLE001  # the server goes on, and says so
            self._refused(PenstockError("HOST_FAILED", cause_of(error).line))
