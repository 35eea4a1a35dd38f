"""A function of the user for each key, with state and timers of its own.

State: a table for each declared state and one for timers (see `process_column` and
`process_timers`), and where rows wait for the watermark one of rows. In a step only the keys
that have rows or timers due are turned into Python values.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.dead import letters
from penstock.kernel.letter import REASON
from penstock.kernel.port import CONTROL, TIME, Counts, Frame, State, Step, Time
from penstock.kernel.process_batches import BatchProcess
from penstock.kernel.process_change import current_tables
from penstock.kernel.process_run import Outcome, RowProcess
from penstock.model.process import Process

ROWS = "_rows"
"""The table of rows that wait for the watermark."""
_LATE = "behind the watermark: rows are taken in the order of their times"


@dataclass(frozen=True, slots=True)
class _Taken:
    """The rows of a step: those to be processed, those that wait on, those too late."""

    rows: Frame
    held: Frame | None
    late: Frame | None


class ProcessOperator:
    """Lets a function of the user process the rows of each key, and its timers."""

    def __init__(self, relation: Process) -> None:
        self._relation = relation
        self._columns = relation.source.schema.names
        types = frame_schema(relation.source.schema)
        self._key_types = {key: types[key] for key in relation.keys}
        work = BatchProcess if relation.vectorised else RowProcess
        self._work: BatchProcess | RowProcess = work(relation)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that decide whose state a row meets."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Leave the rows as they are: the function sees each of them."""
        return rows

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Fire the timers of the clock, take the rows, and fire the timers of event time."""
        stored = current_tables(
            state.tables, self._relation.state, self._key_types, written=state.time.watermark
        )
        taken = self._taken(state, delta, time)
        done = self._work.run(stored, taken.rows, state.time, time)
        tables = dict(done.tables)
        if taken.held is not None:
            tables[ROWS] = taken.held
        return Step(
            State(tables, time),
            done.output,
            late=taken.late,
            dead=self._letters(taken.rows, done),
            counts=self._counts(delta, taken, done),
            wake_at=done.wake_at,
        )

    def _taken(self, state: State, delta: Frame, time: Time) -> _Taken:
        if not self._relation.in_order:
            return _Taken(delta, None, None)
        behind = pl.col(TIME) < state.time.watermark
        # The time first: the patch of a stored table is short then, see `spark.state_patch`.
        names = [TIME, *self._columns, *(name for name in CONTROL if name != TIME)]
        fresh = delta.filter(~behind.fill_null(value=True)).select(names)
        late = delta.filter(behind.fill_null(value=True))
        refused = late.select(*self._columns, *CONTROL, pl.lit(_LATE).alias(REASON))
        held = state.tables.get(ROWS)
        waiting = held if held is not None else fresh.clear()
        if fresh.height:
            waiting = pl.concat([waiting, fresh])
        ready = pl.col(TIME) < time.watermark
        rows = waiting.filter(ready).sort(TIME, maintain_order=True)
        rest = waiting if rows.is_empty() else waiting.filter(~ready)
        return _Taken(rows, rest if rest.height else None, refused if late.height else None)

    def _letters(self, rows: Frame, done: Outcome) -> Frame | None:
        relation = self._relation
        step, site = relation.name, relation.site
        found: list[Frame] = []
        if done.row_failures:
            found.append(letters(rows, self._columns, done.row_failures, step=step, site=site))
        if done.timer_failures:
            found.append(
                letters(done.timers, relation.keys, done.timer_failures, step=step, site=site)
            )
        return pl.concat(found) if found else None

    def _counts(self, delta: Frame, taken: _Taken, done: Outcome) -> Counts:
        late = 0 if taken.late is None else taken.late.height
        # A row that waited was counted when it came.
        dead = 0 if self._relation.in_order else len(done.row_failures)
        passed = delta.height - late - dead
        return Counts(
            taken=delta.height, passed=passed, late=late, dead=dead, given=done.output.height
        )
