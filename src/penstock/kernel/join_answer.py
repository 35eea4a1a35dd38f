"""What a batch makes a join say: pairs that came or went, and rows that are alone or no longer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.join_pairs import Pairs
from penstock.kernel.join_result import Given, Results, net
from penstock.kernel.join_side import MATCHES, Change, Intake, Side
from penstock.kernel.port import START_OF_TIME, TIME, UNTIL, WEIGHT, Counts, Frame
from penstock.model.join import Join

Limits: TypeAlias = tuple[int, int]
"""The time that all rows have reached, before a batch and after it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A side after a batch: its change, and how many partners its rows had and have.

    Of tables also when the latest partner of each row came or went: `moment`.
    """

    side: Side
    change: Change
    before: Whole
    after: Whole
    moment: Whole | None = None

    @property
    def rows(self) -> Frame:
        """The rows as they are after the batch: one left alone dates from when that happened."""
        rows = self.change.rows
        if self.moment is None or not self.side.kept:
            return rows
        time = rows[TIME].fill_null(START_OF_TIME).to_numpy()
        later = (self.before > 0) & (self.after <= 0) & (self.moment > time)
        if not later.any():
            return rows
        moment = pl.Series(TIME, self.moment)
        return rows.with_columns(moment.zip_with(pl.Series(later), rows[TIME]))

    @property
    def ended(self) -> Whole | None:
        """Of tables: when a row was last changed, itself or by a partner."""
        if self.moment is None or self.change.moment is None:
            return self.moment if self.change.moment is None else self.change.moment
        return np.maximum(self.moment, self.change.moment)


class Answer:
    """Makes the results of a batch; rows that are alone come `at_once` or when they are closed."""

    def __init__(self, relation: Join, sides: tuple[Side, Side], *, at_once: bool) -> None:
        self._how = relation.how
        self._sides = sides
        self._at_once = at_once
        self._results = Results(relation)

    def fulfilling(self, left: Change, right: Change, pairs: Pairs) -> Pairs:
        """Give the pairs that fulfil the join's condition."""
        return self._results.fulfilling(left.rows, right.rows, pairs)

    def told(self, left: Change, right: Change, pairs: Pairs) -> tuple[Told, Told]:
        """Count the partners of all rows, by the pairs of which a row changed."""
        return (
            _told(self._sides[0], left, pairs, right),
            _told(self._sides[1], right, pairs.turned, left),
        )

    def output(
        self, told: tuple[Told, Told], pairs: Pairs, intakes: Sequence[Intake], limits: Limits
    ) -> Frame:
        """Give the changes of the result."""
        left, right = (item.change for item in told)
        parts = [self._results.none]
        if self._how not in ("semi", "anti") and len(pairs):
            before = left.before[pairs.left] * right.before[pairs.right]
            after = left.after[pairs.left] * right.after[pairs.right]
            ended = _later(left, right, pairs)
            parts.append(self._results.pairs((left.rows, right.rows), pairs, after - before, ended))
        parts += [self._unmatched(intake, port) for port, intake in enumerate(intakes)]
        alone = pl.concat([self._alone(item, limits) for item in reversed(told)])
        parts.append(alone if self._at_once else alone.sort(TIME, maintain_order=True))
        return net(pl.concat(parts))

    def _unmatched(self, intake: Intake, port: int) -> Frame:
        """Give the rows that can have no partner."""
        rows = intake.alone
        places = np.arange(rows.height, dtype=np.int64)
        ended = rows[UNTIL].to_numpy() if UNTIL in rows.columns else None
        given = Given(port, places, rows[WEIGHT].to_numpy(), ended)
        return self._results.alone(rows, given)

    def _alone(self, told: Told, limits: Limits) -> Frame:
        """Give the rows of one side that come out, or are taken back, without the other's."""
        side, change = told.side, told.change
        if not side.counted or not change.rows.height:
            return self._results.none
        if self._how == "semi":
            before, after = change.before * (told.before > 0), change.after * (told.after > 0)
        else:
            before, after = change.before * (told.before <= 0), change.after * (told.after <= 0)
            last = None if self._at_once else side.last(change.rows)
            if last is not None:
                # A row that was only taken back, and never came, does not come out.
                before = np.maximum(before, 0) * (last < limits[0])
                after = np.maximum(after, 0) * (last < limits[1])
        places = np.flatnonzero(after != before)
        ended = None if told.ended is None else told.ended[places]
        given = Given(side.port, places, (after - before)[places], ended)
        return self._results.alone(told.rows, given)


def _later(left: Change, right: Change, pairs: Pairs) -> Whole | None:
    """Give when each pair was changed, by the later of its rows; not before the other's time."""
    if left.moment is None and right.moment is None:
        return None
    return np.maximum(_last_change(left, pairs.left), _last_change(right, pairs.right))


def _last_change(change: Change, places: Whole) -> Whole:
    """Give when rows were changed; of one that was not, when it happened."""
    time = change.rows[TIME].fill_null(START_OF_TIME).to_numpy()[places]
    if change.moment is None:
        return time
    moment = change.moment[places]
    return np.where(moment == START_OF_TIME, time, moment)


def _told(side: Side, change: Change, pairs: Pairs, other: Change) -> Told:
    """Count the partners of each row; those of a row that is new have all come to it now."""
    if not side.counted:
        none = np.empty(0, np.int64)
        return Told(side, change, none, none)
    before = change.rows[MATCHES].to_numpy()
    if not len(pairs):
        return Told(side, change, before, before)
    places, others = pairs.left, pairs.right
    come = np.where(places >= change.held, other.after[others], other.difference[others])
    sums = np.bincount(places, weights=come, minlength=len(before))
    moment = None
    if other.moment is not None:
        moment = np.full(len(before), START_OF_TIME)
        np.maximum.at(moment, places, other.moment[others])
    return Told(side, change, before, before + sums.astype(np.int64), moment)


def counted(deltas: Sequence[Frame], intakes: Sequence[Intake], output: Frame) -> Counts:
    """Give the accounting of a step."""
    taken = sum(delta.height for delta in deltas)
    late = sum(intake.late.height for intake in intakes)
    filtered = sum(intake.filtered for intake in intakes)
    return Counts(
        taken=taken,
        passed=taken - late - filtered,
        filtered=filtered,
        late=late,
        given=output.height,
        dropped_pairs=sum(intake.dropped_pairs for intake in intakes),
    )
