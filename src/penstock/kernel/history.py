"""The rows a table had, each from when to when: what its changes say, put in their place.

A row begins a version of its key at its event time, which ends where the next one begins or
where the key is deleted. Of rows with the same time the last that came counts. A deletion is
held as a row of weight -1, so that what comes later and is older ends there; once the watermark
has left it behind, what still comes and is older is taken for a new row.

What a changelog takes back ends where what replaces it in the same batch begins. Where nothing
does, it ends at the time that its taking back has: at once, if that is its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.fold.grouping import join
from penstock.kernel.look_up import ENDS
from penstock.kernel.multiset import ORDER, numbered, touched
from penstock.kernel.port import CONTROL, TIME, UNTIL, WEIGHT, Frame
from penstock.model.relation import Relation
from penstock.model.versions import VALID_TO, versions_below

_NEXT = "_next"
_KNOWN = "_known"


@dataclass(frozen=True, slots=True)
class Turn:
    """What a batch changed: the versions of the keys in it before and after, and the others."""

    before: Frame
    after: Frame
    others: Frame
    first_new: int

    @property
    def whole(self) -> Frame:
        """All versions there are now."""
        return pl.concat([self.others, self.after]) if self.others.height else self.after


class History:
    """The versions of the rows of a table, by key."""

    def __init__(self, table: Relation, keys: tuple[str, ...]) -> None:
        self._keys = list(keys)
        self._retracts = table.retracts
        self._told = versions_below(table) is not None
        self.columns = table.schema.names
        # A number stands first: by it the store finds the rows that are gone.
        self.empty = pl.DataFrame(
            schema={ORDER: pl.Int64(), **frame_schema(table.schema), **CONTROL, ENDS: pl.Int64()}
        )

    def taken(self, held: Frame, delta: Frame) -> Turn:
        """Put the rows of a batch in their place; each has a time."""
        mine, others = touched(held, delta, self._keys)
        rows = numbered(_ended(delta), held)
        first = int(rows[ORDER][0])
        if self._told:
            after = self._as_told(mine, rows)
        else:
            after = self._placed(mine, self._changes(mine, rows) if self._retracts else rows)
        return Turn(mine, after, others, first)

    def kept(self, held: Frame, limit: int) -> Frame:
        """Give the versions that are valid at or after a time, and the last one of each key."""
        ended = pl.col(ENDS).is_not_null() & (pl.col(ENDS) <= limit)
        gone = (pl.col(WEIGHT) < 0) & (pl.col(TIME) < limit)
        past = held.select((ended | gone).alias(ENDS)).to_series()
        return held.filter(~past) if past.any() else held

    def _placed(self, mine: Frame, rows: Frame) -> Frame:
        points = pl.concat([mine.drop(ENDS), rows.select(mine.columns[:-1])])
        last = points.unique(subset=[*self._keys, TIME], keep="last", maintain_order=True)
        last = last.filter(pl.col(WEIGHT) != 0).sort(TIME, maintain_order=True)
        return last.with_columns(pl.col(TIME).shift(-1).over(self._keys).alias(ENDS))

    def _as_told(self, mine: Frame, rows: Frame) -> Frame:
        told = rows.with_columns(pl.col(VALID_TO).dt.epoch("ms").alias(ENDS))
        both = pl.concat([mine, told.select(mine.columns)])
        last = both.unique(subset=[*self._keys, TIME], keep="last", maintain_order=True)
        return last.filter(pl.col(WEIGHT) > 0)

    def _changes(self, mine: Frame, rows: Frame) -> Frame:
        """Leave out what is taken back to be replaced: it ends where that begins.

        What is replaced by an older row was never valid: weight 0 says so.
        """
        keys = self._keys
        added = pl.when(pl.col(WEIGHT) > 0).then(pl.col(TIME))
        rows = rows.with_columns(added.fill_null(strategy="backward").over(keys).alias(_NEXT))
        back = (pl.col(WEIGHT) < 0) & pl.col(_NEXT).is_not_null()
        if not rows.select(back.any()).item():
            return rows
        begun = pl.concat(
            [part.filter(pl.col(WEIGHT) > 0).select(*keys, TIME) for part in (mine, rows)]
        ).unique()
        begun = begun.with_columns(pl.lit(value=True).alias(_KNOWN))
        known = join(rows.select(*keys, TIME), begun, [*keys, TIME], "left")[_KNOWN]
        replaced = back & pl.col(_KNOWN).fill_null(value=False)
        older = replaced & (pl.col(_NEXT) < pl.col(TIME))
        weight = pl.when(older).then(0).otherwise(pl.col(WEIGHT)).cast(pl.Int32).alias(WEIGHT)
        told = rows.with_columns(known).with_columns((replaced & ~older).alias(_NEXT), weight)
        return told.filter(~pl.col(_NEXT))


def _ended(delta: Frame) -> Frame:
    """Give rows that are taken back the time of what ended them, where they tell it."""
    if UNTIL not in delta.columns:
        return delta
    gone = (pl.col(WEIGHT) < 0) & pl.col(UNTIL).is_not_null()
    return delta.with_columns(pl.when(gone).then(UNTIL).otherwise(TIME).alias(TIME))
