"""Rows held one by one, so that each can be taken back: the copies of a row are a stack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.fold.grouping import join
from penstock.kernel.port import WEIGHT, Frame
from penstock.kernel.trigger.node import Mask

ORDER = "_order"
"""Int64: the number of a row by its arrival."""
PACKED = "_packed"
"""Int64: how many rows a row packed before the exchange stands for, itself included."""
_PLACE = "_place"
_MINE = "_mine"
_SIZE = "_size"
_RUNNING = "_running"
_LOW = "_low"
_HIGH = "_high"
_MOST = 2**62
_MOST_PIECES = 16


def numbered(delta: Frame, held: Frame) -> Frame:
    """Number the rows of a delta by arrival, after those that are held."""
    first = next_order(held)
    return delta.with_columns(pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias(ORDER))


def next_order(held: Frame) -> int:
    """Give the number of the first row that comes after those that are held."""
    last = held[ORDER].max()
    return last + 1 if isinstance(last, int) else 0


def replaced(held: Frame, leaving: Whole, new: Frame) -> Frame:
    """Give what is held after rows at some places have left and others have come at the end.

    The others stay where they are, so that a store need not write them again.
    """
    if len(leaving):
        stays = np.ones(held.height, np.bool_)
        stays[leaving] = False
        held = held.filter(pl.Series(stays))
    if new.is_empty():
        return held
    # In pieces, up to a point: what is added is not to cost as much as what is there.
    return pl.concat([held, new], rechunk=held.n_chunks() >= _MOST_PIECES)


def rows_at(rows: Frame, places: Whole) -> Frame:
    """Give the rows at ascending places."""
    if len(places) == rows.height:
        return rows
    # Of a frame in pieces it is several times as fast to leave rows out as to fetch them.
    chosen = np.zeros(rows.height, np.bool_)
    chosen[places] = True
    return rows.filter(pl.Series(chosen))


def changed(held: Frame, delta: Frame, columns: Sequence[str]) -> Frame:
    """Give the rows held after a numbered delta: what takes a row back takes its latest copy.

    Rows taken back before they came are held with weight -1 until they come.
    """
    rows = pl.concat([held, delta.select(held.columns)])
    running = pl.col(WEIGHT).cum_sum().over(columns)
    rows = rows.with_columns(running.alias(_RUNNING))
    # An addition stays where the number of copies never falls below what it was with it.
    later = pl.col(_RUNNING)
    rows = rows.with_columns(
        later.cum_min(reverse=True).over(columns).alias(_LOW),
        later.cum_max(reverse=True).over(columns).alias(_HIGH),
    )
    added = (pl.col(WEIGHT) > 0) & (later > 0) & (pl.col(_LOW) >= later)
    owed = (pl.col(WEIGHT) < 0) & (later < 0) & (pl.col(_HIGH) <= later)
    return rows.filter(added | owed).select(held.columns)


def firsts(rows: Frame, keys: Sequence[str]) -> Frame:
    """Give the first row of each group, with the number of rows it stands for."""
    found = (
        rows.lazy()
        .select(keys)
        .with_row_index(_PLACE)
        .group_by(keys)
        .agg(pl.col(_PLACE).min(), pl.len().cast(pl.Int64).alias(_SIZE))
        .sort(_PLACE)
        .collect()
    )
    chosen = rows[found[_PLACE]]
    return chosen if PACKED in rows.columns else chosen.with_columns(found[_SIZE].alias(PACKED))


def difference(before: Frame, after: Frame, by: Sequence[str] = (ORDER,)) -> Frame:
    """Give the changes between two choices of numbered rows: those gone with weight -1 first."""
    gone = before.join(after, on=list(by), how="anti", maintain_order="left")
    come = after.join(before, on=list(by), how="anti", maintain_order="left")
    return pl.concat(
        [
            gone.with_columns(pl.lit(-1, pl.Int32).alias(WEIGHT)),
            come.with_columns(pl.lit(1, pl.Int32).alias(WEIGHT)),
        ]
    )


def touched(held: Frame, delta: Frame, keys: Sequence[str]) -> tuple[Frame, Frame]:
    """Split what is held into the rows of the delta's groups and the others."""
    if not keys:
        return held, held.clear()
    if held.is_empty():
        return held, held
    mine = pl.Series(_touched(held, delta, keys))
    return held.filter(mine), held.filter(~mine)


def touched_places(held: Frame, delta: Frame, keys: Sequence[str]) -> Whole:
    """Give the places of the rows that are held of the delta's groups."""
    if not keys or held.is_empty():
        return np.arange(held.height)
    return np.flatnonzero(_touched(held, delta, keys))


def _touched(held: Frame, delta: Frame, keys: Sequence[str]) -> Mask:
    if delta.is_empty():
        return np.zeros(held.height, np.bool_)
    codes = _codes(held, delta, keys)
    if codes is not None:
        return pl.Series(codes[0]).is_in(pl.Series(codes[1])).to_numpy()
    groups = delta.select(keys).unique().with_columns(pl.lit(value=True).alias(_MINE))
    mine = join(held.select(keys), groups, keys, "left")[_MINE]
    return mine.is_not_null().to_numpy()


def _codes(held: Frame, delta: Frame, keys: Sequence[str]) -> tuple[Whole, Whole] | None:
    """Give one number for each key of both, where it can hold them: less to start than a join."""
    if not all(whole(held[name]) and whole(delta[name]) for name in keys):
        return None
    one, other = np.zeros(held.height, np.int64), np.zeros(delta.height, np.int64)
    size = 1
    for name in keys:
        mine, others = whole_values(held[name]), whole_values(delta[name])
        least = min(int(mine.min()), int(others.min()))
        breadth = max(int(mine.max()), int(others.max())) - least + 1
        size *= breadth
        if size >= _MOST:
            return None
        one, other = one * breadth + (mine - least), other * breadth + (others - least)
    return one, other


def whole(values: pl.Series) -> bool:
    """Whether a column is one of whole numbers without nulls."""
    kind = values.dtype
    return (kind.is_signed_integer() or kind in (pl.Datetime, pl.Date)) and not values.null_count()


def whole_values(values: pl.Series) -> Whole:
    """Give the numbers of a column of whole ones."""
    return values.to_physical().cast(pl.Int64).to_numpy()


def packed_rows(delta: Frame) -> int:
    """Count the rows of a delta as they were before they were packed."""
    if PACKED not in delta.columns:
        return delta.height
    return int(delta[PACKED].fill_null(1).sum())
