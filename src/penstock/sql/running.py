"""Queries that run on, run in this process: as far as there is something to read, or for ever.

Each is a program of its own with its checkpoint beside the log, so that it goes on from where it
was, whoever runs it next.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from typing_extensions import override

from penstock.front.sql.statement import Started
from penstock.inline.item import Barrier
from penstock.inline.local_store import LocalStore
from penstock.inline.run import InlineOptions, InlineRun
from penstock.inline.snapshot import Snapshots
from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical, Settings
from penstock.plan.planner import plan
from penstock.spark.program_start import start_offsets
from penstock.sql.evaluation import Evaluation
from penstock.sql.query_place import checkpoint_of, engine_of, reached_of, taken, write_reached

_SNAPSHOTS = 0.2
# As many as are cheap to take in one go; an item is never waited for.
_ROWS = 16_384
_PATIENCE = 0.1
_LOOK = 1.0
"""Seconds between two looks at what is to run."""

Wanted: TypeAlias = Callable[[], Iterable[Started]]
"""Gives the queries that are to run, as the catalog has them now."""


def physical_of(query: Started, settings: Settings | None = None) -> Physical:
    """Give the program of a query."""
    return plan(query.plan, settings or Settings())


def catch_up(home: Path, queries: Sequence[Started]) -> None:
    """Let queries read all that there is, until none of them has written more for another."""
    # Queries that feed one another in a circle would go on for ever.
    for _ in range(len(queries) + 1):
        moved = False
        for query in _behind(home, queries):
            with taken(home, query.id, "here") as ours:
                moved = (ours and _caught_up(home, query)) or moved
        if not moved:
            return


def _behind(home: Path, queries: Sequence[Started]) -> Iterator[Started]:
    """Give the queries that may have something to read: to find out by running one takes longer."""
    with open_log(home) as log:
        for query in queries:
            reached = reached_of(home, query.id)
            topics = {at.topic for at in reached}
            ends = {
                TopicPartition(*at): bound.end
                for at, bound in (log.snapshot(topics) if topics <= {*log.topics()} else {}).items()
            }
            if not reached or ends != reached:
                yield query


def run_here(home: Path, wanted: Wanted) -> None:
    """Run the queries that are to run until Ctrl-C, or until one fails, which is raised."""
    running = Running(home)
    failures: dict[str, BaseException] = {}
    look = 0.0
    try:
        while not failures:
            if time.monotonic() >= look:
                running.follow(wanted())
                look = time.monotonic() + _LOOK
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
        """Run these and no others, but those that another process or Spark has."""
        wanted = {
            query.id: query for query in queries if engine_of(self._home, query.id) != "spark"
        }
        for id_, thread in list(self._threads.items()):
            if wanted.get(id_) != thread.query or thread.given_up:
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

    def settle(self, log: Log, seconds: float) -> None:
        """Wait a little until the queries have stored all that they can read now."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if all(thread.settled(log) for thread in self._threads.values()):
                return
            time.sleep(_PATIENCE / 10)

    def stop(self) -> None:
        """Let all queries store what they have read, and end."""
        for thread in self._threads.values():
            thread.ask_to_stop()
        self.follow(())


class _QueryThread(threading.Thread):
    def __init__(self, home: Path, query: Started) -> None:
        super().__init__(name=query.id, daemon=True)
        self.query = query
        self.failure: BaseException | None = None
        self._home = home
        self._stopping = threading.Event()
        self._run: InlineRun | None = None
        self._reached: Mapping[TopicPartition, int] = reached_of(home, query.id)

    @property
    def given_up(self) -> bool:
        """Whether it has ended although nothing failed: another process had the query."""
        return self.ident is not None and not self.is_alive() and self.failure is None

    @override
    def run(self) -> None:
        try:
            with taken(self._home, self.query.id, "here") as ours:
                if ours and not self._stopping.is_set():
                    self._run = run_of(self._home, self.query, caught_up=False)
                    self._run.on_stored = self._stored
                    if self._stopping.is_set():
                        self._run.stop()
                    self._run.run()
        except Exception as error:  # noqa: BLE001  # told to who asks, not lost with the thread
            self.failure = error

    def settled(self, log: Log) -> bool:
        """Whether all is stored that can be read now; one that does not run has nothing to do."""
        if not self.is_alive():
            return True
        # Files are read as topics, and are none.
        topics = sorted({source.topic for source in self.query.reads} & {*log.topics()})
        bounds = log.snapshot(topics)
        return all(
            self._reached.get(TopicPartition(*at), bound.start) >= bound.end
            for at, bound in bounds.items()
        )

    def ask_to_stop(self) -> None:
        """Let the query end."""
        self._stopping.set()
        if self._run is not None:
            self._run.stop()

    def stop(self) -> None:
        """Let the query end, and wait until it has."""
        self.ask_to_stop()
        self.join()

    def _stored(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._reached = dict(offsets)
        write_reached(self._home, self.query.id, offsets)


def _caught_up(home: Path, query: Started) -> bool:
    run = run_of(home, query, caught_up=True)
    run.on_stored = lambda offsets: write_reached(home, query.id, offsets)
    return run.run().items > 0


def run_of(home: Path, query: Started, *, caught_up: bool) -> InlineRun:
    """Give the run of a query in this process, which goes on from where it was."""
    physical = physical_of(query)
    checkpoint = checkpoint_of(home, query.id)
    with open_log(home) as log:
        read_tables_first(query, physical, log, checkpoint)
    options = InlineOptions(
        rows=1 if query.by_record else _ROWS,
        snapshot_every=_SNAPSHOTS,
        guarantee="exactly-once",
        until="caught up" if caught_up else "stopped",
    )
    return InlineRun(physical, home=home, checkpoint=checkpoint, options=options)


def tables_first(query: Started) -> tuple[str, ...]:
    """Give the topics of the tables that a query joins to streams: what it is to know first."""
    tables = {source.topic for source in query.reads if source.is_table}
    others = {source.topic for source in query.reads} - tables
    return tuple(sorted(tables)) if others else ()


def read_tables_first(query: Started, physical: Physical, log: Log, checkpoint: Path) -> None:
    """Let a query that joins streams to tables begin with the tables as they are.

    Of what is there before it starts nothing tells which came first; a table is meant to be
    known by then.
    """
    tables = tables_first(query)
    snapshots = Snapshots(LocalStore(checkpoint), physical)
    transaction = log.transaction(f"inline-{checkpoint.name}")
    try:
        if not tables or transaction.note:
            return
        bounds = log.snapshot(sorted({source.topic for source in query.reads}))
        starts = start_offsets(physical, log)
        evaluation = Evaluation(physical, log, starts, asked=False)
        ends = {TopicPartition(*at): bounds[at].end for at in bounds if at.topic in tables}
        for given in evaluation.read(ends):
            # A change of a table alone makes no row of a join with a stream; where it makes one,
            # the tables are joined to others, and all is read as it lies.
            if given.height:
                return
        memory = evaluation.memory
        barrier = Barrier(1, evaluation.offsets, memory.watermarks, memory.time)
        barrier.states.update(memory.states)
        barrier.wakes.update(memory.wakes)
        transaction.begin()
        snapshots.write(barrier, transaction)
        transaction.commit(str(barrier.number))
    finally:
        transaction.close()
