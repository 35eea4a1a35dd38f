"""Runs a program in this process, an event at a time and without Spark.

Every stage is a thread: while one works on an event, the stage before it works on the next.
Results are given at once, in milliseconds. What is remembered is stored from time to time by a
barrier that passes through all stages; after a crash the program goes on from there, if the store
that was chosen has kept it (`inline.state_store`).

What a crash may do to results is chosen. Exactly once: those of the events since the last barrier
become visible with it, in one transaction. At least once: they are visible at once, and those
since the barrier may come twice. At most once: they wait until the barrier is stored and are then
given without a look back; those that a crash keeps from becoming visible are lost. Results for a
store, a database, come to it with the barrier and once, whatever was chosen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Literal

import pyarrow as pa

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.connect.results import stored_tables
from penstock.errors import RunError, UsageError
from penstock.inline.choose_store import choose_store
from penstock.inline.intake import Intake
from penstock.inline.item import Barrier, Item, Span
from penstock.inline.pending import Deliveries
from penstock.inline.rebuild import forget_inline
from penstock.inline.snapshot import Kept, Snapshots
from penstock.inline.stage import LevelStage, Passing, Worker
from penstock.inline.state_store import StateStore
from penstock.kernel.batch import Memory
from penstock.kernel.decode import Decoders
from penstock.kernel.parcel import Parcel
from penstock.kernel.port import START_OF_TIME, Counts, Time
from penstock.kernel.program import Program
from penstock.kernel.watermark import Watermarks
from penstock.log.open import open_log
from penstock.log.port import Log, Transaction
from penstock.log.record import TopicPartition
from penstock.log.up_to import up_to
from penstock.model.job_settings import Guarantee
from penstock.model.physical import Physical
from penstock.setting_value import StateKind
from penstock.spark.handle import codecs_of
from penstock.spark.input_schema import require_formats, require_inputs
from penstock.spark.inputs import input_log
from penstock.spark.output import ensure_topics, outlets
from penstock.spark.program_start import start_offsets
from penstock.spark.rebuild import is_forgetting
from penstock.spark.registering import register_outputs
from penstock.spark.retired import require_current
from penstock.spark.route import Routed

_PATIENCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineOptions:
    """How a program is run here: rows an item, seconds between snapshots, and the promise.

    It runs until it is stopped, or has caught up with its topics, or takes that for the end
    of its input and closes every window. `state` says where it keeps what it remembers, and
    `database` which one it is where that is an external one: by default a file of the home.
    Where `partitions` are given only those of its topics are read: others read the rest.
    """

    rows: int = 1
    snapshot_every: float = 1.0
    guarantee: Guarantee = "at-least-once"
    until: Literal["stopped", "caught up", "end"] = "stopped"
    trace: bool = False
    state: StateKind = "local"
    database: str = ""
    rebuild: bool = False
    """Whether state and results are dropped first, and made again from the topics."""
    partitions: frozenset[int] | None = None
    upto: Mapping[TopicPartition, int] | None = None
    """Offsets at which its partitions end for it, where it does not run until it is stopped."""


@dataclass(slots=True)
class Report:
    """What a run has done so far."""

    counts: dict[str, Counts] = field(default_factory=dict)
    items: int = 0
    began_at: int = 0
    """The snapshot it went on from; 0 where there was none."""
    restored_from: StateKind | None = None
    """Where that was found."""
    latencies: list[float] = field(default_factory=list)
    """Seconds from the read of an item to its results in the log; with `trace` only."""


class InlineRun:
    """One program, run by `run` until `stop` is called from another thread, or its input ends."""

    def __init__(
        self,
        physical: Physical,
        *,
        home: Path,
        checkpoint: Path,
        options: InlineOptions | None = None,
        clock: Clock = SYSTEM_CLOCK,
        state: StateStore | None = None,
    ) -> None:
        self._options = options or InlineOptions()
        self._clock = clock
        self._log: Log = up_to(input_log(open_log(home), physical), self._options.upto)
        # Reading blocks in its own handle; appends of the last stage do not wait for it.
        self._out: Log = open_log(home)
        self._codecs = codecs_of(lambda: self._out, physical.settings.registry)
        self._program = Program(physical)
        store = state or self._chosen(home, require_current(checkpoint))
        _require_surviving(store, self._options)
        transaction = f"inline-{checkpoint.name}"
        if self._options.rebuild or is_forgetting(checkpoint):
            forget_inline(physical, self._out, checkpoint, store, transaction)
        self._snapshots = Snapshots(store, physical)
        require_inputs(self._log, physical)
        self._outlets = outlets(physical)
        self._deliveries = Deliveries(stored_tables(physical), _share(self._options))
        self._transaction: Transaction | None = None
        if self._options.guarantee == "exactly-once":
            self._transaction = self._out.transaction(transaction)
        self._waiting: list[Routed] = []
        self._stopping = Event()
        self._failure: BaseException | None = None
        self.on_stored: Callable[[Mapping[TopicPartition, int]], None] = _tell_nobody
        """Told the next record of each partition whenever all before is stored."""
        kept = self._begun_from()
        self.report = Report(began_at=kept.number, restored_from=kept.origin)
        self._deliveries.claim(kept.owner)
        self._deliveries.deliver(kept.pending, kept.owner, kept.number)
        self._barriers = kept.number
        self._intake = Intake(
            self._program,
            self._log,
            kept.memory,
            dict(kept.offsets),
            Decoders(physical, self._codecs),
        )
        self._levels = [
            LevelStage(self._program, level, kept.memory.states, kept.memory.wakes)
            for level in physical.levels
        ]

    def stop(self) -> None:
        """Let the run end after what has been read; it is stored, and the next run goes on."""
        self._stopping.set()

    def spans(self) -> list[Span]:
        """Give when each stage worked on each item; with `trace` only."""
        return [span for level in self._levels for span in level.spans]

    def run(self) -> Report:
        """Run until stopped, or to the end of a bounded input."""
        workers = self._workers()
        for worker in workers:
            worker.start()
        try:
            self._feed(workers[0])
        finally:
            for worker in workers:
                worker.end()
            self._close()
        if self._failure is not None:
            raise self._failure
        return self.report

    def _feed(self, first: Worker) -> None:
        stored, unstored = time.monotonic(), False
        self._begin()
        while self._failure is None:
            moved = self._pass_on(first)
            # Though nothing more may come: what did is stored, and becomes visible with that.
            unstored = unstored or moved
            if unstored and time.monotonic() - stored >= self._options.snapshot_every:
                first.queue.put(self._barrier())
                stored, unstored = time.monotonic(), False
            if self._stopping.is_set() or (self._options.until != "stopped" and not moved):
                break
            if not moved:
                unstored = self._idle(first) or unstored
        if self._options.until == "end" and self._failure is None:
            first.queue.put(self._intake.end(self._clock.now()))
        first.queue.put(self._barrier(last=True))

    def _pass_on(self, first: Worker) -> bool:
        moved = False
        for item in self._intake.items(self._options.rows, self._clock.now()):
            first.queue.put(item)
            moved = True
        return moved

    def _idle(self, first: Worker) -> bool:
        """Wait a little; whether the clock was passed on, since something was due."""
        wakes = [self._intake.wake_at(), *(level.wake_at for level in self._levels)]
        due = min((wake for wake in wakes if wake is not None), default=None)
        now = self._clock.now()
        ticks = due is not None and due <= now and now > self._intake.time.clock
        if ticks:
            first.queue.put(self._intake.tick(now))
        patience = _PATIENCE if due is None else min(_PATIENCE, max(due - now, 1) / 1000)
        self._intake.wait(patience)
        return ticks

    def _barrier(self, *, last: bool = False) -> Barrier:
        self._barriers += 1
        barrier = self._intake.barrier(self._barriers)
        barrier.last = last
        return barrier

    def _workers(self) -> list[Worker]:
        writer = Worker("write", self._write, self._fail)
        workers = [writer]
        for level in reversed(self._levels):
            following = workers[0]

            def work(passing: Passing, level: LevelStage = level, to: Worker = following) -> None:
                level.take(passing, trace=self._options.trace)
                to.queue.put(passing)

            workers.insert(0, Worker(level.name, work, self._fail))
        return workers

    def _write(self, passing: Passing) -> None:
        if isinstance(passing, Barrier):
            self._store(passing)
            return
        for parcel in passing.outputs:
            self._append(parcel, passing.time.clock)
        self._count(passing)

    def _append(self, parcel: Parcel, clock: int) -> None:
        if self._deliveries.takes(parcel.target):
            self._deliveries.add(parcel.target, parcel.frame)
            return
        outlet = self._outlets[parcel.target]
        for routed in outlet.routed(self._out, parcel.frame, clock, self._codecs):
            if self._options.guarantee == "at-most-once":
                self._waiting.append(routed)
            else:
                self._give(self._transaction or self._out, routed)

    def _give(self, to: Log | Transaction, routed: Routed) -> None:
        to.append(routed.topic, routed.partition, pa.Table.from_batches([routed.rows]))

    def _count(self, item: Item) -> None:
        self.report.items += 1
        for step, counts in item.counts.items():
            self.report.counts[step] = self.report.counts.get(step, Counts()) + counts
        if self._options.trace:
            self.report.latencies.append(time.perf_counter() - item.began)

    def _store(self, barrier: Barrier) -> None:
        barrier.pending = self._deliveries.gathered()
        self._snapshots.write(barrier, self._transaction)
        if self._transaction is None:
            self._snapshots.note(barrier.number)
            for routed in self._waiting:
                self._give(self._out, routed)
            self._waiting = []
        else:
            # The commit decides: with it both the results and the snapshot count, or neither.
            self._transaction.commit(str(barrier.number))
            self._snapshots.forget(barrier.number)
            if not barrier.last:
                self._transaction.begin()
        self._deliveries.deliver(barrier.pending, self._snapshots.owner, barrier.number)
        self.on_stored(barrier.offsets)

    def _begin(self) -> None:
        if self._transaction is not None:
            self._transaction.begin()

    def _begun_from(self) -> Kept:
        """Give what to go on from; where that is refused no topic is made."""
        physical = self._program.physical
        try:
            kept = self._kept()
            require_formats(physical, self._codecs)
            register_outputs(physical, self._codecs)
            ensure_topics(input_log(self._out, physical), physical)
        except BaseException:
            self._close()
            raise
        return kept

    def _kept(self) -> Kept:
        if self._transaction is not None:
            number = int(self._transaction.note) if self._transaction.note else None
        else:
            number = self._snapshots.current()
        if number is not None:
            return self._snapshots.read(number)
        physical = self._program.physical
        now = self._clock.now()
        memory = Memory(Watermarks.start(physical.scans, now), Time(START_OF_TIME, now))
        chosen = self._options.partitions
        offsets = {
            at: offset
            for at, offset in start_offsets(physical, self._log).items()
            if chosen is None or at.partition in chosen
        }
        return Kept(0, offsets, memory, self._snapshots.owner, {})

    def _chosen(self, home: Path, checkpoint: Path) -> StateStore:
        options = self._options
        name = self._program.physical.name + _share(options)
        database = options.database or str(home / "state.sqlite")
        return choose_store(options.state, checkpoint, self._out, name, database)

    def _fail(self, error: BaseException) -> None:
        if self._failure is None:
            wrapped = isinstance(error, Exception) and not hasattr(error, "code")
            self._failure = _as_run_error(error) if wrapped else error

    def _close(self) -> None:
        if self._transaction is not None:
            self._transaction.close()
        self._log.close()
        self._out.close()


def _tell_nobody(offsets: Mapping[TopicPartition, int]) -> None:
    """Nobody asked."""


def _share(options: InlineOptions) -> str:
    """Name what tells a run from others of the same program, which have other partitions."""
    return "".join(f"-{partition}" for partition in sorted(options.partitions or ()))


def _require_surviving(store: StateStore, options: InlineOptions) -> None:
    if options.guarantee != "at-least-once" and not store.survives:
        told = options.guarantee.replace("-", " ")
        raise UsageError(
            "STATE_MEMORY",
            f"results are to come {told}, and what they follow from is kept in memory only",
            hint='Give state="local", "changelog" or "external", or leave out the guarantee.',
        )


def _as_run_error(error: BaseException) -> RunError:
    told = RunError(
        "INLINE_FAILED",
        f"the program stopped: {type(error).__name__}: {error}",
        hint="What was stored stays; run it again to go on from there.",
    )
    told.__cause__ = error
    return told
