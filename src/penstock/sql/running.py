"""Queries that run on, run in this process: as far as there is something to read, or for ever.

Each is a program of its own with its checkpoint beside the log, so that it goes on from where it
was, whoever runs it next. One process at a time runs a query; the others leave it alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from penstock.errors import PenstockError
from penstock.front.sql.statement import Started
from penstock.inline.item import Barrier
from penstock.inline.local_store import LocalStore
from penstock.inline.run import InlineOptions, InlineRun
from penstock.inline.snapshot import Snapshots
from penstock.log.embedded.lock import FlockLock
from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical, Settings
from penstock.plan.planner import plan
from penstock.sql.evaluation import Evaluation
from penstock.sql.readable import readable

_SNAPSHOTS = 0.2
_ROWS = 1000
_PATIENCE = 0.1


def physical_of(query: Started, settings: Settings | None = None) -> Physical:
    """Give the program of a query."""
    return plan(readable(query.plan), settings or Settings())


def checkpoint_of(home: Path, query: Started) -> Path:
    """Give where a query remembers how far it came."""
    return home / "jobs" / query.id


def catch_up(home: Path, queries: Sequence[Started]) -> None:
    """Let queries read all that there is, until none of them has written more for another."""
    # Queries that feed one another in a circle would go on for ever.
    for _ in range(len(queries) + 1):
        moved = False
        for query in queries:
            with _alone(home, query) as ours:
                moved = (ours and _caught_up(home, query)) or moved
        if not moved:
            return


def run_here(home: Path, queries: Sequence[Started]) -> None:
    """Run queries until Ctrl-C, or until one of them fails, which is raised."""
    running = Running(home)
    failures: dict[str, BaseException] = {}
    try:
        running.follow(queries)
        while not failures:
            time.sleep(_PATIENCE)
            failures = running.failures()
    except KeyboardInterrupt:
        return
    finally:
        running.stop()
    raise next(iter(failures.values()))


class Running:
    """Queries run by threads of this process until they are stopped."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._threads: dict[str, _QueryThread] = {}

    def follow(self, queries: Iterable[Started]) -> None:
        """Run these and no others."""
        wanted = {query.id: query for query in queries}
        for id_ in [id_ for id_ in self._threads if id_ not in wanted]:
            self._threads.pop(id_).stop()
        for id_, query in wanted.items():
            if id_ not in self._threads:
                self._threads[id_] = _QueryThread(self._home, query)
                self._threads[id_].start()

    def failures(self) -> dict[str, BaseException]:
        """Give why queries have ended by themselves."""
        return {
            id_: thread.failure
            for id_, thread in self._threads.items()
            if thread.failure is not None
        }

    def stop(self) -> None:
        """Let all queries store what they have read, and end."""
        self.follow(())


class _QueryThread(threading.Thread):
    def __init__(self, home: Path, query: Started) -> None:
        super().__init__(name=query.id, daemon=True)
        self._home = home
        self._query = query
        self._stopping = threading.Event()
        self._run: InlineRun | None = None
        self.failure: BaseException | None = None

    @override
    def run(self) -> None:
        try:
            with _alone(self._home, self._query) as ours:
                if ours and not self._stopping.is_set():
                    self._run = _run_of(self._home, self._query, caught_up=False)
                    if self._stopping.is_set():
                        self._run.stop()
                    self._run.run()
        except Exception as error:  # noqa: BLE001  # told to who asks, not lost with the thread
            self.failure = error

    def stop(self) -> None:
        """Let the query end, and wait until it has."""
        self._stopping.set()
        if self._run is not None:
            self._run.stop()
        self.join()


def _caught_up(home: Path, query: Started) -> bool:
    return _run_of(home, query, caught_up=True).run().items > 0


def _run_of(home: Path, query: Started, *, caught_up: bool) -> InlineRun:
    physical = physical_of(query)
    checkpoint = checkpoint_of(home, query)
    with open_log(home) as log:
        _read_tables_first(query, physical, log, checkpoint)
    options = InlineOptions(
        rows=_ROWS,
        snapshot_every=_SNAPSHOTS,
        exactly_once=True,
        until="caught up" if caught_up else "stopped",
    )
    return InlineRun(physical, home=home, checkpoint=checkpoint, options=options)


def _read_tables_first(query: Started, physical: Physical, log: Log, checkpoint: Path) -> None:
    """Let a query that joins streams to tables begin with the tables as they are.

    Of what is there before it starts nothing tells which came first; a table is meant to be
    known by then.
    """
    tables = {source.topic for source in query.reads if source.is_table}
    others = {source.topic for source in query.reads} - tables
    snapshots = Snapshots(LocalStore(checkpoint), physical)
    transaction = log.transaction(f"inline-{checkpoint.name}")
    try:
        if not tables or not others or transaction.note:
            return
        bounds = log.snapshot(sorted(tables | others))
        starts = {TopicPartition(*at): bound.start for at, bound in bounds.items()}
        evaluation = Evaluation(physical, log, starts)
        ends = {TopicPartition(*at): bounds[at].end for at in bounds if at.topic in tables}
        for _ in evaluation.read(ends):
            # A change of a table alone makes no row of a join with a stream.
            pass
        memory = evaluation.memory
        barrier = Barrier(1, evaluation.offsets, memory.watermarks, memory.time)
        barrier.states.update(memory.states)
        barrier.wakes.update(memory.wakes)
        transaction.begin()
        snapshots.write(barrier, transaction)
        transaction.commit(str(barrier.number))
    finally:
        transaction.close()


@contextmanager
def _alone(home: Path, query: Started) -> Iterator[bool]:
    """Hold a query for the length of a with block; False where another process has it."""
    folder = checkpoint_of(home, query)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FlockLock(str(folder / "here.lock"))
    ours = lock.acquire(timeout=0)
    try:
        yield ours
    finally:
        lock.close()


def shown_failure(error: BaseException) -> str:
    """Give why a query ended, in one line."""
    return error.fact if isinstance(error, PenstockError) else f"{type(error).__name__}: {error}"
