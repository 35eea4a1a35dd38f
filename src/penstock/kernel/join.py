"""Joins: rows of two inputs with the same key, in an interval, a window, or of two tables.

Both inputs and the result are changelogs. A batch changes the weights of rows on both sides;
a pair's weight is the product of those of its rows, so what comes out of a pair is the product
after the batch less the product before it. A row that may come out alone (or, with `semi`,
because of a partner) knows how many partners it has.

A row waits until no partner can come any more: the watermark has passed the last time that a
partner may have, by the lateness that is still taken. Then it leaves, alone if it had none.
Rows in one window give a pair for each window they share. Of two tables nothing ever leaves
but what is taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import polars as pl

from penstock.kernel.assign import END, Whole
from penstock.kernel.join_answer import Answer, Told, counted
from penstock.kernel.join_limit import JoinClock
from penstock.kernel.join_pairs import Pairs, meeting, no_pairs
from penstock.kernel.join_reach import Reach, reach_of
from penstock.kernel.join_session import SessionJoin
from penstock.kernel.join_side import MATCHES, Change, Side, refilled
from penstock.kernel.port import TIME, WEIGHT, Frame, State, Step, Time
from penstock.model.join import Join
from penstock.model.join_bound import Interval, Lasting, SameWindow
from penstock.model.join_bound import Whole as Tables
from penstock.model.window import Session

_TABLES = ("left", "right")
_FEW = 8


class JoinOperator:
    """Joins two inputs."""

    def __init__(self, relation: Join, keep_late_ms: int = 0) -> None:
        bound = relation.bound
        self._sides = (Side(relation, 0), Side(relation, 1))
        at_once = relation.eager or isinstance(bound, Tables)
        self._answer = Answer(relation, self._sides, at_once=at_once)
        self._reach = reach_of(bound) if isinstance(bound, Interval) else None
        self._lasting = bound.side if isinstance(bound, Lasting) else None
        by_clock = isinstance(bound, SameWindow) and bound.window.domain == "processing"
        corrects = relation.keep_late > timedelta(0)
        self._clock = JoinClock(keep_late_ms, by_clock=by_clock, corrects=corrects)
        self._sessions = (
            SessionJoin(relation, bound.window, self._sides, self._clock)
            if isinstance(bound, SameWindow) and isinstance(bound.window, Session)
            else None
        )

    @property
    def ports(self) -> tuple[tuple[str, ...], ...]:
        """The key of each input."""
        return tuple(side.keys for side in self._sides)

    def pack(self, rows: Frame, watermark: int, port: int) -> Frame:  # noqa: ARG002
        """Leave the rows as they are: each may have a partner of its own."""
        return rows

    def step(self, state: State, deltas: Sequence[Frame], time: Time) -> Step:
        """Take the rows of a batch, then let those go that the watermark has passed."""
        if self._sessions is not None:
            return self._sessions.step(state, deltas, time)
        course = self._clock.course(state.time, time)
        intakes = [
            side.admit(delta, course.late, time.clock)
            for side, delta in zip(self._sides, deltas, strict=True)
        ]
        left, right = (
            side.change(state.tables.get(name, side.empty), intake.rows)
            for side, name, intake in zip(self._sides, _TABLES, intakes, strict=True)
        )
        pairs = self._answer.fulfilling(left, right, self._pairs(left, right))
        told = self._answer.told(left, right, pairs)
        output = self._answer.output(told, pairs, intakes, course.closed)
        remaining = {
            name: _remaining(item, course.gone) for name, item in zip(_TABLES, told, strict=True)
        }
        tables = {name: rows for name, rows in remaining.items() if rows.height}
        return Step(
            State(tables, time),
            output,
            late=_some(intakes[0].late),
            late_right=_some(intakes[1].late),
            counts=counted(deltas, intakes, output),
            wake_at=self._clock.wake_at([rows[END] for rows in tables.values()], time)
            if self._clock.by_clock
            else None,
        )

    def _pairs(self, left: Change, right: Change) -> Pairs:
        """Give all pairs of which one row, or both, changed."""
        if self._lasting is None:
            return self._met(left, right, self._reach)
        port = _TABLES.index(self._lasting)
        rows, others = (left.rows, right.rows)[port], (left.rows, right.rows)[1 - port]
        if rows.is_empty():
            return no_pairs()
        ends = self._sides[port].lasts(rows)
        most = max(int((ends - rows[TIME].to_numpy()).max()), 0)
        found = self._met(left, right, Reach(0, most) if port == 0 else Reach(-most, 0))
        own, other = (found.left, found.right) if port == 0 else (found.right, found.left)
        return found.at(others[TIME].to_numpy()[other] <= ends[own])

    def _met(self, left: Change, right: Change, reach: Reach | None) -> Pairs:
        one, other = self._sides[0].joined_by(left.rows), self._sides[1].joined_by(right.rows)
        moved, others = left.moved, right.moved
        found = meeting(_at(one, moved), other, reach)
        first = Pairs(moved[found.left], found.right)
        if not len(others) or len(moved) == left.rows.height:
            return first
        # Rows that changed have met all others: they are left out before, if they are many.
        still = left.before == left.after
        many = _FEW * len(moved) > len(still)
        places = np.flatnonzero(still) if many else np.arange(len(still))
        found = meeting(_at(one, places), _at(other, others), reach)
        second = Pairs(places[found.left], others[found.right])
        second = second.at(still[second.left])
        return Pairs(
            np.concatenate([first.left, second.left]), np.concatenate([first.right, second.right])
        )


def _remaining(told: Told, limit: int) -> Frame:
    """Give the rows a side goes on with; the same frame where nothing changed."""
    side, change = told.side, told.change
    rows, held = told.rows, change.held
    if (change.before[:held] != change.after[:held]).any():
        rows = rows.with_columns(pl.Series(WEIGHT, change.after, pl.Int32))
    if side.counted and told.before is not told.after:
        rows = rows.with_columns(pl.Series(MATCHES, told.after, pl.Int64))
    keep = change.after != 0
    needed = side.needed(rows)
    return refilled(rows, keep if needed is None else keep & (needed >= limit), held)


def _at(rows: Frame, places: Whole) -> Frame:
    return rows if len(places) == rows.height else rows[places]


def _some(rows: Frame) -> Frame | None:
    return rows if rows.height else None
