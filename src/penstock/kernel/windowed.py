"""Aggregates by key and window: the Dataflow model's panes, for many keys at once."""

from __future__ import annotations

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.emit import empty_output
from penstock.kernel.fold.fold import Groups
from penstock.kernel.intake import Intake, Share
from penstock.kernel.locate import locate
from penstock.kernel.pack import pack, unpack
from penstock.kernel.pane import NO_EARLIEST, NO_LATEST, PANE
from penstock.kernel.port import Counts, Frame, State, Step, Time
from penstock.kernel.row_path import RowPath
from penstock.kernel.shape import Shape
from penstock.kernel.slice import (
    EARLIEST,
    FIRST,
    LATEST,
    STATS,
    came,
    fold_slices,
    sort_out,
    windows_of,
)
from penstock.kernel.work import Work
from penstock.model.aggregate import Aggregate


class WindowedAggregate:
    """The operator of an aggregate over windows, or of a running one without.

    State: `panes` (one row a key and window: bounds, what the trigger remembers, what was
    given out), `keys`, the accumulators, and `given`: results that may be taken back.
    """

    def __init__(self, relation: Aggregate, keep_late_ms: int) -> None:
        self._shape = Shape(relation, keep_late_ms)

    @property
    def keys(self) -> tuple[str, ...]:
        """The group keys."""
        return self._shape.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:
        """Fold rows by key and slice of time, where the order of rows does not matter."""
        return pack(self._shape, rows, watermark)

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take one batch: first the clock, then the rows, then the watermark."""
        course = self._shape.watermarks(state.time, time)
        work = Work(self._shape, state.tables, course)
        if course.rows > course.reached or work.clock_due():
            work.advance(course.rows)
        late_without_rows = _take(work, delta) if delta.height else 0
        if course.final > course.rows or self._shape.merging:
            work.advance(course.final)
        return _step(work, late_without_rows, max_time(state.time, time))


def max_time(before: Time, now: Time) -> Time:
    """Neither clock goes back."""
    return Time(max(before.watermark, now.watermark), max(before.clock, now.clock))


def _step(work: Work, late_without_rows: int, time: Time) -> Step:
    aside = work.aside
    outputs = [frame for frame in work.emitter.output if frame.height]
    output = pl.concat(outputs) if outputs else empty_output(work.shape)
    late = pl.concat(aside.late) if aside.late else None
    dead = pl.concat(aside.dead) if aside.dead else None
    late_rows = late_without_rows + (0 if late is None else late.height)
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


def _take(work: Work, delta: Frame) -> int:
    """Take the rows of a batch, packed or not; give how many packed ones came too late."""
    shape, course = work.shape, work.course
    found = unpack(shape, delta)
    work.aside.taken += found.rows.height
    intake = Intake()
    late = 0
    if found.groups is not None and found.groups.columns.height:
        work.aside.taken += int(came(found.groups.columns).sum())
        late = _take_groups(work, intake, found.groups)
    rows = found.rows
    if rows.height and shape.sliced:
        sorted_out = sort_out(shape, rows, course.rows, course.clock)
        work.aside.refuse(sorted_out.late, "expired")
        work.aside.filtered += sorted_out.outside.height
        rows = sorted_out.delicate
        if sorted_out.plain.height:
            groups = fold_slices(shape, sorted_out.plain, course.rows, course.clock)
            late += _take_groups(work, intake, groups)
    if rows.height:
        RowPath(work, rows).take(intake)
    work.take(intake)
    return late


def _take_groups(work: Work, intake: Intake, groups: Groups) -> int:
    """Bring groups by key and slice to the panes of all windows that hold the slice."""
    shape, course, slices = work.shape, work.course, groups.columns
    row, spot = windows_of(shape, slices, work.keys.numbers(slices))
    rows = came(slices)
    held = np.flatnonzero(spot.end > shape.left(course.rows))
    late = 0
    if len(held) < len(row):
        kept = np.zeros(slices.height, dtype=np.bool_)
        kept[row[held]] = True
        late = int(rows[~kept].sum())
        lost = np.ones(len(row), dtype=np.bool_)
        lost[held] = False
        work.aside.dropped_pairs += int(rows[row[lost & kept[row]]].sum())
        row, spot = row[held], spot.at(held)
    at = locate(work.panes, spot, len(work.keys), course.rows)
    intake.add(_named(work, groups, row, at), _share(slices, row, at))
    return late


def _named(work: Work, groups: Groups, row: Whole, at: Whole) -> Groups:
    """Give groups the numbers of their panes, each as often as it has windows."""
    shape = work.shape
    columns = groups.columns.drop(*shape.slice_by, *STATS, strict=False)
    if len(row) != columns.height:
        columns = columns[pl.Series(row, dtype=pl.UInt32)]
    numbers = pl.Series(PANE, work.panes[PANE][at])
    sets = {}
    if groups.sets:
        by = shape.slice_by
        names = groups.columns.select(by)[pl.Series(row, dtype=pl.UInt32)].with_columns(numbers)
        for name, table in groups.sets.items():
            joined = table.join(
                names, on=list(by), how="inner", nulls_equal=True, maintain_order="left"
            )
            sets[name] = joined.drop(by).select(shape.no_groups.sets[name].columns)
    return Groups(columns.with_columns(numbers).select(shape.no_groups.columns.columns), sets)


def _share(slices: Frame, row: Whole, at: Whole) -> Share:
    def stat(name: str, missing: int) -> Whole | None:
        if name not in slices.columns:
            return None
        return slices[name].fill_null(missing).to_numpy()[row]

    return Share(
        at,
        came(slices)[row],
        stat(FIRST, NO_EARLIEST),
        stat(EARLIEST, NO_EARLIEST),
        stat(LATEST, NO_LATEST),
    )
