"""Which row of a table each row of a stream meets: the last of its key that had begun by then."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.fold.grouping import join
from penstock.kernel.port import WEIGHT, Frame
from penstock.model.join import Join
from penstock.schema.types import Kind

ENDS = "_ends"
"""Int64: when a version of a row ended; null where none came after it."""
_AT = "_at"
_SINCE = "_since"
_PLACE = "_place"
_NUMBER = "_number"
_ROW = "_row"
_MINE = "_mine"
# A table so many times longer than the rows that look into it is first narrowed to their keys.
_LONGER = 4


class LookUp:
    """Looks rows up by the keys of a join and one of the times that both sides have."""

    def __init__(self, relation: Join, at: str) -> None:
        self._at = at
        names = [f"_key_{number}" for number in range(len(relation.on))]
        wide = [_wider(relation, number) for number in range(len(relation.on))]
        self._names = names
        self._left = _keys(relation.left_keys, wide, names)
        self._right = _keys(relation.right_keys, wide, names)

    def left_keys(self, rows: Frame) -> Frame:
        """Give the keys of left rows, under the same names as those of right rows."""
        return rows.select(self._left)

    def right_keys(self, rows: Frame) -> Frame:
        """Give the keys of rows of the table."""
        return rows.select(self._right)

    def among(self, keys: Frame, wanted: Frame) -> pl.Series:
        """Say which keys are among others."""
        if keys.is_empty() or wanted.is_empty():
            return pl.repeat(value=False, n=keys.height, eager=True)
        found = wanted.unique().with_columns(pl.lit(value=True).alias(_MINE))
        return join(keys, found, self._names, "left")[_MINE].fill_null(value=False)

    def places(self, left: Frame, table: Frame, *, single: bool = False) -> pl.Series:
        """Give for each left row the place of the row that it meets; null where there is none.

        `single` says that the table has one row a key. A row of weight -1 says that from then
        on its key has none.
        """
        if left.is_empty() or table.is_empty():
            return pl.repeat(None, left.height, dtype=pl.UInt32, eager=True)
        asked = left.select(*self._left, pl.col(self._at).alias(_AT))
        ends = [ENDS] if ENDS in table.columns else []
        known = (
            table.select(*self._right, pl.col(self._at).alias(_SINCE), WEIGHT, *ends)
            .with_row_index(_PLACE)
            .drop_nulls(self._names)
        )
        if known.height > _LONGER * asked.height:
            known = join(known, asked.select(self._names), self._names, "semi")
        several = None if single else known.select(self._names).is_duplicated()
        if several is None or not several.any():
            return _there(join(asked, known, self._names, "left"))
        places = _there(join(asked, known.filter(~several), self._names, "left"))
        rows, met = self._latest(asked, known.filter(several))
        return places.scatter(rows, met)

    def _latest(self, asked: Frame, known: Frame) -> tuple[pl.Series, pl.Series]:
        """Find the last row of a key that is not later: which rows ask, and what each meets."""
        # Numbers for keys: whatever types they have, what follows is as fast.
        numbers = known.select(self._names).unique().with_row_index(_NUMBER)
        mine = join(asked.with_row_index(_ROW), numbers, self._names, "inner")
        theirs = join(known, numbers, self._names, "left").drop(self._names)
        met = (
            mine.select(_ROW, _NUMBER, _AT)
            .drop_nulls(_AT)
            .sort(_AT)
            .join_asof(
                theirs.sort(_SINCE, maintain_order=True),
                left_on=_AT,
                right_on=_SINCE,
                by=_NUMBER,
                coalesce=False,
                check_sortedness=False,
            )
        )
        return met[_ROW], _there(met)


def _there(met: Frame) -> pl.Series:
    """Give the places of rows that had begun when they were asked for, and not ended."""
    there = (pl.col(WEIGHT) > 0) & (pl.col(_SINCE) <= pl.col(_AT))
    if ENDS in met.columns:
        there = there & (pl.col(ENDS).is_null() | (pl.col(ENDS) > pl.col(_AT)))
    return met.select(pl.when(there).then(pl.col(_PLACE))).to_series()


def _keys(
    columns: Sequence[str], types: Sequence[pl.DataType], names: Sequence[str]
) -> list[pl.Expr]:
    return [
        pl.col(column).cast(kind).alias(name)
        for column, kind, name in zip(columns, types, names, strict=True)
    ]


def _wider(relation: Join, number: int) -> pl.DataType:
    mine, other = relation.on[number]
    types = relation.left.schema.field(mine).type, relation.right.schema.field(other).type
    return dtype_of(next((item for item in types if item.kind is Kind.INT64), types[0]))
