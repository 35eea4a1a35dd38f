"""Rows folded by key and slice of time, before anything is known of their panes.

A slice is the longest piece of time that belongs to the same windows as a whole: the window
itself where windows do not overlap. So a row is folded once, however many windows hold it.
Of sessions, the rows of a batch that are one session by themselves are a slice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import polars as pl

from penstock.kernel.assign import END, START, Whole, assign, floor_to, millis, spread, time_of
from penstock.kernel.fold.accumulator import ROWS
from penstock.kernel.keybook import KeyBook
from penstock.kernel.locate import Spot
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, TIME, Frame
from penstock.kernel.session import merge_sessions
from penstock.kernel.shape import Shape
from penstock.model.window import Hopping, Session, Tumbling

SLICE = "_slice"
"""The row of `columns` that a row of a table of values belongs to."""
_CELL = "_cell"
# So many slices one after the other are numbered by where they begin.
_CLOSE = 2**16
CAME = "_came"
FIRST = "_first"
EARLIEST = "_earliest"
LATEST = "_latest"
STATS = (CAME, FIRST, EARLIEST, LATEST)


@dataclass(frozen=True, slots=True)
class Slices:
    """Groups: keys, bounds, accumulators and what triggers ask; and tables of their values."""

    columns: Frame
    sets: Mapping[str, Frame]

    @property
    def came(self) -> Whole:
        """How many rows each is made of."""
        return self.columns[CAME if CAME in self.columns.columns else ROWS].to_numpy()


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows sorted by what can be done with them.

    `plain` can be folded by slice; `late` belong to windows that have all left; `delicate`
    must be looked at one by one, since their window may be finished, or saved by another;
    `outside` belong to no window.
    """

    plain: Frame
    late: Frame
    delicate: Frame
    outside: Frame


def sort_out(shape: Shape, rows: Frame, watermark: int, clock: int) -> Sorted:
    """Sort rows by what the watermark allows."""
    none = rows.clear()
    window = shape.window
    if not shape.sliced:
        return Sorted(none, none, rows, none)
    if isinstance(window, Session):
        return _sort_sessions(shape, window, rows, (watermark, clock))
    if not isinstance(window, (Tumbling, Hopping)):
        # The one window is complete when the input ends.
        if watermark < END_OF_TIME:
            return Sorted(rows, none, none, none)
        return Sorted(none, rows, none, none)
    outside = _outside(window, rows, clock)
    held = rows if outside is None else rows.filter(~outside)
    beside = none if outside is None else rows.filter(outside)
    time = time_of(window, clock)
    least = held.select(time.min()).item() if held.height else None
    left, complete = shape.left(watermark), watermark if shape.may_finish else START_OF_TIME
    if least is None or least >= max(left, complete):
        return Sorted(held, none, none, beside)
    size, slide, offset = grid(window)
    first_end = floor_to(time, slide, offset + size) + slide
    last_end = floor_to(time, slide, offset) + size
    asked = held.select(late=last_end <= left, delicate=first_end <= complete)
    late, delicate = asked["late"], asked["delicate"] & ~asked["late"]
    return Sorted(held.filter(~(late | delicate)), held.filter(late), held.filter(delicate), beside)


def _sort_sessions(shape: Shape, window: Session, rows: Frame, now: tuple[int, int]) -> Sorted:
    """Rows whose own window has left may be saved by a session that they meet."""
    watermark, clock = now
    none = rows.clear()
    time = time_of(window, clock)
    least = rows.select(time.min()).item() if rows.height else None
    missing = 0 if window.domain == "processing" else rows.select(time.null_count()).item()
    if not missing and least is not None and least > shape.left(watermark):
        return Sorted(rows, none, none, none)
    timed = rows.filter(time.is_not_null()) if missing else rows
    ends = assign(timed, window, shape.input, clock)[END]
    gone = ends <= shape.left(watermark)
    outside = rows.filter(time.is_null()) if missing else none
    return Sorted(timed.filter(~gone), none, timed.filter(gone), outside)


def _outside(window: Tumbling | Hopping, rows: Frame, clock: int) -> pl.Series | None:
    """Whether rows have no time, or fall between windows; none where no row does."""
    gaps = isinstance(window, Hopping) and window.slide > window.size
    if window.domain != "processing" or gaps:
        size, slide, offset = grid(window)
        time = time_of(window, clock)
        if gaps or rows.select(time.null_count()).item():
            held = (floor_to(time, slide, offset) + size > time).fill_null(value=False)
            return rows.with_columns((~held).alias(START))[START]
    return None


def grid(window: Tumbling | Hopping) -> tuple[int, int, int]:
    """Give size, slide and offset in milliseconds."""
    slide = window.slide if isinstance(window, Hopping) else window.size
    return millis(window.size), millis(slide), millis(window.offset)


def fold_slices(shape: Shape, rows: Frame, watermark: int, clock: int) -> Slices:
    """Fold rows by key and slice; beside the accumulators stands what triggers ask."""
    stats = _stats(shape, watermark, clock)
    by, rows, bounds = _named(shape, rows, clock)
    names: Frame | None = None
    if by is None or shape.no_groups.sets:
        # Numbers are cheaper to group by than keys, where that is done more than once.
        numbers, names = _numbered(shape, rows, by, clock)
        rows = rows.with_columns(pl.Series(SLICE, numbers))
        by = (SLICE,)
    groups = shape.fold.fold(rows, by, [*stats, *bounds])
    columns, sets = groups.columns, groups.sets
    if names is not None:
        place = columns[SLICE].to_numpy()
        columns = names[pl.Series(place, dtype=pl.UInt32)].hstack(columns.drop(SLICE))
        sets = {name: _moved(table, place) for name, table in sets.items()}
    return Slices(columns.drop(_CELL, strict=False), sets)


def _named(
    shape: Shape, rows: Frame, clock: int
) -> tuple[tuple[str, ...] | None, Frame, list[pl.Expr]]:
    """Give rows the columns that tell slices apart, if there are any; and what bounds they get."""
    window = shape.window
    if not isinstance(window, Session):
        return shape.slice_by, _sliced(shape, rows, clock), []
    if not isinstance(window.gap, timedelta):
        return None, rows, []
    # Rows of one key that are less than a gap apart are of one session.
    gap, time = millis(window.gap), time_of(window, clock)
    rows = rows.with_columns((time - time % gap).alias(_CELL))
    bounds = [time.min().alias(START), (time.max() + gap).alias(END)]
    alone = bool(shape.keys) and rows[_CELL].min() == rows[_CELL].max()
    return shape.keys if alone else (*shape.keys, _CELL), rows, bounds


def _numbered(
    shape: Shape, rows: Frame, by: tuple[str, ...] | None, clock: int
) -> tuple[Whole, Frame]:
    """Number the slices of rows, and give what each number stands for."""
    if by == (START,):
        found = _numbered_starts(rows[START].to_numpy(), shape.slice_size or 1)
        if found is not None:
            return found
    if by is not None:
        book = KeyBook(by, None)
        numbers = book.numbers(rows)
        assert book.table is not None
        return numbers, book.table
    assert isinstance(shape.window, Session)
    book = KeyBook(shape.keys, None)
    assigned = assign(rows, shape.window, shape.input, clock)
    spot = Spot(book.numbers(rows), assigned[START].to_numpy(), assigned[END].to_numpy())
    merged = merge_sessions(spot, touching=shape.window.touching, max_size=None)
    windows = merged.windows
    bounds = pl.DataFrame({START: windows.start, END: windows.end})
    return merged.into, book.rows(windows.key).hstack(bounds) if shape.keys else bounds


def _numbered_starts(starts: Whole, step: int) -> tuple[Whole, Frame] | None:
    """Number slices that differ in their start only, where these are not far apart."""
    first, last = int(starts.min()), int(starts.max())
    if (last - first) // step >= _CLOSE:
        return None
    numbers = (starts - first) // step
    there = np.bincount(numbers) > 0
    names = pl.DataFrame({START: first + step * np.flatnonzero(there)})
    return (np.cumsum(there) - 1)[numbers], names


def _moved(table: Frame, place: Whole) -> Frame:
    """Let a table name slices by the rows they stand in."""
    stands = np.empty(len(place), dtype=np.int64)
    stands[place] = np.arange(len(place))
    return table.with_columns(pl.Series(SLICE, stands[table[SLICE].to_numpy()]))


def _sliced(shape: Shape, rows: Frame, clock: int) -> Frame:
    if START not in shape.slice_by:
        return rows
    if shape.slice_size is None or not isinstance(shape.window, (Tumbling, Hopping)):
        return rows.with_columns(pl.lit(START_OF_TIME, pl.Int64).alias(START))
    time = time_of(shape.window, clock)
    start = floor_to(time, shape.slice_size, millis(shape.window.offset))
    return rows.with_columns(start.alias(START))


def _stats(shape: Shape, watermark: int, clock: int) -> list[pl.Expr]:
    """What is to be known of the rows of a group beside its accumulators."""
    time = time_of(shape.window, clock)
    stats: list[pl.Expr] = []
    if shape.retracted:
        stats.append(pl.len().cast(pl.Int64).alias(CAME))
    if shape.periodic:
        stats.append(time.min().alias(FIRST))
    if shape.window is None:
        stats.append(pl.col(TIME).max().alias(LATEST))
    elif shape.timed:
        ahead = time.filter(time >= watermark)
        stats += [ahead.min().alias(EARLIEST), ahead.max().alias(LATEST)]
    return stats


def windows_of(shape: Shape, slices: Frame, keys: Whole) -> tuple[Whole, Spot]:
    """Give for each window of each slice the row of the slice, and the spot."""
    rows = np.arange(slices.height, dtype=np.int64)
    window = shape.window
    if isinstance(window, Session):
        return rows, Spot(keys, slices[START].to_numpy(), slices[END].to_numpy())
    if not isinstance(window, (Tumbling, Hopping)):
        whole = np.ones(slices.height, dtype=np.int64)
        return rows, Spot(keys, whole * START_OF_TIME, whole * END_OF_TIME)
    size, slide, offset = grid(window)
    start = slices[START].to_numpy()
    if isinstance(window, Hopping):
        last = start - (start - offset) % slide
        rows, start = spread(last, size, slide, start)
    return rows, Spot(keys[rows], start, start + size)
