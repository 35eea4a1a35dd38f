"""A running program: how it fares, and how it is stopped."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import lru_cache
from time import monotonic
from typing import Any, Literal, TypeAlias

import psutil
from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

from penstock.errors import RunError
from penstock.model.physical import Physical
from penstock.model.progress import Process, Progress
from penstock.spark.failure import run_error
from penstock.spark.levels import Levels
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_progress import program_progress
from penstock.spark.progress_file import left_before
from penstock.spark.session import planner_server

_RECENT_SECONDS = 2.0
_AFTER = "== What follows, where a batch is more than one task's =="

Status: TypeAlias = Literal["running", "ended", "stopped", "failed"]


class ProgramQuery:
    """One program on Spark."""

    def __init__(
        self, query: StreamingQuery, physical: Physical, options: ProgramOptions, levels: Levels
    ) -> None:
        self._query = query
        self._options = options
        self._levels = levels
        self.physical = physical

    @property
    def job(self) -> str:
        """The name of the job in the log's transactions: that of its checkpoint."""
        return self._options.job

    @property
    def status(self) -> Status:
        """Whether it runs, and if not, why."""
        if self._query.isActive:
            return "running"
        if self._query.exception() is not None:
            return "failed"
        left = left_before(self._options.files)
        return "ended" if left is not None and left.told["ends"] else "stopped"

    @property
    def busy(self) -> bool:
        """Whether a batch is in hand."""
        # To Spark a query that listens for an append is as active as one that runs a batch.
        files = self._options.files
        return bool(self._query.status["isTriggerActive"]) and files.begun > files.committed

    @property
    def progress(self) -> Progress | None:
        """What the last batch left; none before the first."""
        left = left_before(self._options.files)
        return None if left is None else program_progress(left, self.physical, processes())

    @property
    def error(self) -> RunError | None:
        """Why it failed; none where it did not."""
        found = self._query.exception()
        return None if found is None else run_error(found)

    @property
    def spark(self) -> StreamingQuery:
        """The query as Spark has it."""
        return self._query

    def explain(self) -> str:
        """Give the last stage of `explain`: the plan that Spark made, once a batch has run."""
        query: Any = self._query
        try:
            # PySpark only prints it.
            text: str = query._jsq.explainInternal(False)  # noqa: FBT003, SLF001
            levels = self._levels.explain()
        except Exception as error:
            raise run_error(error) from error
        return f"{text.rstrip()}\n\n{_AFTER}\n{levels}" if levels else text

    def await_end(self, timeout: timedelta | None = None) -> bool:
        """Wait until it ends, or the time is over; a failure is raised."""
        seconds = None if timeout is None else max(1, round(timeout.total_seconds()))
        try:
            done = self._query.awaitTermination(seconds)
        except Exception as error:
            raise run_error(error) from error
        return done is None or bool(done)

    def stop(self) -> None:
        """Stop now; a batch that has not ended is run again at the next start."""
        self._query.stop()


def processes() -> tuple[Process, ...]:
    """Give the processes that work for the programs of this one: itself, the JVM, its workers."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001  # Spark does not tell its own number
    found = [Process(os.getpid(), "driver")]
    if gateway is None or gateway.proc is None:
        return tuple(found)
    try:
        machine = psutil.Process(gateway.proc.pid)
        found.append(Process(machine.pid, "jvm"))
        children = machine.children(recursive=True)
        server = planner_server()
        if server is not None:
            planners = psutil.Process(server)
            children += [planners, *planners.children()]
        found += [Process(child.pid, "worker") for child in children]
    except psutil.NoSuchProcess:
        pass
    return tuple(found)


def recent_processes() -> tuple[Process, ...]:
    """Give them as they were some seconds ago at most: to look takes longer than a small batch."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001  # as above
    return _seen(int(monotonic() // _RECENT_SECONDS), gateway)


@lru_cache(maxsize=1)
def _seen(_period: int, _gateway: object) -> tuple[Process, ...]:
    return processes()
