"""Keeps one job running: started again after a failure, as its policy says, until unwanted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from typing_extensions import override

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import PenstockError
from penstock.jobs.attempt import Attempt, Watch, attempt_here
from penstock.jobs.cause import Cause, cause_of
from penstock.jobs.host_file import HostedJob
from penstock.jobs.job import Job
from penstock.jobs.restart import Restarts
from penstock.jobs.runnable import Runnable
from penstock.jobs.store import JobStore

BUSY = "JOB_BUSY"
"""The code of a checkpoint that somebody else works on."""
_LOOK = timedelta(seconds=1)
"""Between two tries while somebody else works on the job's checkpoint, or wants it quiet."""
_LONGEST_LOOK = timedelta(seconds=30)


class Supervisor(threading.Thread):
    """One job, from when it is wanted until it is not.

    One that `stays` goes on when others have stopped it or worked on its checkpoint.
    """

    def __init__(  # noqa: PLR0913  # all but what it runs are by name
        self,
        runnable: Runnable,
        attempt: Attempt,
        store: JobStore,
        *,
        clock: Clock = SYSTEM_CLOCK,
        wait: Callable[[float], bool] | None = None,
        changed: Callable[[], None] = lambda: None,
        stays: bool = True,
    ) -> None:
        super().__init__(name=f"job {runnable.name}", daemon=True)
        self.runnable = runnable
        self.last: Job | None = None
        """The last run that has ended as it should."""
        self.failure: BaseException | None = None
        """Why it was given up, if it was."""
        self._attempt = attempt
        self._store = store
        self._clock = clock
        self._ending = threading.Event()
        self._turn = threading.Lock()
        self._looks = 0
        self._wait = wait or self._ending.wait
        self._changed = changed
        self._stays = stays
        self._restarts = Restarts(runnable.settings.restart)
        self.view = HostedJob(
            name=runnable.name,
            version=runnable.version,
            state="starting",
            since=clock.now(),
            pid=os.getpid(),
            worker=runnable.settings.isolation == "process",
        )

    @property
    def ending(self) -> bool:
        """Whether it was asked to end."""
        return self._ending.is_set()

    def end(self) -> None:
        """Let the job end after the batch in hand."""
        if not self._ending.is_set():
            self._ending.set()
            if self.is_alive():
                self._become(state="ending")

    @override
    def run(self) -> None:
        """Run the job again and again, until it has ended, was given up or is to end."""
        while not self._ending.is_set():
            pause = self._once()
            if pause is None:
                return
            self._wait(pause.total_seconds())
        self._become(state="stopped")

    def _once(self) -> timedelta | None:
        """Run the job once; give how long to wait before the next time, if there is one."""
        began = self._clock.now()
        if self.view.state != "busy":
            self._become(state="starting", retry_at=None)
        try:
            job = self._attempt(self.runnable, self._watch())
        except (Exception, SystemExit) as error:  # noqa: BLE001  # the policy decides
            return self._after_failure(error, began)
        self.last = job
        if job.state == "finished":
            self._finished(job)
            return None
        if not self._stays:
            self._become(state="stopped")
            return None
        # Somebody wants it quiet for a while; where it is to stay so, it is not wanted any more.
        return _LOOK

    def _finished(self, job: Job) -> None:
        try:
            self.runnable.ended(job)
        except PenstockError as error:
            self._become(failure=cause_of(error).line)
        self._become(state="finished")

    def _after_failure(self, error: BaseException, began: int) -> timedelta | None:
        cause = cause_of(error)
        now = self._clock.now()
        if cause.reason == BUSY and self._stays:
            return self._busy(cause, now)
        verdict = self._restarts.failed(cause, timedelta(milliseconds=now - began))
        self._log(cause, verdict.why)
        if self._ending.is_set():
            return timedelta(0)
        if verdict.pause is None:
            self.failure = error
            self._become(state="failed", failure=f"{cause.line}; {verdict.why}")
            return None
        self._become(
            state="waiting",
            failure=cause.line,
            restarts=self.view.restarts + 1,
            retry_at=now + _milliseconds(verdict.pause),
        )
        return verdict.pause

    def _busy(self, cause: Cause, now: int) -> timedelta:
        """Wait for who works on the checkpoint; a worker takes seconds to find out, so longer."""
        self._looks = self._looks + 1 if self.view.state == "busy" else 0
        pause = min(_LOOK * 2**self._looks, _LONGEST_LOOK) if self.view.worker else _LOOK
        self._become(state="busy", failure=cause.line, retry_at=now + _milliseconds(pause))
        return pause

    def _watch(self) -> Watch:
        return Watch(
            ending=self._ending.is_set,
            restarts=self.view.restarts,
            registered=self._registered,
            running=lambda: self._become(state="running"),
        )

    def _registered(self, run: str, pid: int) -> None:
        # Only a run that is written down has its checkpoint to itself.
        state = "starting" if run else self.view.state
        self._become(run=run, pid=pid, state=state, retry_at=None)

    def _log(self, cause: Cause, why: str) -> None:
        if self.view.run:
            try:
                text = f"{cause.line}; {why}"
                self._store.log(self.view.run).write(self._clock.now(), "warning", text)
            except PenstockError:
                # The disk may be what has failed: the job must be brought back all the same.
                return

    def _become(self, **changes: Any) -> None:  # noqa: ANN401  # fields of the view
        state = changes.get("state", self.view.state)
        # Who ends it is another thread than the one that runs it.
        with self._turn:
            if self._ending.is_set() and state in {"starting", "running"}:
                changes["state"] = state = "ending"
            if state != self.view.state:
                changes["since"] = self._clock.now()
                if self.view.state == "busy":
                    changes.setdefault("failure", "")
            self.view = replace(self.view, **changes)
        self._changed()


def run_supervised(runnable: Runnable, store: JobStore, *, clock: Clock = SYSTEM_CLOCK) -> Job:
    """Run a job in this thread, again where it fails, and give its last run.

    A failure that its policy does not mend is raised.
    """
    attempt = attempt_here(store, clock=clock)
    supervisor = Supervisor(runnable, attempt, store, clock=clock, stays=False)
    supervisor.run()
    if supervisor.failure is not None:
        raise supervisor.failure
    assert supervisor.last is not None, "it has ended, and not failed"
    return supervisor.last


def _milliseconds(time: timedelta) -> int:
    return round(1000 * time.total_seconds())
