"""The best rows of each group, kept up to date."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.multiset import (
    ORDER,
    PACKED,
    best,
    changed,
    difference,
    numbered,
    packed_rows,
    touched,
)
from penstock.kernel.port import CONTROL, Counts, Frame, State, Step, Time
from penstock.model.top_n import TopN

_TABLE = "rows"


class TopNOperator:
    """Gives a row when it comes among the best `n` of its group, and takes it back when it leaves.

    Of equal rows the one that came first is better. State: the best rows, or all rows where
    the input takes rows back, since any of them may move up.
    """

    def __init__(self, relation: TopN) -> None:
        self._relation = relation
        self._columns = relation.schema.names
        self._retracts = relation.source.retracts
        self._order: Sequence[tuple[str, bool]] = (
            (relation.by, relation.descending),
            (ORDER, False),
        )
        self._empty = pl.DataFrame(
            schema={**frame_schema(relation.schema), **CONTROL, ORDER: pl.Int64()}
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values make a group."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Keep the best rows of the batch."""
        if self._retracts or rows.is_empty():
            return rows
        chosen = self._best(numbered(rows, self._empty)).sort(ORDER)
        total = rows.group_by(self.keys).len(PACKED) if self.keys else None
        if total is None:
            return _stands_for(chosen, pl.lit(rows.height, pl.Int64), pl.len()).drop(ORDER)
        sized = chosen.join(
            total, on=self.keys, how="left", nulls_equal=True, maintain_order="left"
        )
        size = pl.len().over(self.keys)
        return _stands_for(sized, pl.col(PACKED), size, self.keys).drop(ORDER)

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take the rows of a batch; neither clock nor watermark has an effect."""
        held = state.tables.get(_TABLE, self._empty)
        if delta.is_empty():
            return Step(State(state.tables, time), self._result(held.clear()))
        rows = numbered(delta, held)
        mine, others = touched(held, delta, self.keys)
        before = self._best(mine)
        if self._retracts:
            after = changed(mine, rows, self._columns)
            chosen = self._best(after)
        else:
            chosen = after = self._best(pl.concat([mine, rows.select(held.columns)]))
        taken = packed_rows(delta)
        entered = delta.height if self._retracts else _entered(chosen, rows)
        output = self._result(difference(before, chosen))
        counts = Counts(taken=taken, passed=entered, filtered=taken - entered, given=output.height)
        kept = pl.concat([others, after.sort(ORDER)])
        return Step(State({_TABLE: kept} if kept.height else {}, time), output, counts=counts)

    def _best(self, rows: Frame) -> Frame:
        return best(rows, self.keys, self._order, self._relation.n)

    def _result(self, rows: Frame) -> Frame:
        return rows.select(*self._columns, *CONTROL)


def _entered(chosen: Frame, rows: Frame) -> int:
    return chosen.join(rows, on=ORDER, how="semi").height


def _stands_for(rows: Frame, total: pl.Expr, size: pl.Expr, keys: Sequence[str] = ()) -> Frame:
    """Let the first row of each group stand for those that are left out."""
    number = pl.int_range(pl.len())
    first = (number.over(keys) if keys else number) == 0
    count = pl.when(first).then(total - size + 1).otherwise(1)
    return rows.with_columns(count.cast(pl.Int64).alias(PACKED))
