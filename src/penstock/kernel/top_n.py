"""The best rows of each group, kept up to date."""

from __future__ import annotations

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.multiset import (
    ORDER,
    Choice,
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
        self._choice = Choice(relation.keys, relation.n, relation.by, relation.descending)
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
        return self._choice.packed(rows)

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take the rows of a batch; neither clock nor watermark has an effect."""
        held = state.tables.get(_TABLE, self._empty)
        if delta.is_empty():
            return Step(State(state.tables, time), self._result(held.clear()))
        rows = numbered(delta, held)
        mine, others = touched(held, delta, self.keys)
        if self._retracts:
            before = self._choice.of(mine)
            after = changed(mine, rows, self._columns)
            chosen = self._choice.of(after)
        else:
            before = mine
            chosen = after = self._choice.of(pl.concat([mine, rows.select(held.columns)]))
        taken = packed_rows(delta)
        entered = delta.height if self._retracts else _entered(chosen, rows)
        output = self._result(difference(before, chosen))
        counts = Counts(taken=taken, passed=entered, filtered=taken - entered, given=output.height)
        kept = pl.concat([others, after])
        return Step(State({_TABLE: kept} if kept.height else {}, time), output, counts=counts)

    def _result(self, rows: Frame) -> Frame:
        return rows.select(*self._columns, *CONTROL)


def _entered(chosen: Frame, rows: Frame) -> int:
    return chosen.filter(pl.col(ORDER) >= rows[ORDER][0]).height
