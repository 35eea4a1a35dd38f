"""One batch through all levels of a program, in this process; Spark does the same in parallel.

Pure: the memory that goes in is not changed, so that a batch can be done again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from penstock.kernel.parcel import NO_BUCKET, Parcel, Worked, origin_of
from penstock.kernel.port import Counts, Frame, State, Time
from penstock.kernel.program import Program
from penstock.kernel.unread import ALL_READ, Unread
from penstock.kernel.watermark import Place, Watermarks, advance
from penstock.model.physical import Keyed

READ = "read"
"""The name of the first step of a batch; the others are named after their operators."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Rows of one partition of a scan, as the log has them, and what could not be read."""

    place: Place
    rows: Frame
    unread: Unread = ALL_READ


@dataclass(frozen=True, slots=True)
class Memory:
    """All that a program remembers between two batches."""

    watermarks: Watermarks
    time: Time
    states: Mapping[tuple[str, int], State] = field(default_factory=dict)
    wakes: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @property
    def wake_at(self) -> int | None:
        """The clock time at which something is due although no row comes."""
        idle = self.watermarks.wake_at(self.time.clock)
        return min([*self.wakes.values(), *([] if idle is None else [idle])], default=None)


@dataclass(frozen=True, slots=True)
class Input:
    """What one batch takes: rows, the clock, and watermarks that somebody says outright.

    Without `bounded` no event time is too far ahead of the clock; without `heard` the rows
    do not move the watermark.
    """

    clock: int
    arrivals: Sequence[Arrival] = ()
    claims: Mapping[Place, int] = field(default_factory=dict)
    bounded: bool = True
    heard: bool = True


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a batch: parcels for outputs only."""

    memory: Memory
    parcels: tuple[Parcel, ...]
    counts: Mapping[str, Counts]


def run_batch(
    program: Program,
    memory: Memory,
    given: Input,
    after: Callable[[str], None] = lambda _: None,
) -> Done:
    """Do one batch; `after` is called with the name of each step that is done."""
    work = _Batch(program, memory)
    work.read(given)
    after(READ)
    for level in program.physical.levels:
        for keyed in level:
            work.step(keyed)
            after(keyed.id)
    return work.done()


class _Batch:
    def __init__(self, program: Program, memory: Memory) -> None:
        self._program = program
        self._before = memory
        self._time = memory.time
        self._watermarks = memory.watermarks
        self._states = dict(memory.states)
        self._wakes = dict(memory.wakes)
        self._waiting: dict[str, dict[int, list[Frame]]] = {}
        self._parcels: list[Parcel] = []
        self._counts: dict[str, Counts] = {}

    def read(self, given: Input) -> None:
        clock = given.clock if given.bounded else None
        said: dict[Place, int | None] = dict(given.claims)
        waiting: list[Frame] = []
        for number, arrival in enumerate(given.arrivals):
            scan = arrival.place[0]
            taken = self._program.take(
                scan,
                arrival.rows,
                self._before.time.watermark,
                clock,
                chains=False,
                unread=arrival.unread,
            )
            self._collect(taken.worked, waiting)
            if given.heard and arrival.place not in given.claims:
                known = said.get(arrival.place)
                said[arrival.place] = _later(known, taken.candidate)
            # All partitions of a scan at once, as a task that reads them does.
            if [later.place[0] for later in given.arrivals[number + 1 : number + 2]] != [scan]:
                self._follow(scan, waiting)
                waiting = []
        self._watermarks = advance(self._watermarks, said, given.clock)
        self._time = Time(self._watermarks.reached, given.clock)

    def step(self, keyed: Keyed) -> None:
        waiting = self._waiting.pop(keyed.id, {})
        moved = self._time != self._before.time
        live = [bucket for id_, bucket in self._before.states if id_ == keyed.id and moved]
        for bucket in sorted({*waiting, *live}):
            place = (keyed.id, bucket)
            # A bucket that is empty is not stepped, and so knows no time of its own.
            state = self._states.get(place, State(time=self._before.time))
            worked = self._program.work(keyed.id, state, waiting.get(bucket, []), self._time)
            self._collect(worked)
            self._remember(place, worked)

    def done(self) -> Done:
        memory = Memory(self._watermarks, self._time, self._states, self._wakes)
        return Done(memory, tuple(self._parcels), self._counts)

    def _follow(self, scan: str, frames: list[Frame]) -> None:
        if frames:
            rows = pl.concat(frames, rechunk=False)
            self._collect(self._program.follow(scan, rows, self._before.time.watermark))

    def _collect(self, worked: Worked, waiting: list[Frame] | None = None) -> None:
        """Put parcels where they belong: `waiting` takes those that are to be followed."""
        for parcel in worked.parcels:
            if waiting is not None and origin_of(parcel.target) is not None:
                waiting.append(parcel.frame)
            elif parcel.bucket == NO_BUCKET:
                self._parcels.append(parcel)
            else:
                buckets = self._waiting.setdefault(parcel.target, {})
                buckets.setdefault(parcel.bucket, []).append(parcel.frame)
        for step, counts in worked.counts.items():
            self._counts[step] = self._counts.get(step, Counts()) + counts

    def _remember(self, place: tuple[str, int], worked: Worked) -> None:
        self._states.pop(place, None)
        self._wakes.pop(place, None)
        if worked.state is not None and worked.state.rows:
            self._states[place] = worked.state
        if worked.wake_at is not None:
            self._wakes[place] = worked.wake_at


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return max(one, other)
