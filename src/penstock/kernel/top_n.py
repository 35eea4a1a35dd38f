"""The best rows of each group, kept up to date."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.letter import REASON
from penstock.kernel.multiset import (
    ORDER,
    changed,
    difference,
    next_order,
    numbered,
    packed_rows,
    replaced,
    rows_at,
    touched,
)
from penstock.kernel.port import CONTROL, TIME, WEIGHT, Counts, Frame, Places, State, Step, Time
from penstock.kernel.ranks import Ranks, Turn
from penstock.model.top_n import TopN

_TABLE = "rows"
_LATE = "its group was given out"


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a batch does to the rows that are held."""

    kept: Frame
    """All rows after it."""
    leaving: Places
    """Where those stood that it leaves out."""
    new: Frame
    """Those that came with it."""
    turn: Turn


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
        if self._retracts:
            return self._retracting(held, delta, time)
        found = self._take(held, delta)
        output = self._changes(held, found)
        taken, entered = packed_rows(delta), found.new.height
        counts = Counts(taken, entered, taken - entered, given=output.height)
        state = _state(found.kept, time, found.leaving)
        return Step(state, output, counts=counts)

    def _retracting(self, held: Frame, delta: Frame, time: Time) -> Step:
        """Take rows and such as are taken back: any that is held may move up."""
        number = self._relation.number
        mine, after, kept = self._taken_back(held, delta)
        by = [ORDER] if number is None else [ORDER, number]
        chosen = self._ranks.of(mine, number), self._ranks.of(after, number)
        output = self._result(difference(*chosen, by))
        counts = Counts(delta.height, delta.height, given=output.height)
        return Step(_state(kept, time), output, counts=counts)

    def _taken_back(self, held: Frame, delta: Frame) -> tuple[Frame, Frame, Frame]:
        """Give the rows of the delta's groups before and after it, and all after it."""
        mine, others = touched(held, delta, self.keys)
        after = changed(mine, numbered(delta, held), self._columns)
        return mine, after, pl.concat([others, after])

    def _take(self, held: Frame, delta: Frame) -> _Taken:
        """Take rows where none is taken back; the wide ones are touched where they move."""
        turn = self._ranks.turn(held, delta)
        old = len(turn.mine)
        entering = np.flatnonzero(turn.after[old:])
        order = pl.Series(ORDER, entering + next_order(held), pl.Int64)
        new = rows_at(delta.select(*self._columns, *CONTROL), entering).rechunk()
        new = new.with_columns(order)
        leaving = turn.mine[turn.after[:old] == 0]
        return _Taken(replaced(held, leaving, new.select(held.columns)), leaving, new, turn)

    def _changes(self, held: Frame, found: _Taken) -> Frame:
        """Give the changes of what was chosen: rows that are gone first."""
        turn, number = found.turn, self._relation.number
        after = turn.after[: len(turn.mine)]
        gone, come = np.flatnonzero(after == 0), np.zeros(0, np.int64)
        if number is not None:
            moved = after != turn.before
            gone = np.flatnonzero(moved & (turn.before > 0))
            come = np.flatnonzero(moved & (after > 0))
        new = found.new
        rows = new
        if len(gone) or len(come):
            known = held.select(new.columns)
            moved = rows_at(known, turn.mine[gone]), rows_at(known, turn.mine[come])
            rows = pl.concat([*moved, new])
        weights = np.repeat(np.array([-1, 1], np.int32), [len(gone), len(come) + new.height])
        rows = rows.with_columns(pl.Series(WEIGHT, weights))
        if number is not None:
            fresh = turn.after[len(turn.mine) :]
            numbers = np.concatenate([turn.before[gone], after[come], fresh[fresh > 0]])
            rows = rows.with_columns(pl.Series(number, numbers, pl.Int64))
        return self._result(rows)

    def _closing(self, state: State, held: Frame, delta: Frame, time: Time) -> Step:
        """Take rows, and give out the groups whose time has come."""
        until = pl.col(str(self._relation.until))
        taken = packed_rows(delta)
        late = delta.filter(until <= state.time.watermark)
        rows = delta if late.is_empty() else delta.filter(until > state.time.watermark)
        entered = 0
        if rows.height:
            held, entered = self._entered(held, rows)
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
        return Step(_state(held, time), output, late=refused, counts=counts)

    def _entered(self, held: Frame, rows: Frame) -> tuple[Frame, int]:
        if self._retracts:
            return self._taken_back(held, rows)[2], rows.height
        found = self._take(held, rows)
        return found.kept, found.new.height

    def _result(self, rows: Frame) -> Frame:
        return rows.select(*self._given, *CONTROL)


def _state(rows: Frame, time: Time, left: Places | None = None) -> State:
    tables = {_TABLE: rows} if rows.height else {}
    return State(tables, time) if left is None else State(tables, time, {_TABLE: left})


def _nulls(columns: dict[str, pl.Int64]) -> dict[str, pl.Expr]:
    return {name: pl.lit(None, kind) for name, kind in columns.items()}
