"""A stream looks rows up in a table as it was at their time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from operator import or_

import polars as pl

from penstock.kernel.as_of_correct import Corrections
from penstock.kernel.as_of_rows import GIVEN, MET, OPEN, VERSIONS, Parts, Times, pending
from penstock.kernel.fold.grouping import join
from penstock.kernel.history import History
from penstock.kernel.letter import REASON
from penstock.kernel.look_up import ENDS
from penstock.kernel.multiset import ORDER
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    TIME,
    WEIGHT,
    Counts,
    Frame,
    State,
    Step,
    Time,
)
from penstock.model.join import Join
from penstock.model.join_bound import AsOf

_LATE = "behind the watermark: the version it was to meet may be forgotten"
_LATE_VERSION = "behind the watermark: no row that it was valid for can come any more"
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class _Versions:
    """The table's versions before and after a batch, the batch's rows, and what is left out."""

    before: Frame
    after: Frame
    rows: Frame
    late: Frame
    filtered: int


@dataclass(frozen=True, slots=True)
class _Left:
    """Left rows of a batch: those to look up, those that meet nothing, those that are late."""

    rows: Frame
    alone: Frame
    late: Frame


class TimeLookUp:
    """Holds the versions of the table's rows, and the left rows that are not answered for good."""

    def __init__(self, relation: Join, keep_late: int = 0) -> None:
        bound = relation.bound
        assert isinstance(bound, AsOf)
        self._relation = relation
        self._wait = bound.wait
        self._keep = min(max(bound.keep // _MILLISECOND, keep_late), END_OF_TIME)
        self._retracts = relation.left.retracts
        self._history = History(relation.right, relation.right_keys)
        self._parts = Parts(relation, self._history.empty)
        self._corrections = Corrections(relation, self._parts) if bound.corrected else None
        self._unmet_leave = relation.how in ("inner", "right", "semi")

    @property
    def ports(self) -> tuple[tuple[str, ...], ...]:
        """The keys of the left rows and those of the table's."""
        return self._relation.left_keys, self._relation.right_keys

    def pack(self, rows: Frame, watermark: int, port: int) -> Frame:  # noqa: ARG002
        """Leave rows as they are: every version may be asked for."""
        return rows

    def step(self, state: State, deltas: Sequence[Frame], time: Time) -> Step:
        """Take the table's rows, then the left ones; answer those that the watermark has passed."""
        times = Times(state.time.watermark, time.watermark, self._keep)
        still = times.before == times.now and all(delta.is_empty() for delta in deltas)
        if still:
            return Step(State(state.tables, time), self._parts.answers.none)
        versions = self._taken(state.tables.get(VERSIONS, self._history.empty), deltas[1], times)
        left = self._admitted(deltas[0], times)
        if self._corrections is None:
            tables, output = self._answered(state, left, versions.after, times)
        else:
            change = (versions.before, versions.after, versions.rows)
            tables, output = self._corrections.step(state, (left.rows, left.alone), change, times)
        kept = self._history.kept(versions.after, times.limit)
        tables = {VERSIONS: kept, **tables}
        if MET in tables:
            tables[MET] = join(tables[MET], kept, tables[MET].columns, "semi")
        counts = self._counts(deltas, left, versions, output.height)
        return Step(
            State({name: table for name, table in tables.items() if table.height}, time),
            output,
            late=left.late if left.late.height else None,
            late_right=versions.late if versions.late.height else None,
            counts=counts,
        )

    def _taken(self, held: Frame, delta: Frame, times: Times) -> _Versions:
        if delta.is_empty():
            return _Versions(held, held, held.clear(), delta, 0)
        usable = pl.col(TIME).is_not_null()
        if not self._relation.keeps_right:
            usable = usable & ~_no_key(self._relation.right_keys)
        rows = delta.filter(usable)
        filtered = delta.height - rows.height
        if rows.is_empty():
            return _Versions(held, held, held.clear(), rows, filtered)
        turn = self._history.taken(held, rows)
        past = pl.col(ENDS).is_not_null() & (pl.col(ENDS) <= times.limit_before)
        late = turn.after.filter((pl.col(ORDER) >= turn.first_new) & past)
        late = late.select(*self._history.columns, *CONTROL, pl.lit(_LATE_VERSION).alias(REASON))
        return _Versions(held, turn.whole, rows, late, filtered)

    def _admitted(self, delta: Frame, times: Times) -> _Left:
        rows = delta.select(*self._parts.columns, *CONTROL)
        if rows.is_empty():
            return _Left(rows, rows, rows)
        alone = _no_key(self._relation.left_keys) | pl.col(TIME).is_null()
        late = ~alone & (pl.col(TIME) < times.limit_before)
        if self._retracts:
            # What takes a row back is never late: the row may be there still.
            late = late & (pl.col(WEIGHT) > 0)
        parts = rows.select(alone.alias("alone"), late.alias("late"))
        if not parts["alone"].any() and not parts["late"].any():
            return _Left(rows, rows.clear(), rows.clear())
        refused = rows.filter(parts["late"]).with_columns(pl.lit(_LATE).alias(REASON))
        return _Left(
            rows.filter(~(parts["alone"] | parts["late"])), rows.filter(parts["alone"]), refused
        )

    def _answered(
        self, state: State, left: _Left, versions: Frame, times: Times
    ) -> tuple[dict[str, Frame], Frame]:
        """Answer left rows for good: at once, or those that the watermark has passed."""
        ready, waiting = left.rows, self._parts.open.clear()
        if self._wait:
            held = state.tables.get(OPEN, self._parts.open)
            rows = pending(held, left.rows, self._relation)
            due = rows[TIME] < times.now
            waiting = rows.filter(~due) if due.any() else rows
            ready = rows.filter(due).sort(TIME, maintain_order=True)
        given = state.tables.get(GIVEN, self._parts.given.empty)
        given, output = self._parts.final(given, (left.alone, ready), versions)
        given = self._parts.given.without_owed(given, times.limit)
        return {OPEN: waiting, GIVEN: given}, output

    def _counts(
        self, deltas: Sequence[Frame], left: _Left, versions: _Versions, given: int
    ) -> Counts:
        filtered = 0
        if not self._retracts:
            filtered = left.alone.height if self._unmet_leave else 0
            if not self._wait and self._corrections is None:
                filtered = left.alone.height + left.rows.height - given
        taken = sum(delta.height for delta in deltas)
        filtered += versions.filtered
        late = left.late.height + versions.late.height
        return Counts(
            taken=taken, passed=taken - filtered - late, filtered=filtered, late=late, given=given
        )


def _no_key(keys: Sequence[str]) -> pl.Expr:
    return reduce(or_, (pl.col(key).is_null() for key in keys))
