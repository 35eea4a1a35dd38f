"""What a process gave, as rows: those of its main output and of those beside it in one frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from penstock.errors import SchemaError
from penstock.kernel.apply import as_row, fitting
from penstock.kernel.assign import Whole
from penstock.kernel.columns import frame_schema, from_rows, series_of
from penstock.kernel.port import CONTROL, TAKEN, TIME, WEIGHT, Frame
from penstock.model.process import SIDE, Process, Side
from penstock.schema.schema import Schema


class MisfitError(Exception):
    """Some calls gave what does not fit the declared columns; their numbers."""

    def __init__(self, calls: Sequence[int]) -> None:
        super().__init__(calls)
        self.calls = calls


@dataclass(frozen=True, slots=True)
class Given:
    """Results of calls in the order they were made, each with the number of its call."""

    results: Sequence[Any]
    calls: Whole


class ResultShape:
    """The columns of the results of one process."""

    def __init__(self, process: Process) -> None:
        self._main = process.gives
        self._sides = {side.name: side for side in process.sides}
        self.empty = pl.DataFrame(schema={**frame_schema(process.schema), **CONTROL})

    def check(self, results: Sequence[Any], side: str = "") -> None:
        """Refuse results that do not fit their output."""
        schema = self._sides[side].schema if side else self._main
        from_rows([as_row(result, schema) for result in results], schema)

    def frame(self, main: Given, beside: Sequence[tuple[int, str, Any]]) -> tuple[Frame, Whole]:
        """Give all results as rows without control columns, and the call of each."""
        parts = [_columns(main, self._main)]
        calls = [main.calls]
        if self._sides:
            parts = [parts[0].with_columns(pl.lit("").alias(SIDE))]
        for side, given in self._beside(beside):
            rows = _columns(given, side.schema)
            named = rows.rename({name: side.column(name) for name in rows.columns})
            parts.append(named.with_columns(pl.lit(side.name).alias(SIDE)))
            calls.append(given.calls)
        if not self._sides:
            return parts[0], main.calls
        names = [name for name in self.empty.columns if name not in CONTROL]
        whole = pl.concat([self.empty.select(names), *parts], how="diagonal")
        return whole.select(names), np.concatenate(calls)

    def _beside(self, beside: Sequence[tuple[int, str, Any]]) -> Iterator[tuple[Side, Given]]:
        for name, side in self._sides.items():
            mine = [(call, row) for call, other, row in beside if other == name]
            if mine:
                calls = np.array([call for call, _ in mine], np.int64)
                yield side, Given([row for _, row in mine], calls)


def stamped(rows: Frame, times: pl.Series, order: Whole | None) -> Frame:
    """Add the control columns, and bring the rows into their order."""
    whole = rows.with_columns(
        pl.lit(1, pl.Int32).alias(WEIGHT), times.alias(TIME), times.alias(TAKEN)
    )
    return whole if order is None else whole[pl.Series(order)]


def _columns(given: Given, schema: Schema) -> Frame:
    """Make a frame of results, which are dictionaries more often than not."""
    try:
        return pl.DataFrame(
            [
                series_of(item.name, list(map(itemgetter(item.name), given.results)), item.type)
                for item in schema.fields
            ]
        )
    except (SchemaError, KeyError, TypeError, IndexError):
        return _looked_at(given, schema)


def _looked_at(given: Given, schema: Schema) -> Frame:
    """Make a frame of results of any kind; those that do not fit are told by their calls."""
    made = []
    strange = []
    for call, result in zip(given.calls.tolist(), given.results, strict=True):
        try:
            made.append((call, as_row(result, schema)))
        except SchemaError:
            strange.append(call)
    rows, misfits = fitting(made, schema)
    strange += [failure.place for failure in misfits]
    if strange:
        raise MisfitError(strange)
    return rows
