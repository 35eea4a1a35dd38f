"""A batch on its way to the panes: by slices where that will do, by rows where it must."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.fold.fold import Groups
from penstock.kernel.intake import Intake, Share
from penstock.kernel.locate import Spot, locate, together
from penstock.kernel.merge import merge_into_panes
from penstock.kernel.pack import unpack
from penstock.kernel.pane import NO_EARLIEST, NO_LATEST, PANE
from penstock.kernel.port import Frame
from penstock.kernel.row_path import RowPath
from penstock.kernel.slice import (
    EARLIEST,
    FIRST,
    LATEST,
    SLICE,
    Slices,
    fold_slices,
    sort_out,
)
from penstock.kernel.work import Work


@dataclass(frozen=True, slots=True)
class _Part:
    """Slices with their windows: which slice each is of, and where it belongs."""

    slices: Slices
    row: Whole
    spot: Spot


def take(work: Work, delta: Frame) -> None:
    """Take the rows of a batch, packed or not."""
    shape, course, aside = work.shape, work.course, work.aside
    found = unpack(shape, delta)
    aside.taken += found.rows.height
    parts = []
    if found.slices is not None and found.slices.columns.height:
        aside.taken += int(found.slices.came.sum())
        parts.append(_part(work, found.slices))
    rows = sort_out(shape, found.rows, course.rows, course.clock)
    aside.refuse(rows.late, "expired")
    aside.filtered += rows.outside.height
    if rows.plain.height:
        parts.append(_part(work, fold_slices(shape, rows.plain, course.rows, course.clock)))
    path = RowPath(work, rows.delicate) if rows.delicate.height else None
    if path is not None and shape.machine.by_row:
        path.take_by_row()
    elif shape.merging:
        _take_merging(work, parts, path)
    else:
        _take_plain(work, parts, path)
    if path is not None:
        path.account()


def _part(work: Work, slices: Slices) -> _Part:
    """Find the windows of slices; those that have left take nothing."""
    row, spot = work.windows_of(slices.columns, work.keys.numbers(slices.columns))
    if work.shape.merging:
        return _Part(slices, row, spot)
    held = np.flatnonzero(spot.end > work.shape.left(work.course.rows))
    if len(held) == len(row):
        return _Part(slices, row, spot)
    kept = np.zeros(slices.columns.height, dtype=np.bool_)
    kept[row[held]] = True
    lost = np.ones(len(row), dtype=np.bool_)
    lost[held] = False
    work.aside.late_packed += int(slices.came[~kept].sum())
    work.aside.dropped_pairs += int(slices.came[row[lost & kept[row]]].sum())
    return _Part(slices, row[held], spot.at(held))


def _take_plain(work: Work, parts: list[_Part], path: RowPath | None) -> None:
    intake = Intake()
    for part in parts:
        at = locate(work.panes, part.spot, len(work.keys), work.course.rows)
        _add(work, intake, part, at)
    if path is not None:
        path.join_plain(intake)
    work.take(intake)


def _take_merging(work: Work, parts: list[_Part], path: RowPath | None) -> None:
    """All windows of a batch merge at once: a row may be saved by a session it meets."""
    intake = Intake()
    if path is not None and not parts:
        path.join_merging(intake)
        work.take(intake)
        return
    spots = [part.spot for part in parts] + ([] if path is None else [path.spot])
    if not spots:
        return
    at = merge_into_panes(work, together(spots))
    begin = 0
    for part in parts:
        _add(work, intake, part, at[begin : begin + len(part.spot)])
        begin += len(part.spot)
    if path is not None:
        path.join(intake, at[begin:])
    work.take(intake)


def _add(work: Work, intake: Intake, part: _Part, at: Whole) -> None:
    row, nowhere = part.row, at < 0
    if nowhere.any():
        work.aside.late_packed += int(part.slices.came[row[nowhere]].sum())
        row, at = row[~nowhere], at[~nowhere]
    intake.add(_named(work, part.slices, row, at), _share(part.slices, row, at))


def _named(work: Work, slices: Slices, row: Whole, at: Whole) -> Groups:
    """Give slices the numbers of their panes, each as often as it has windows."""
    shape = work.shape
    numbers = pl.Series(PANE, work.panes[PANE][at])
    names = shape.no_groups.columns.columns
    columns = slices.columns[[name for name in names if name != PANE]]
    alone = np.array_equal(row, np.arange(columns.height))
    if not alone:
        columns = columns[pl.Series(row, dtype=pl.UInt32)]
    named = columns.hstack([numbers])[names]
    sets = {
        name: (_moved(table, numbers) if alone else _spread(table, row, numbers)).select(
            shape.no_groups.sets[name].columns
        )
        for name, table in slices.sets.items()
    }
    return Groups(named, sets)


def _moved(table: Frame, numbers: pl.Series) -> Frame:
    """Give a table of slices the numbers of their panes, one each."""
    return table.with_columns(pl.Series(PANE, numbers.to_numpy()[table[SLICE].to_numpy()]))


def _spread(table: Frame, row: Whole, numbers: pl.Series) -> Frame:
    pairs = pl.DataFrame({SLICE: row, PANE: numbers})
    return table.join(pairs, on=SLICE, how="inner", maintain_order="left")


def _share(slices: Slices, row: Whole, at: Whole) -> Share:
    columns = slices.columns

    def stat(name: str, missing: int) -> Whole | None:
        if name not in columns.columns:
            return None
        values = columns[name]
        filled = values.fill_null(missing) if values.null_count() else values
        return filled.to_numpy()[row]

    return Share(
        at,
        slices.came[row],
        stat(FIRST, NO_EARLIEST),
        stat(EARLIEST, NO_EARLIEST),
        stat(LATEST, NO_LATEST),
    )
