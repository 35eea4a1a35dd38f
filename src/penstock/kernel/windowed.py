"""Aggregates by key and window: the Dataflow model's panes, for many keys at once."""

from __future__ import annotations

import polars as pl

from penstock.kernel.arrive import take
from penstock.kernel.assign import END
from penstock.kernel.divided import PANES
from penstock.kernel.emit import empty_output
from penstock.kernel.overlap import OverlapWork
from penstock.kernel.pack import pack
from penstock.kernel.port import END_OF_TIME, Counts, Frame, State, Step, Time
from penstock.kernel.revise import RevisedWork
from penstock.kernel.shape import Shape
from penstock.kernel.work import Work
from penstock.model.aggregate import Aggregate


class WindowedAggregate:
    """The operator of an aggregate over windows, or of a running one without.

    State: `panes` (one row a key and window: bounds, what the trigger remembers, what was
    given out), `keys`, the accumulators, and `given`: results that may be taken back.
    """

    def __init__(self, relation: Aggregate, keep_late_ms: int) -> None:
        self._shape = Shape(relation, keep_late_ms)
        self._nothing = empty_output(self._shape)
        self._kind = Work
        if self._shape.shared:
            self._kind = OverlapWork
        elif self._shape.revised:
            self._kind = RevisedWork

    @property
    def keys(self) -> tuple[str, ...]:
        """The group keys."""
        return self._shape.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:
        """Fold rows by key and slice of time, where the order of rows does not matter."""
        return pack(self._shape, rows, watermark)

    def alone_until(self, state: State) -> int | None:
        """Give the watermark up to which a step leaves keys without rows as they are, if any."""
        if not self._shape.patient:
            return None
        panes = state.tables.get(PANES)
        if panes is None:
            return END_OF_TIME
        return self._shape.leaves(panes[END].to_numpy(), state.time.watermark)

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take one batch: first the clock, then the rows, then the watermark."""
        course = self._shape.watermarks(state.time, time)
        work = self._kind(self._shape, state.tables, course)
        if course.rows > course.reached or work.clock_due():
            work.advance(course.rows)
        if delta.height:
            take(work, delta)
        if course.final > course.rows or self._shape.merging:
            work.advance(course.final)
        return _step(work, self._nothing, _later(state.time, time))


def _later(before: Time, now: Time) -> Time:
    """Neither clock goes back."""
    return Time(max(before.watermark, now.watermark), max(before.clock, now.clock))


def _step(work: Work, nothing: Frame, time: Time) -> Step:
    aside = work.aside
    outputs = [frame for frame in work.emitter.output if frame.height]
    output = pl.concat(outputs) if outputs else nothing
    late = pl.concat(aside.late) if aside.late else None
    dead = pl.concat(aside.dead) if aside.dead else None
    late_rows = aside.late_packed + (0 if late is None else late.height)
    dead_rows = 0 if dead is None else dead.height
    counts = Counts(
        taken=aside.taken,
        passed=aside.taken - aside.filtered - late_rows - dead_rows,
        filtered=aside.filtered,
        late=late_rows,
        dead=dead_rows,
        given=output.height,
        dropped_pairs=aside.dropped_pairs,
    )
    tables = work.tables()
    return Step(State(tables, time), output, late, dead, counts, work.wake_at())
