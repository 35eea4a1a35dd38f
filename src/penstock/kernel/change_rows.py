"""Changes of a batch as rows, of which those that are taken back are marked, and the other way."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.port import WEIGHT, Frame

_ALL = "_all"
_HOLDS = "_holds"


def change_rows(
    frame: Frame, gone: str, keys: Sequence[str] | None = None, condition: pl.Expr | None = None
) -> Frame:
    """Give every change as a row of weight 1, or with keys those that say something new."""
    back = pl.col(WEIGHT) < 0
    if keys is None:
        marked = frame.with_columns(back.alias(gone))
    else:
        holds = pl.lit(value=True) if condition is None else condition.fill_null(value=False)
        known = frame.with_columns(holds.alias(_HOLDS), pl.lit(0).alias(_ALL))
        marked = _upserts(known, gone, list(keys) or [_ALL]).drop(_HOLDS, _ALL)
    return marked.with_columns(pl.lit(1, dtype=frame.schema[WEIGHT]).alias(WEIGHT))


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
