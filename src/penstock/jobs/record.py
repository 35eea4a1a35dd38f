"""The record that a running program keeps of itself."""

from __future__ import annotations

import getpass
import os
import socket
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import Self

from typing_extensions import override

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import PenstockError
from penstock.jobs.cause import cause_of
from penstock.jobs.job import Job, ProcessingElement, State
from penstock.jobs.quiet import take_place
from penstock.jobs.stop import StopRequest, requested_stop
from penstock.jobs.store import JobStore
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.plan.deployment import deploy
from penstock.plan.fingerprint import fingerprint


def new_job(physical: Physical, *, application: str = "", checkpoint: str = "") -> Job:
    """Describe the job that this process is about to run; its id comes with its registration."""
    return Job(
        id="",
        name=physical.name,
        application=application or physical.name,
        state="starting",
        user=getpass.getuser(),
        host=socket.gethostname(),
        pid=os.getpid(),
        started_at=0,
        elements=tuple(
            ProcessingElement(item.id, item.kind, item.instances, item.processes, item.does)
            for item in deploy(physical).elements
        ),
        checkpoint=checkpoint,
        buckets=physical.settings.buckets,
        parallelism=physical.settings.parallelism,
        fuse=physical.settings.fuse,
        fingerprint=fingerprint(physical),
    )


def unread_job(name: str) -> Job:
    """Describe a job of this process whose program could not be looked at."""
    return Job(
        id="",
        name=name,
        application=name,
        state="starting",
        user=getpass.getuser(),
        host=socket.gethostname(),
        pid=os.getpid(),
        started_at=0,
    )


class JobRecord(AbstractContextManager["JobRecord"]):
    """A job from its start to its end: a with block writes down how it ended.

    It is finished when the block ends by itself, stopped where that was asked for, and failed
    where an error leaves the block. A process that dies leaves a job that is lost.
    """

    def __init__(self, store: JobStore, job: Job, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._store = store
        self._clock = clock
        self.batch = -1
        # Nobody else works on its checkpoint meanwhile.
        self._place = take_place(store, job.checkpoint) if job.checkpoint else None
        try:
            self.job, self._lock = store.register(replace(job, started_at=clock.now()))
        except BaseException:
            self._leave()
            raise

    @override
    def __enter__(self) -> Self:
        return self

    def running(self) -> None:
        """Say that the job has begun to work."""
        self._become("running")

    def stopping(self, why: str) -> None:
        """Say that the job is to end."""
        if self.job.state != "stopping":
            self._become("stopping", why)

    def progress(self, progress: Progress) -> None:
        """Say how far it has come."""
        self.batch = progress.batch
        self._store.write_progress(self.job.id, progress)

    def requested(self) -> StopRequest | None:
        """Give what was asked of it; from the first time on it shows as stopping."""
        request = requested_stop(self._store, self.job.id)
        if request is not None:
            self.stopping(f"{request.user or 'somebody'} asked it to {request.mode}")
        return request

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._end(error)
        finally:
            self._lock.close()
            self._leave()

    def _leave(self) -> None:
        if self._place is not None:
            self._place.close()

    def _end(self, error: BaseException | None) -> None:
        failed = error is not None and not isinstance(error, KeyboardInterrupt)
        failure = "" if error is None or not failed else _failure(error)
        asked = self.job.state == "stopping" or error is not None
        state: State = "failed" if failed else "stopped" if asked else "finished"
        self.job = replace(self.job, ended_at=self._clock.now(), failure=failure)
        self._become(state, failure)

    def _become(self, state: State, why: str = "") -> None:
        self.job = replace(self.job, state=state)
        self._store.write(self.job)
        text = f"{state}: {why}" if why else state
        self._store.log(self.job.id).write(
            self._clock.now(), "error" if state == "failed" else "info", text
        )


def _failure(error: BaseException) -> str:
    """Tell the cause in the first line, and below it what can be done."""
    if isinstance(error, PenstockError):
        return f"{type(error).__name__}: {error}"
    return cause_of(error).line
