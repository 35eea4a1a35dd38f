"""Jobs for hosts and supervisors that need no Spark: queries that end or fail when told to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from penstock.jobs.job import Job
from penstock.jobs.runnable import Runnable
from penstock.model.job_settings import JobSettings, Restart
from penstock.model.progress import Progress
from tests.jobs.records import JOB

SOON = Restart(
    tries=3, first_pause=timedelta(milliseconds=10), longest_pause=timedelta(milliseconds=20)
)
PATIENCE = 20.0


class FakeQuery:
    """Runs until it is stopped, ended or failed."""

    busy = False

    def __init__(self, failure: Exception | None = None) -> None:
        self.stopped = False
        self._ended = threading.Event()
        self._failure = failure
        if failure is not None:
            self._ended.set()

    def await_end(self, timeout: timedelta | None = None) -> bool:
        assert timeout is not None
        done = self._ended.wait(0.01)
        if done and self._failure is not None:
            raise self._failure
        return done

    def explain(self) -> str:
        return ""

    def stop(self) -> None:
        self.stopped = True
        self._ended.set()

    def end(self) -> None:
        self._ended.set()

    def fail(self, error: Exception) -> None:
        self._failure = error
        self._ended.set()


@dataclass
class FakeJob:
    """A job whose runs fail by the errors given, one after the other, and then run on."""

    name: str = "shop"
    version: str = "1"
    failures: list[Exception] = field(default_factory=list)
    settings: JobSettings = field(default_factory=lambda: JobSettings(restart=SOON))
    queries: list[FakeQuery] = field(default_factory=list)
    ended: list[Job] = field(default_factory=list)

    @property
    def runnable(self) -> Runnable:
        return Runnable(
            self.name,
            self.version,
            lambda: replace(JOB, name=self.name, checkpoint=""),
            self._begin,
            self.settings,
            self.ended.append,
        )

    def _begin(self, _: Callable[[Progress], None]) -> FakeQuery:
        self.queries.append(FakeQuery(self.failures.pop(0) if self.failures else None))
        return self.queries[-1]
