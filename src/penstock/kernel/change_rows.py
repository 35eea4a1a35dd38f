"""Changes of a batch as rows, of which those that are taken back are marked, and the other way."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.fold.grouping import join
from penstock.kernel.port import WEIGHT, Frame

_ALL = "_all"
_HOLDS = "_holds"
_PLACE = "_place"
_LATER = "_later"


def change_rows(
    frame: Frame, gone: str, keys: Sequence[str] | None = None, condition: pl.Expr | None = None
) -> Frame:
    """Give every change as a row of weight 1, or with keys those that say something new."""
    back = pl.col(WEIGHT) < 0
    if keys is None:
        marked = frame.with_columns(back.alias(gone))
    elif condition is None:
        return _last_said(frame, gone, keys)
    else:
        holds = condition.fill_null(value=False).alias(_HOLDS)
        known = frame.with_columns(holds, pl.lit(0).alias(_ALL))
        marked = _upserts(known, gone, list(keys) or [_ALL]).drop(_HOLDS, _ALL)
    return marked.with_columns(pl.lit(1, dtype=frame.schema[WEIGHT]).alias(WEIGHT))


def _last_said(frame: Frame, gone: str, keys: Sequence[str]) -> Frame:
    """Leave out what is taken back where a newer row of its key comes after it."""
    back, one = frame[WEIGHT] < 0, pl.lit(1, dtype=frame.schema[WEIGHT]).alias(WEIGHT)
    if not back.any():
        return frame.with_columns(pl.lit(value=False).alias(gone))
    behind = int(back.sum())
    if keys and back[:behind].all():
        # All that is taken back stands in front: as a rule there is a newer row for each.
        come = frame.slice(behind)
        missing = join(frame.head(behind).select(keys), come.select(keys), keys, "anti")
        if missing.is_empty():
            return come.with_columns(one, pl.lit(value=False).alias(gone))
    placed = frame.select(pl.int_range(pl.len(), dtype=pl.UInt32).alias(_PLACE), *keys)
    if keys:
        come = placed.filter(~back).unique(list(keys), keep="last")
        found = join(placed.filter(back), come.rename({_PLACE: _LATER}), keys, "left")
        told = found.filter((pl.col(_LATER) < pl.col(_PLACE)).fill_null(value=True))[_PLACE]
    else:
        told = placed.filter(back)[_PLACE]
        latest = placed.filter(~back)[_PLACE].max()
        told = told.filter(told > latest) if isinstance(latest, int) else told
    kept = pl.concat([placed.filter(~back)[_PLACE], told]).sort()
    return frame.with_columns(back.alias(gone))[kept].with_columns(one)


def _upserts(frame: Frame, gone: str, keys: list[str]) -> Frame:
    weight, holds = pl.col(WEIGHT), pl.col(_HOLDS)
    before = weight.shift(1).over(keys)
    after = weight.shift(-1).over(keys)
    # A row that no longer holds is gone only where the one it replaces was there.
    was = (before < 0).fill_null(value=False) & holds.shift(1).over(keys).fill_null(value=False)
    new = (weight > 0) & (holds | was)
    last = (weight < 0) & holds & ~(after > 0).fill_null(value=False)
    return frame.with_columns(((weight < 0) | ~holds).alias(gone)).filter(new | last)


def row_changes(frame: Frame, gone: str) -> Frame:
    """Give rows as changes: those that are marked are taken back."""
    back = pl.col(gone).fill_null(value=False)
    weight = pl.when(back).then(-1).otherwise(1).cast(frame.schema[WEIGHT])
    return frame.with_columns(weight.alias(WEIGHT))
