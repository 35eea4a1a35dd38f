"""Joins in sessions, which are those of the rows of both sides.

A row that comes may make two sessions one, and a row taken back may part them, so nothing is
said of a session before the watermark has passed its end, by the lateness that is still taken.
Then all its pairs come out, and the rows that are alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import polars as pl

from penstock.kernel.assign import END, START, Whole
from penstock.kernel.fold.grouping import join
from penstock.kernel.join_answer import Answer, counted
from penstock.kernel.join_limit import JoinClock
from penstock.kernel.join_pairs import meeting, row_hash
from penstock.kernel.join_side import Change, Intake, Side
from penstock.kernel.locate import Spot
from penstock.kernel.port import WEIGHT, Frame, State, Step, Time
from penstock.kernel.session import merge_sessions
from penstock.model.join import Join
from penstock.model.window import Session

_TABLES = ("left", "right")
_NUMBER = "_number"
_SESSION = "_session"
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class _Sessions:
    """For the rows of each side the number of their session and its end."""

    number: tuple[Whole, Whole]
    end: tuple[Whole, Whole]


class SessionJoin:
    """Joins two inputs session by session."""

    def __init__(
        self, relation: Join, window: Session, sides: tuple[Side, Side], clock: JoinClock
    ) -> None:
        self._sides = sides
        self._clock = clock
        self._touching = window.touching
        self._max_size = None if window.max_size is None else window.max_size // _MILLISECOND
        self._answer = Answer(relation, sides, at_once=False)

    def step(self, state: State, deltas: Sequence[Frame], time: Time) -> Step:
        """Take the rows of a batch, then give out the sessions that the watermark has passed."""
        course = self._clock.course(state.time, time)
        held = [
            state.tables.get(name, side.empty)
            for name, side in zip(_TABLES, self._sides, strict=True)
        ]
        found = [
            side.admit(delta, course.late, time.clock, sort_out=False)
            for side, delta in zip(self._sides, deltas, strict=True)
        ]
        intakes = self._timely(held, found, course.late)
        rows = [
            _settled(side.change(table, intake.rows))
            for side, table, intake in zip(self._sides, held, intakes, strict=True)
        ]
        output, rows = self._closed(rows, intakes, course.gone)
        tables = {name: table for name, table in zip(_TABLES, rows, strict=True) if table.height}
        return Step(
            State(tables, time),
            output,
            late=intakes[0].late if intakes[0].late.height else None,
            late_right=intakes[1].late if intakes[1].late.height else None,
            counts=counted(deltas, intakes, output),
            wake_at=self._clock.wake_at([table[END] for table in tables.values()], time)
            if self._clock.by_clock
            else None,
        )

    def _timely(
        self, held: Sequence[Frame], intakes: Sequence[Intake], limit: int
    ) -> Sequence[Intake]:
        """Part off rows whose own window is closed, unless they meet a session that is not."""
        behind = [(intake.rows[END] <= limit).to_numpy() for intake in intakes]
        if not any(mask.any() for mask in behind):
            return intakes
        both = [
            pl.concat([table, intake.rows]) for table, intake in zip(held, intakes, strict=True)
        ]
        ends = self._sessions(both).end
        return [
            side.refuse(intake, mask & (end[table.height :] <= limit))
            for side, intake, mask, end, table in zip(
                self._sides, intakes, behind, ends, held, strict=True
            )
        ]

    def _closed(
        self, rows: Sequence[Frame], intakes: Sequence[Intake], limit: int
    ) -> tuple[Frame, list[Frame]]:
        """Give what comes out of the sessions that end, and the rows of the others."""
        mine, chosen = self._touched(rows, limit)
        sessions = self._sessions(mine)
        leaving = [end <= limit for end in sessions.end]
        changes = [
            _ended(side, table.filter(pl.Series(mask)), end[mask])
            for side, table, mask, end in zip(self._sides, mine, leaving, sessions.end, strict=True)
        ]
        numbers = [
            pl.DataFrame({_SESSION: number[mask]})
            for number, mask in zip(sessions.number, leaving, strict=True)
        ]
        left, right = changes
        pairs = self._answer.fulfilling(left, right, meeting(numbers[0], numbers[1], None))
        told = self._answer.told(left, right, pairs)
        output = self._answer.output(told, pairs, intakes, (limit, limit))
        remaining = [
            _without(table, places[mask])
            for table, places, mask in zip(rows, chosen, leaving, strict=True)
        ]
        return output, remaining

    def _touched(self, rows: Sequence[Frame], limit: int) -> tuple[list[Frame], list[Whole]]:
        """Give the rows of the keys that have one whose own window is over, and their places."""
        over = [table.filter(pl.col(END) <= limit) for table in rows]
        asked = pl.concat(
            [row_hash(side.key_of(t)) for side, t in zip(self._sides, over, strict=True)]
        )
        asked = asked.unique().implode()
        places = [
            np.flatnonzero(row_hash(side.key_of(table)).is_in(asked).to_numpy())
            if table.height
            else np.empty(0, np.int64)
            for side, table in zip(self._sides, rows, strict=True)
        ]
        return [table[at] for table, at in zip(rows, places, strict=True)], places

    def _sessions(self, rows: Sequence[Frame]) -> _Sessions:
        keys = pl.concat(
            [side.key_of(table) for side, table in zip(self._sides, rows, strict=True)]
        )
        known = keys.unique(maintain_order=True).with_row_index(_NUMBER)
        number = join(keys, known, keys.columns, "left")[_NUMBER].to_numpy().astype(np.int64)
        start = np.concatenate([table[START].to_numpy() for table in rows])
        end = np.concatenate([table[END].to_numpy() for table in rows])
        merged = merge_sessions(
            Spot(number, start, end), touching=self._touching, max_size=self._max_size
        )
        ends = merged.windows.end[merged.into]
        cut = rows[0].height
        return _Sessions((merged.into[:cut], merged.into[cut:]), (ends[:cut], ends[cut:]))


def _settled(change: Change) -> Frame:
    """Give the rows there are after a batch; the same frame where nothing changed."""
    rows = change.rows
    if (change.before[: change.held] != change.after[: change.held]).any():
        rows = rows.with_columns(pl.Series(WEIGHT, change.after, pl.Int32))
    there = change.after != 0
    return rows if there.all() else rows.filter(pl.Series(there))


def _ended(side: Side, rows: Frame, end: Whole) -> Change:
    """Let rows come that were there as soon as nobody can take them back any more."""
    rows = rows.with_columns(pl.Series(END, end, pl.Int64))
    # A row that was only taken back, and never came, does not come out.
    after = np.maximum(rows[WEIGHT].to_numpy().astype(np.int64), 0)
    return Change(rows.select(side.empty.columns), np.zeros_like(after), after, 0)


def _without(rows: Frame, places: Whole) -> Frame:
    if not len(places):
        return rows
    keep = np.ones(rows.height, np.bool_)
    keep[places] = False
    return rows.filter(pl.Series(keep))
