"""One step of a process that is called with tables: the rows, and the state of their keys.

A function that raises is asked again with the rows of half of the keys, until the keys it cannot
take are found: their rows are dead letters, and their state stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import polars as pl
from polars.exceptions import PanicException

from penstock.errors import RunError, SchemaError
from penstock.kernel.columns import dtype_of, frame_schema
from penstock.kernel.dead import Failure, failure_of
from penstock.kernel.fold.grouping import join
from penstock.kernel.port import TIME, Frame, Time
from penstock.kernel.process_column import (
    WRITTEN,
    located,
    merged,
    state_dtype,
    table_schema,
    value_name,
)
from penstock.kernel.process_output import ResultShape, stamped
from penstock.kernel.process_run import Outcome
from penstock.model.process import Process, StateField
from penstock.model.processor import BatchProcessor

_NUMBER = "_number"
_PLACE = "_place"
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class _Part:
    """What came of some keys, by their numbers: results, and their new state."""

    asked: pl.Series
    output: Frame
    state: Frame


class BatchProcess:
    """Calls a function of the user with the rows of a batch and the state of their keys."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._function = cast(BatchProcessor, process.processor)
        types = frame_schema(process.source.schema)
        self._keys = {key: types[key] for key in process.keys}
        self._fields = {item.name: state_dtype(item) for item in process.state}
        self._empty = ResultShape(process).empty

    def run(self, tables: Mapping[str, Frame], rows: Frame, before: Time, time: Time) -> Outcome:  # noqa: ARG002
        """Take the rows of a batch; nothing happens by time but that states are forgotten."""
        failures: list[Failure] = []
        after = dict(tables)
        output = self._empty
        if rows.height:
            numbered = self._numbered(rows.with_row_index(_PLACE))
            touched = self._touched(numbered)
            parts: list[_Part] = []
            self._ask(numbered, self._state(tables, touched), parts, failures)
            if parts:
                output = pl.concat([output, *(part.output for part in parts)])
                self._put(after, touched, parts)
        kept = {
            field.name: table
            for field in self._process.state
            if (table := _alive(after.get(field.name), field, time)) is not None
        }
        failures.sort(key=lambda item: item.place)
        return Outcome(kept, output, None, failures, self._empty.clear(), ())

    def _numbered(self, rows: Frame) -> Frame:
        if not self._keys:
            return rows.with_columns(pl.lit(0, pl.Int64).alias(_NUMBER))
        keys = list(self._keys)
        known = rows.select(keys).unique(maintain_order=True)
        known = known.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(_NUMBER))
        return rows.with_columns(join(rows.select(keys), known, keys, "left")[_NUMBER])

    def _touched(self, rows: Frame) -> Frame:
        """Give the keys in the order of their numbers, with the latest time of their rows."""
        return (
            rows.group_by(_NUMBER)
            .agg(*(pl.col(key).first() for key in self._keys), pl.col(TIME).max().alias(WRITTEN))
            .sort(_NUMBER)
        )

    def _state(self, tables: Mapping[str, Frame], touched: Frame) -> Frame:
        """Give what the keys remember, one row each, with their numbers."""
        state = touched.select(_NUMBER, *self._keys)
        name = value_name(self._keys)
        for field in self._process.state:
            table = tables.get(field.name)
            dtype = self._fields[field.name]
            if table is None:
                values = pl.repeat(None, touched.height, dtype=dtype, eager=True)
            else:
                places = pl.Series(located(touched, table, tuple(self._keys)))
                values = table[name].gather(places.set(places < 0, None))
            if field.default is not None:
                values = values.zip_with(values.is_not_null(), _constant(field))
            state = state.with_columns(values.alias(field.name))
        return state

    def _ask(self, rows: Frame, state: Frame, parts: list[_Part], failures: list[Failure]) -> None:
        try:
            parts.append(self._called(rows, state))
        except RunError:
            raise
        except (Exception, PanicException) as error:  # noqa: BLE001  # whatever the user's code raises
            if state.height == 1:
                failures += [failure_of(place, error) for place in rows[_PLACE].to_list()]
                return
        else:
            return
        half = state[_NUMBER][state.height // 2]
        for mine in (pl.col(_NUMBER) < half, pl.col(_NUMBER) >= half):
            self._ask(rows.filter(mine), state.filter(mine), parts, failures)

    def _called(self, rows: Frame, state: Frame) -> _Part:
        given: Any = self._function(rows.drop(_NUMBER, _PLACE), state.drop(_NUMBER))
        if not (isinstance(given, tuple) and len(given) == 2):  # noqa: PLR2004  # results and state
            raise self._refused(f"gave {type(given).__name__}")
        results, after = (_frame_of(item) for item in given)
        if results is None or after is None:
            raise self._refused("did not give two tables")
        return _Part(state[_NUMBER], self._results(results, rows), self._after(after, state))

    def _results(self, results: Frame, rows: Frame) -> Frame:
        values = _selected(results, {f.name: dtype_of(f.type) for f in self._process.gives.fields})
        if TIME in results.columns:
            times = results[TIME].cast(pl.Int64)
        elif results.height == rows.height:
            times = rows[TIME]
        else:
            raise RunError(
                "FUNCTION_ROWS",
                f'function "{self._process.name}" made {results.height} rows of {rows.height} '
                f"({self._process.site})",
                hint="Keep the number of rows, or give the results a column _time.",
            )
        return stamped(values, times, None)

    def _after(self, after: Frame, state: Frame) -> Frame:
        keys = list(self._keys)
        if not self._fields:
            return state.select(_NUMBER)
        if not keys:
            if after.height > 1:
                raise self._refused(f"gave {after.height} rows of state for all rows together")
            return _selected(after, self._fields).with_columns(pl.lit(0, pl.Int64).alias(_NUMBER))
        values = _selected(after, {**self._keys, **self._fields})
        known = state.select(*keys, _NUMBER)
        numbers = join(values.select(keys), known, keys, "left")[_NUMBER]
        if numbers.null_count() or numbers.n_unique() != len(numbers):
            raise self._refused("gave state of a key that has no rows, or twice for one key")
        return values.select(*self._fields).with_columns(numbers)

    def _put(self, tables: dict[str, Frame], touched: Frame, parts: Sequence[_Part]) -> None:
        """Put new values into the tables; keys whose call failed keep theirs."""
        asked = pl.concat([part.asked for part in parts]).to_frame()
        keys = touched.join(asked, on=_NUMBER, how="semi", maintain_order="left")
        state = pl.concat([part.state for part in parts])
        rows = keys.join(state, on=_NUMBER, how="left", maintain_order="left")
        name, names = value_name(self._keys), tuple(self._keys)
        for field in self._process.state:
            schema = table_schema(field, self._keys)
            table = tables.get(field.name)
            table = pl.DataFrame(schema=schema) if table is None else table
            there = rows[field.name].is_not_null()
            if field.default is not None:
                there &= rows[field.name] != _constant(field)
            fresh = rows.with_columns(pl.col(field.name).alias(name)).select(list(schema))
            places = located(keys, table, names)
            tables[field.name] = merged(table, fresh, places, there.to_numpy(), names)

    def _refused(self, why: str) -> RunError:
        return RunError(
            "FUNCTION_RESULT",
            f'function "{self._process.name}" {why} ({self._process.site})',
            hint="It takes the rows and the state of their keys, and gives the results and the"
            " new state, both as polars frames.",
        )


def _constant(field: StateField) -> pl.Series:
    return pl.Series([field.default], dtype=state_dtype(field))


def _alive(table: Frame | None, field: StateField, time: Time) -> Frame | None:
    """Give a table without what the watermark has outlived; none where nothing is left."""
    if table is None or field.ttl is None:
        return table if table is not None and table.height else None
    alive = table[WRITTEN] + field.ttl // _MILLISECOND > time.watermark
    kept = table if alive.all() else table.filter(alive)
    return kept if kept.height else None


def _selected(frame: Frame, columns: Mapping[str, pl.DataType]) -> Frame:
    for name in columns:
        if name not in frame.columns:
            raise SchemaError(
                "RESULT_COLUMN",
                f'the result of the function has no column "{name}"',
                hint=f"Give all of the declared columns: {', '.join(columns)}.",
            )
    return frame.select(pl.col(name).cast(dtype) for name, dtype in columns.items())


def _frame_of(given: object) -> Frame | None:
    if isinstance(given, pl.LazyFrame):
        return given.collect()
    return given if isinstance(given, pl.DataFrame) else None
