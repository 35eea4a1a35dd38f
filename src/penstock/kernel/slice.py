"""Rows folded by key and slice of time, before anything is known of their panes.

A slice is the longest piece of time that belongs to the same windows as a whole: the window
itself where windows do not overlap. So a row is folded once, however many windows hold it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import START, Whole, floor_to, millis, spread, time_of
from penstock.kernel.fold.accumulator import ROWS
from penstock.kernel.fold.fold import Groups
from penstock.kernel.fold.grouping import group
from penstock.kernel.locate import Spot
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, TIME, Frame
from penstock.kernel.shape import Shape
from penstock.model.window import Hopping, Tumbling

CAME = "_came"
FIRST = "_first"
EARLIEST = "_earliest"
LATEST = "_latest"
STATS = (CAME, FIRST, EARLIEST, LATEST)


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows sorted by what can be done with them.

    `plain` can be folded by slice; `late` belong to windows that have all left; `delicate`
    belong to a window whose trigger may be finished; `outside` belong to none.
    """

    plain: Frame
    late: Frame
    delicate: Frame
    outside: Frame


def sort_out(shape: Shape, rows: Frame, watermark: int, clock: int) -> Sorted:
    """Sort rows by what the watermark allows."""
    none = rows.clear()
    window = shape.window
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
    size, slide, offset = _grid(window)
    first_end = floor_to(time, slide, offset + size) + slide
    last_end = floor_to(time, slide, offset) + size
    asked = held.select(late=last_end <= left, delicate=first_end <= complete)
    late, delicate = asked["late"], asked["delicate"] & ~asked["late"]
    return Sorted(held.filter(~(late | delicate)), held.filter(late), held.filter(delicate), beside)


def _outside(window: Tumbling | Hopping, rows: Frame, clock: int) -> pl.Series | None:
    """Whether rows have no time, or fall between windows; none where no row does."""
    gaps = isinstance(window, Hopping) and window.slide > window.size
    if window.domain != "processing" or gaps:
        size, slide, offset = _grid(window)
        time = time_of(window, clock)
        if gaps or rows.select(time.null_count()).item():
            held = (floor_to(time, slide, offset) + size > time).fill_null(value=False)
            return rows.with_columns((~held).alias(START))[START]
    return None


def _grid(window: Tumbling | Hopping) -> tuple[int, int, int]:
    slide = window.slide if isinstance(window, Hopping) else window.size
    return millis(window.size), millis(slide), millis(window.offset)


def fold_slices(shape: Shape, rows: Frame, watermark: int, clock: int) -> Groups:
    """Fold rows by key and slice; beside the accumulators stand what triggers ask."""
    rows = _sliced(shape, rows, clock)
    groups = shape.fold.fold(rows, shape.slice_by)
    stats = stats_of(shape, watermark, clock)
    if not stats:
        return groups
    # Both groupings give the groups in the order of their first rows.
    beside = group(rows, shape.slice_by, stats).drop(shape.slice_by)
    return Groups(groups.columns.hstack(beside), groups.sets)


def _sliced(shape: Shape, rows: Frame, clock: int) -> Frame:
    if START not in shape.slice_by:
        return rows
    if shape.slice_size is None or not isinstance(shape.window, (Tumbling, Hopping)):
        return rows.with_columns(pl.lit(START_OF_TIME, pl.Int64).alias(START))
    time = time_of(shape.window, clock)
    start = floor_to(time, shape.slice_size, millis(shape.window.offset))
    return rows.with_columns(start.alias(START))


def stats_of(shape: Shape, watermark: int, clock: int) -> list[pl.Expr]:
    """Give what is to be known of the rows of a group beside its accumulators."""
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
    if not isinstance(window, (Tumbling, Hopping)):
        whole = np.ones(slices.height, dtype=np.int64)
        return rows, Spot(keys, whole * START_OF_TIME, whole * END_OF_TIME)
    size, slide, offset = _grid(window)
    start = slices[START].to_numpy()
    if isinstance(window, Hopping):
        last = start - (start - offset) % slide
        rows, start = spread(last, size, slide, start)
    return rows, Spot(keys[rows], start, start + size)


def came(slices: Frame) -> Whole:
    """Give how many rows each group is made of."""
    return slices[CAME if CAME in slices.columns else ROWS].to_numpy()
