"""Aggregates of the user's own, whose accumulators are pickled: the only ones row by row.

A row is taken back from the accumulator that has it. Where that is in an earlier part, the row
is owed: it is taken back when the parts are merged, or at the latest when the result is read.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from penstock.errors import ModelError, RunError
from penstock.kernel.columns import series_of
from penstock.kernel.fold.accumulator import COUNT, RESULT, InTable
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import group
from penstock.kernel.port import WEIGHT, Frame
from penstock.model.measure import Measure
from penstock.schema.types import FLOAT64

Row: TypeAlias = tuple[Any, ...]
Kept: TypeAlias = tuple[Any, list[Row]]
"""An accumulator, and the rows owed to an earlier part."""

_STATE = "_state"
_ROWS = "_places"


@dataclass(frozen=True, slots=True)
class Pickled:
    """One accumulator a group."""

    name: str
    measure: Measure
    columns: tuple[str, ...]

    def fold(self, rows: Frame, by: Sequence[str]) -> Frame:
        """Add rows, or take them back, one after the other."""
        net = pl.col(WEIGHT).cast(pl.Int64).sum().alias(COUNT)
        places = rows.with_row_index(_ROWS)
        groups = group(places, by, [net, pl.col(_ROWS)], in_order=True)
        values = rows.select(self.columns).rows() if self.columns else [()] * rows.height
        weights = rows[WEIGHT].to_list()
        states = [
            self._folded((values[place], weights[place]) for place in members)
            for members in groups[_ROWS].to_list()
        ]
        return groups.drop(_ROWS).with_columns(pl.Series(_STATE, states, pl.Binary))

    def reduce(self, table: Frame, by: Sequence[str]) -> Frame:
        """Merge accumulators; a group of one part is left as it is."""
        groups = group(table, by, [pl.col(COUNT), pl.col(_STATE)], in_order=True)
        states = [
            parts[0] if len(parts) == 1 else self._merged(parts, counts)
            for parts, counts in zip(groups[_STATE].to_list(), groups[COUNT].to_list(), strict=True)
        ]
        return groups.with_columns(pl.col(COUNT).list.sum(), pl.Series(_STATE, states, pl.Binary))

    def summary(self, table: Frame, by: Sequence[str]) -> Frame:
        """Ask each accumulator for its result."""
        results = []
        for state in table[_STATE].to_list():
            accumulator, owed = self._loaded(state)
            for row in owed:
                accumulator = self._call("retract", accumulator, *row)
            results.append(self._call("result", accumulator))
        found = series_of(self.measure.name, results, self.measure.gives or FLOAT64)
        return table.select(by).with_columns(found.alias(RESULT))

    def _folded(self, rows: Iterable[tuple[Row, int]]) -> bytes:
        accumulator = self._call("init")
        owed: list[Row] = []
        here: Counter[bytes] = Counter()
        for row, weight in rows:
            for _ in range(weight):
                accumulator = self._call("add", accumulator, *row)
            for _ in range(-weight):
                # Pickled, since the values need not be hashable.
                if here[pickle.dumps(row)] > 0:
                    accumulator = self._call("retract", accumulator, *row)
                else:
                    owed.append(row)
            here[pickle.dumps(row)] += weight
        return self._stored((accumulator, owed))

    def _merged(self, parts: Sequence[bytes], counts: Sequence[int]) -> bytes:
        accumulator, owed = self._loaded(parts[0])
        net = counts[0]
        for part, count in zip(parts[1:], counts[1:], strict=True):
            other, late = self._loaded(part)
            if 0 < len(late) <= net:
                for row in late:
                    accumulator = self._call("retract", accumulator, *row)
                late = []
            accumulator = self._call("merge", accumulator, other)
            owed = owed + late
            net += count
        return self._stored((accumulator, owed))

    def _call(self, step: str, *values: Any) -> Any:  # noqa: ANN401
        try:
            return getattr(self.measure.user, step)(*values)
        except Exception as error:
            row = f" of {values[1:]!r:.200}" if step in ("add", "retract") else ""
            raise RunError(
                "AGGREGATE_FAILED",
                f'aggregate "{self.measure.name}" failed in {step}{row} with '
                f"{type(error).__name__}: {error} ({self.measure.site})",
                hint="Correct the aggregate, or filter the rows that it cannot take.",
            ) from error

    def _stored(self, kept: Kept) -> bytes:
        try:
            return pickle.dumps(kept)
        except Exception as error:
            raise RunError(
                "AGGREGATE_STATE",
                f'the accumulator of aggregate "{self.measure.name}" cannot be pickled: '
                f"{error} ({self.measure.site})",
                hint="Accumulate plain values: numbers, strings, lists, dictionaries.",
            ) from error

    def _loaded(self, state: bytes) -> Kept:
        kept: Kept = pickle.loads(state)  # noqa: S301  # written by `_stored`
        return kept


def user_defined(task: Task) -> InTable:
    """What the user's object says; it must be able to take rows back where its input does."""
    measure = task.measure
    steps = ["init", "add", "merge", "result", *(["retract"] if task.retracts else [])]
    missing = [step for step in steps if not callable(getattr(measure.user, step, None))]
    if missing:
        raise ModelError(
            "AGGREGATE_METHOD",
            f'aggregate "{measure.name}" has no method "{missing[0]}" ({measure.site})',
            hint="It needs init, add, merge and result, and retract where its input retracts.",
        )
    columns = tuple(item.column for item in task.arguments)
    table = Pickled(f"user{task.prefix}", measure, columns)
    # Rows taken back must find the accumulator that has them, so then parts keep their order.
    identity = pl.lit(None, task.gives)
    return InTable(table, table.summary, identity, packable=not task.retracts)
