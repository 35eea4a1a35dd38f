"""The best rows of each group, kept up to date."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.letter import REASON
from penstock.kernel.multiset import ORDER, changed, difference, numbered, packed_rows, touched
from penstock.kernel.port import CONTROL, TIME, Counts, Frame, State, Step, Time
from penstock.kernel.ranks import Ranks
from penstock.model.top_n import TopN

_TABLE = "rows"
_LATE = "its group was given out"


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a batch does to the rows that are held: of its groups before and after, and all."""

    before: Frame
    after: Frame
    kept: Frame
    entered: int


class TopNOperator:
    """Gives a row when it comes among the best `n` of its group, and takes it back when it leaves.

    Of equal rows the one that came first is better. State: the best rows, or all rows where
    the input takes rows back, since any of them may move up. Groups that are given out when their
    time has come are forgotten then, and rows that come for them later are late.
    """

    def __init__(self, relation: TopN) -> None:
        self._relation = relation
        self._columns = relation.source.schema.names
        self._given = relation.schema.names
        self._retracts = relation.source.retracts
        self._ranks = Ranks(relation.keys, relation.sorting, relation.n, relation.ties)
        self._empty = pl.DataFrame(
            schema={**frame_schema(relation.source.schema), **CONTROL, ORDER: pl.Int64()}
        )
        number = {} if relation.number is None else {relation.number: pl.Int64()}
        self._nothing = self._result(self._empty.with_columns(**_nulls(number)))

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values make a group."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Keep the best rows of the batch."""
        if self._retracts or rows.is_empty():
            return rows
        return self._ranks.packed(rows)

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take the rows of a batch; the watermark has an effect where groups end."""
        held = state.tables.get(_TABLE, self._empty)
        if self._relation.until is not None:
            return self._closing(state, held, delta, time)
        if delta.is_empty():
            return Step(State(state.tables, time), self._nothing)
        found = self._take(held, delta)
        number = self._relation.number
        before, after = found.before, found.after
        if number is not None or self._retracts:
            before, after = self._ranks.of(before, number), self._ranks.of(after, number)
        by = [ORDER] if number is None else [ORDER, number]
        output = self._result(difference(before, after, by))
        taken = packed_rows(delta)
        counts = Counts(
            taken=taken,
            passed=found.entered,
            filtered=taken - found.entered,
            given=output.height,
        )
        kept = found.kept
        return Step(State({_TABLE: kept} if kept.height else {}, time), output, counts=counts)

    def _take(self, held: Frame, delta: Frame) -> _Taken:
        rows = numbered(delta, held)
        mine, others = touched(held, delta, self.keys)
        if self._retracts:
            after = changed(mine, rows, self._columns)
            entered = delta.height
        else:
            after = self._ranks.of(pl.concat([mine, rows.select(held.columns)]))
            entered = after.filter(pl.col(ORDER) >= rows[ORDER][0]).height
        return _Taken(mine, after, pl.concat([others, after]), entered)

    def _closing(self, state: State, held: Frame, delta: Frame, time: Time) -> Step:
        """Take rows, and give out the groups whose time has come."""
        until = pl.col(str(self._relation.until))
        taken = packed_rows(delta)
        late = delta.filter(until <= state.time.watermark)
        rows = delta if late.is_empty() else delta.filter(until > state.time.watermark)
        entered = 0
        if rows.height:
            found = self._take(held, rows)
            held, entered = found.kept, found.entered
        over = held.filter(until <= time.watermark)
        output = self._nothing
        if over.height:
            held = held.filter(until > time.watermark)
            best = self._ranks.of(over, self._relation.number)
            # What a group gives carries its end, as the results of windows do.
            output = self._result(best.with_columns((until - 1).alias(TIME)))
        lost = packed_rows(late)
        counts = Counts(taken, entered, taken - entered - lost, lost, given=output.height)
        refused = None
        if late.height:
            refused = late.with_columns(pl.lit(_LATE).alias(REASON))
        tables = {_TABLE: held} if held.height else {}
        return Step(State(tables, time), output, late=refused, counts=counts)

    def _result(self, rows: Frame) -> Frame:
        return rows.select(*self._given, *CONTROL)


def _nulls(columns: dict[str, pl.Int64]) -> dict[str, pl.Expr]:
    return {name: pl.lit(None, kind) for name, kind in columns.items()}
