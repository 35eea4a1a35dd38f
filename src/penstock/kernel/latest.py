"""The latest row of each key, kept up to date: a stream of rows becomes a table."""

from __future__ import annotations

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.fold.grouping import join
from penstock.kernel.multiset import (
    ORDER,
    PACKED,
    changed,
    difference,
    numbered,
    packed_rows,
    touched,
)
from penstock.kernel.port import CONTROL, TIME, UNTIL, WEIGHT, Counts, Frame, State, Step, Time
from penstock.model.latest import Latest

_TABLE = "rows"
_PLACE = "_place"


class LatestOperator:
    """Gives a key's new row and takes the old one back, if it is not the same.

    Where the source takes no rows back, a row of weight -1 deletes its key whatever else it
    holds. By event time a key that was deleted is remembered by a row of weight -1, so that an
    older row which comes later does not bring it back.
    """

    def __init__(self, relation: Latest) -> None:
        self._relation = relation
        self._columns = relation.schema.names
        self._by_time = relation.order == "event time"
        self._retracts = relation.source.retracts
        self._empty = pl.DataFrame(
            schema={**frame_schema(relation.schema), **CONTROL, ORDER: pl.Int64()}
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of the table."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Keep the latest row of each key."""
        if self._retracts or rows.is_empty():
            return rows
        places = self._last_places(rows)
        size = places["_size"].cast(pl.Int64).alias(PACKED)
        return rows[places[_PLACE]].with_columns(size)

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take the rows of a batch; neither clock nor watermark has an effect."""
        held = state.tables.get(_TABLE, self._empty)
        if delta.is_empty():
            return Step(State(state.tables, time), self._result(held.clear()))
        mine, others = touched(held, delta, self.keys)
        rows = numbered(delta, held)
        if self._retracts:
            after = changed(mine, rows, self._columns)
            output = difference(self._latest(mine), self._latest(after))
        else:
            after = self._last(pl.concat([mine, rows.select(held.columns)]))
            output = difference(_there(mine), _there(after))
            if not self._by_time:
                after = _there(after)
        taken = packed_rows(delta)
        changes = self._result(_without_same(output, self._columns))
        changes = changes.with_columns(self._ends(rows, changes))
        counts = Counts(taken=taken, passed=taken, given=changes.height)
        kept = pl.concat([others, after])
        return Step(State({_TABLE: kept} if kept.height else {}, time), changes, counts=counts)

    def _latest(self, rows: Frame) -> Frame:
        return self._last(_there(rows))

    def _last(self, rows: Frame) -> Frame:
        """Give the latest row of each key, in the order of arrival."""
        return rows[self._last_places(rows)[_PLACE]]

    def _last_places(self, rows: Frame) -> Frame:
        place = pl.col(_PLACE)
        last = place.sort_by(TIME, nulls_last=False, maintain_order=True).last()
        found = (
            rows.lazy()
            .select(*self.keys, TIME)
            .with_row_index(_PLACE)
            .group_by(self.keys)
            .agg((last if self._by_time else place.max()).alias(_PLACE), pl.len().alias("_size"))
            .sort(_PLACE)
        )
        return found.collect()

    def _ends(self, rows: Frame, changes: Frame) -> pl.Series:
        """Give the event time of what ended each row that is taken back."""
        last = self._last(rows).select(*self.keys, pl.col(TIME).alias(UNTIL))
        until = join(changes.select(self.keys), last, self.keys, "left")[UNTIL]
        return until.set(changes[WEIGHT] > 0, None)

    def _result(self, rows: Frame) -> Frame:
        return rows.select(*self._columns, *CONTROL)


def _there(rows: Frame) -> Frame:
    return rows.filter(pl.col(WEIGHT) > 0)


def _without_same(changes: Frame, columns: tuple[str, ...]) -> Frame:
    """Leave out rows that are taken back and given again unchanged."""
    gone, come = changes.filter(pl.col(WEIGHT) < 0), changes.filter(pl.col(WEIGHT) > 0)
    if gone.is_empty() or come.is_empty():
        return changes
    known = come.select(columns).with_columns(pl.lit(value=True).alias(_PLACE))
    again = join(gone.select(columns), known, columns, "left")[_PLACE].fill_null(value=False)
    if not again.any():
        return changes
    back = gone.filter(again).select(columns).with_columns(pl.lit(value=True).alias(_PLACE))
    same = join(come.select(columns), back, columns, "left")[_PLACE].fill_null(value=False)
    return pl.concat([gone.filter(~again), come.filter(~same)])
