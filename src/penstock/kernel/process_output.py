"""What a process gave, as rows: those of its main output and of those beside it in one frame.

A result is taken at once as a tuple of values, so that the function may go on with the object it
gave. Columns are made of all results of a step together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from penstock.errors import SchemaError
from penstock.kernel.apply import as_row
from penstock.kernel.assign import Whole
from penstock.kernel.columns import frame_schema, series_of
from penstock.kernel.port import CONTROL, TAKEN, TIME, WEIGHT, Frame
from penstock.model.process import SIDE, Process, Side
from penstock.schema.objects import plain
from penstock.schema.schema import Schema
from penstock.schema.types import Kind

Values: TypeAlias = tuple[Any, ...]
Taker: TypeAlias = Callable[[Any], Values]
"""Gives the values of a result in the order of its columns."""
_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)


class MisfitError(Exception):
    """Some calls gave what does not fit the declared columns; their numbers."""

    def __init__(self, calls: Sequence[int]) -> None:
        super().__init__(calls)
        self.calls = calls


@dataclass(frozen=True, slots=True)
class Given:
    """Results of calls in the order they were made, each with the number of its call."""

    results: Sequence[Values]
    calls: Whole


class ResultShape:
    """The columns of the results of one process."""

    def __init__(self, process: Process) -> None:
        self._main = process.gives
        self._sides = {side.name: side for side in process.sides}
        self.empty = pl.DataFrame(schema={**frame_schema(process.schema), **CONTROL})
        self.take: Taker = _taker(process.gives)
        self.takers = {name: _taker(side.schema) for name, side in self._sides.items()}
        """Those of the side outputs."""

    def check(self, results: Sequence[Values], side: str = "") -> None:
        """Refuse results that do not fit their output."""
        _columns(results, self._sides[side].schema if side else self._main)

    def frame(self, main: Given, beside: Sequence[tuple[int, str, Any]]) -> tuple[Frame, Whole]:
        """Give all results as rows without control columns, and the call of each."""
        parts = [_frame(main, self._main)]
        calls = [main.calls]
        if not self._sides:
            return parts[0], main.calls
        parts = [parts[0].with_columns(pl.lit("").alias(SIDE))]
        for side, given in self._beside(beside):
            rows = _frame(given, side.schema)
            named = rows.rename({name: side.column(name) for name in rows.columns})
            parts.append(named.with_columns(pl.lit(side.name).alias(SIDE)))
            calls.append(given.calls)
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


def _taker(schema: Schema) -> Taker:
    """Give what takes the values of a result: a dictionary more often than not."""
    names = schema.names
    of_dictionary = _several(itemgetter(*names), len(names))
    of_object = _several(attrgetter(*names), len(names))

    def take(result: Any) -> Values:  # noqa: ANN401
        kind = result.__class__
        try:
            if kind is dict:
                return of_dictionary(result)
            if hasattr(kind, "__dataclass_fields__"):
                return of_object(result)
        except (KeyError, AttributeError):
            # One column is missing: it is named below.
            pass
        return of_dictionary(as_row(result, schema))

    nested = [item.type.kind in _NESTED for item in schema.fields]
    if not any(nested):
        return take
    # What may be changed later, as a list that is remembered, is copied.
    return lambda result: tuple(
        plain(value) if deep else value for value, deep in zip(take(result), nested, strict=True)
    )


def _several(get: Callable[[Any], Any], count: int) -> Taker:
    return get if count > 1 else lambda result: (get(result),)


def _frame(given: Given, schema: Schema) -> Frame:
    try:
        return _columns(given.results, schema)
    except SchemaError:
        strange = _misfits(given.results, 0, schema)
        raise MisfitError(given.calls[strange].tolist()) from None


def _columns(results: Sequence[Values], schema: Schema) -> Frame:
    return pl.DataFrame(
        [
            series_of(item.name, list(map(itemgetter(place), results)), item.type)
            for place, item in enumerate(schema.fields)
        ]
    )


def _misfits(results: Sequence[Values], start: int, schema: Schema) -> list[int]:
    """Give the places of the results that do not fit, halving them until each is known."""
    try:
        _columns(results, schema)
    except SchemaError:
        if len(results) == 1:
            return [start]
    else:
        return []
    half = len(results) // 2
    one = _misfits(results[:half], start, schema)
    return one + _misfits(results[half:], start + half, schema)
