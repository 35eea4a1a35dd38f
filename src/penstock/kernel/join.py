"""Joins: rows of two inputs with the same key, in an interval, a window, or of two tables.

Both inputs and the result are changelogs. A batch changes the weights of rows on both sides;
a pair's weight is the product of those of its rows, so what comes out of a pair is the product
after the batch less the product before it. A row that may come out alone (or, with `semi`,
because of a partner) knows how many partners it has.

A row waits until no partner can come any more: the watermark has passed the last time that a
partner may have, by the lateness that is still taken. Then it leaves, alone if it had none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.join_pairs import Pairs, equal_pairs, near_pairs, no_pairs
from penstock.kernel.join_reach import reach_of
from penstock.kernel.join_result import Results, net
from penstock.kernel.join_side import MATCHES, Change, Intake, Side, chosen_rows
from penstock.kernel.port import END_OF_TIME, TIME, WEIGHT, Counts, Frame, State, Step, Time
from penstock.model.join import Join
from penstock.model.join_bound import Interval
from penstock.model.join_bound import Whole as WholeTable

_TABLES = ("left", "right")
_Limits: TypeAlias = tuple[int, int]
"""The time that all rows have reached, before a batch and after it."""


@dataclass(frozen=True, slots=True)
class _Told:
    """A side after a batch: its change, and its rows' partners before and after."""

    side: Side
    change: Change
    before: Whole
    after: Whole


class JoinOperator:
    """Joins two inputs."""

    def __init__(self, relation: Join, keep_late_ms: int = 0) -> None:
        bound = relation.bound
        self._relation = relation
        self._keep_late = keep_late_ms
        # Where results may not be corrected later, they wait for the last row that may come.
        self._wait = 0 if relation.keep_late > timedelta(0) else keep_late_ms
        self._sides = (Side(relation, 0), Side(relation, 1))
        self._results = Results(relation)
        self._reach = reach_of(bound) if isinstance(bound, Interval) else None
        self._at_once = relation.eager or isinstance(bound, WholeTable)

    @property
    def ports(self) -> tuple[tuple[str, ...], ...]:
        """The key of each input."""
        return tuple(side.keys for side in self._sides)

    def pack(self, rows: Frame, watermark: int, port: int) -> Frame:  # noqa: ARG002
        """Leave the rows as they are: each may have a partner of its own."""
        return rows

    def step(self, state: State, deltas: Sequence[Frame], time: Time) -> Step:
        """Take the rows of a batch, then let those go that the watermark has passed."""
        limit = _limit(state.time, self._keep_late)
        intakes = [
            side.admit(delta, limit, time.clock)
            for side, delta in zip(self._sides, deltas, strict=True)
        ]
        left, right = (
            side.change(state.tables.get(name, side.empty), intake.rows)
            for side, name, intake in zip(self._sides, _TABLES, intakes, strict=True)
        )
        pairs = self._pairs(left, right)
        told = self._told(left, right, pairs)
        closed = _limit(state.time, self._wait), _limit(time, self._wait)
        output = net(self._output(told, pairs, intakes, closed))
        tables = _kept(told, _limit(time, self._keep_late))
        counts = _counts(deltas, intakes, self._sides, output)
        late, late_right = (_some(intake.late) for intake in intakes)
        return Step(State(tables, time), output, late=late, late_right=late_right, counts=counts)

    def _pairs(self, left: Change, right: Change) -> Pairs:
        """Give all pairs of which one row, or both, changed."""
        moved, others = left.moved, right.moved
        first = no_pairs()
        if len(moved) and right.rows.height:
            found = self._meeting(_at(left.rows, moved), right.rows)
            first = Pairs(moved[found.left], found.right)
        if not len(others) or len(moved) == left.rows.height:
            return self._results.fulfilling(left.rows, right.rows, first)
        still = np.flatnonzero(left.before == left.after)
        found = self._meeting(_at(left.rows, still), _at(right.rows, others))
        second = Pairs(still[found.left], others[found.right])
        both = Pairs(
            np.concatenate([first.left, second.left]), np.concatenate([first.right, second.right])
        )
        return self._results.fulfilling(left.rows, right.rows, both)

    def _meeting(self, left: Frame, right: Frame) -> Pairs:
        one, other = self._sides[0].joined_by(left), self._sides[1].joined_by(right)
        if self._reach is None:
            return equal_pairs(one, other)
        return near_pairs(one, other, self._reach)

    def _told(self, left: Change, right: Change, pairs: Pairs) -> tuple[_Told, _Told]:
        return (
            _told(self._sides[0], left, pairs.left, (right, pairs.right)),
            _told(self._sides[1], right, pairs.right, (left, pairs.left)),
        )

    def _output(
        self, told: tuple[_Told, _Told], pairs: Pairs, intakes: Sequence[Intake], limits: _Limits
    ) -> Frame:
        left, right = (item.change for item in told)
        parts = [self._results.none]
        if self._relation.how not in ("semi", "anti") and len(pairs):
            before = left.before[pairs.left] * right.before[pairs.right]
            after = left.after[pairs.left] * right.after[pairs.right]
            parts.append(self._results.pairs(left.rows, right.rows, pairs, after - before))
        parts += [self._unmatched(intake, port) for port, intake in enumerate(intakes)]
        alone = [self._alone(item, limits) for item in reversed(told)]
        parts.append(pl.concat(alone) if self._at_once else _by_time(alone))
        return pl.concat(parts)

    def _unmatched(self, intake: Intake, port: int) -> Frame:
        """Give the rows without a key of a side that is kept."""
        rows = intake.alone
        if rows.is_empty() or not self._sides[port].kept:
            return self._results.none
        places = np.arange(rows.height, dtype=np.int64)
        return self._results.alone(rows, port, places, rows[WEIGHT].to_numpy())

    def _alone(self, told: _Told, limits: _Limits) -> Frame:
        """Give the rows of one side that come out, or are taken back, without the other's."""
        side, change = told.side, told.change
        if not side.counted or not change.rows.height:
            return self._results.none
        if self._relation.how == "semi":
            before, after = change.before * (told.before > 0), change.after * (told.after > 0)
        else:
            before, after = change.before * (told.before <= 0), change.after * (told.after <= 0)
            last = None if self._at_once else side.last(change.rows)
            if last is not None:
                # A row that was only taken back, and never came, does not come out.
                before = np.maximum(before, 0) * (last < limits[0])
                after = np.maximum(after, 0) * (last < limits[1])
        places = np.flatnonzero(after != before)
        return self._results.alone(change.rows, side.port, places, (after - before)[places])


def _limit(time: Time, lateness: int) -> int:
    """Give the time that all rows have reached but for those that come late."""
    return max(time.watermark - lateness, -END_OF_TIME)


def _kept(told: tuple[_Told, _Told], limit: int) -> dict[str, Frame]:
    remaining = {name: _remaining(item, limit) for name, item in zip(_TABLES, told, strict=True)}
    return {name: rows for name, rows in remaining.items() if rows.height}


def _told(side: Side, change: Change, places: Whole, partners: tuple[Change, Whole]) -> _Told:
    """Count the partners of each row; those of a row that is new have all come to it now."""
    if not side.counted:
        none = np.zeros(0, np.int64)
        return _Told(side, change, none, none)
    before = change.rows[MATCHES].to_numpy()
    if not len(places):
        return _Told(side, change, before, before)
    other, others = partners
    come = np.where(places >= change.held, other.after[others], other.difference[others])
    sums = np.bincount(places, weights=come, minlength=len(before))
    return _Told(side, change, before, before + sums.astype(np.int64))


def _remaining(told: _Told, limit: int) -> Frame:
    """Give the rows a side goes on with; the same frame where nothing changed."""
    side, change = told.side, told.change
    rows = change.rows
    if len(change.moved) and (change.before[: change.held] != change.after[: change.held]).any():
        rows = rows.with_columns(pl.Series(WEIGHT, change.after, pl.Int32))
    if side.counted and told.before is not told.after:
        rows = rows.with_columns(pl.Series(MATCHES, told.after, pl.Int64))
    keep = change.after != 0
    last = side.last(rows) if rows.height else None
    return chosen_rows(rows, keep if last is None else keep & (last >= limit))


def _by_time(parts: Sequence[Frame]) -> Frame:
    return pl.concat(parts).sort(TIME, maintain_order=True)


def _at(rows: Frame, places: Whole) -> Frame:
    return rows if len(places) == rows.height else rows[places]


def _some(rows: Frame) -> Frame | None:
    return rows if rows.height else None


def _counts(
    deltas: Sequence[Frame], intakes: Sequence[Intake], sides: Sequence[Side], output: Frame
) -> Counts:
    taken = sum(delta.height for delta in deltas)
    late = sum(intake.late.height for intake in intakes)
    filtered = sum(
        intake.alone.height for intake, side in zip(intakes, sides, strict=True) if not side.kept
    )
    return Counts(
        taken=taken,
        passed=taken - late - filtered,
        filtered=filtered,
        late=late,
        given=output.height,
        dropped_pairs=sum(intake.dropped_pairs for intake in intakes),
    )
