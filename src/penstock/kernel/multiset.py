"""Rows held one by one, so that each can be taken back: the copies of a row are a stack."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.fold.grouping import join
from penstock.kernel.port import WEIGHT, Frame

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


def numbered(delta: Frame, held: Frame) -> Frame:
    """Number the rows of a delta by arrival, after those that are held."""
    last = held[ORDER].max()
    first = last + 1 if isinstance(last, int) else 0
    return delta.with_columns(pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias(ORDER))


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
    groups = delta.select(keys).unique().with_columns(pl.lit(value=True).alias(_MINE))
    mine = join(held.select(keys), groups, keys, "left")[_MINE]
    return held.filter(mine), held.filter(mine.is_null())


def packed_rows(delta: Frame) -> int:
    """Count the rows of a delta as they were before they were packed."""
    if PACKED not in delta.columns:
        return delta.height
    return int(delta[PACKED].fill_null(1).sum())
