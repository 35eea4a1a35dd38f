"""One state of a process: a table for all keys, and Python values for those at hand.

A table has the key columns and `value`; where it is forgotten after a time also `_written`, the
event time of the last write. A key that has nothing, or just the default, has no row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import is_dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.errors import SchemaError
from penstock.kernel.assign import Whole
from penstock.kernel.columns import dtype_of, series_of
from penstock.kernel.fold.grouping import join
from penstock.kernel.port import Frame
from penstock.model.process import StateField
from penstock.schema.objects import builder_of, plain
from penstock.schema.types import Kind, array_of

WRITTEN = "_written"
_ROW = "_row"
_PLACE = "_place"
_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)


class StateColumn:
    """The values of one state, by the number of the key."""

    def __init__(self, field: StateField, keys: Mapping[str, pl.DataType]) -> None:
        self.field = field
        self.nested = field.type.kind in _NESTED
        self.values: list[Any] = []
        self.written: list[int | None] = []
        self._name = value_name(keys)
        self._keys = tuple(keys)
        self._ttl = None if field.ttl is None else field.ttl // timedelta(milliseconds=1)
        self._empty = pl.DataFrame(schema=table_schema(field, keys))
        self._table = self._empty
        self._touched = self._empty
        self._places: Whole = np.zeros(0, np.int64)
        self._changed: dict[int, None] = {}
        self._new = pl.Series()
        self._make = builder_of(field.python)

    def begin(self, table: Frame | None, touched: Frame) -> None:
        """Read the values of the keys that are touched, in their order."""
        self._table = self._empty if table is None else table
        self._touched = touched
        self._changed = {}
        self._places = located(touched, self._table, self._keys)
        if not self._table.height:
            self.values = [None] * touched.height
            self.written = list(self.values)
            return
        places = pl.Series(self._places)
        known = places.set(places < 0, None)
        self.values = self._made(self._table[self._name].gather(known).to_list())
        if self._ttl is not None:
            self.written = self._table[WRITTEN].gather(known).to_list()

    def put(self, key: int, value: Any, written: int | None) -> None:  # noqa: ANN401
        """Change the value of a key."""
        self.values[key] = value
        self._changed[key] = None
        if self._ttl is not None:
            self.written[key] = written

    def check(self, value: Any) -> None:  # noqa: ANN401
        """Refuse a value that is not of the declared type."""
        self._series([value])

    def encode(self) -> list[int]:
        """Make a column of what has changed; give the keys whose values do not fit, if any."""
        keys = list(self._changed)
        try:
            self._new = self._series([self.values[key] for key in keys])
        except SchemaError:
            return self._misfits(keys)
        return []

    def finish(self, watermark: int) -> Frame | None:
        """Give the table with all changes, without what the watermark has outlived."""
        table = self._table
        if self._changed:
            table = self._merged(np.fromiter(self._changed, np.int64, len(self._changed)))
        if self._ttl is not None and table.height:
            alive = table[WRITTEN] + self._ttl > watermark
            table = table if alive.all() else table.filter(alive)
        return table if table.height else None

    def _merged(self, keys: Whole) -> Frame:
        rows = self._touched[pl.Series(keys)].with_columns(self._new)
        if self._ttl is not None:
            times = [self.written[key] for key in keys.tolist()]
            rows = rows.with_columns(pl.Series(WRITTEN, times, pl.Int64))
        there = self._new.is_not_null().to_numpy()
        rows = rows.select(self._table.columns)
        return merged(self._table, rows, self._places[keys], there, self._keys)

    def _made(self, values: list[Any]) -> list[Any]:
        """Make objects of the user's class of what is stored, where there is one."""
        make = self._make
        if make is None:
            return values
        if self.field.holds == "value":
            return [None if value is None else make(value) for value in values]
        if self.field.holds == "list":
            return [None if value is None else [make(item) for item in value] for value in values]
        return [
            None if value is None else {name: make(item) for name, item in value.items()}
            for value in values
        ]

    def _series(self, values: Sequence[Any]) -> pl.Series:
        """Make a column; what is not worth a row is null."""
        field, default = self.field, self.field.default
        if field.holds == "value":
            kept = [None if value == default else value for value in values]
            if self._make is not None:
                kept = plain(kept)
            return series_of(self._name, kept, field.type)
        kept = [value or None for value in values]
        if self._make is not None:
            kept = plain(kept)
        if field.holds == "list":
            return series_of(self._name, kept, array_of(field.type))
        return map_series(self._name, kept, field)

    def _misfits(self, keys: Sequence[int]) -> list[int]:
        try:
            self._series([self.values[key] for key in keys])
        except SchemaError:
            if len(keys) == 1:
                return list(keys)
        else:
            return []
        half = len(keys) // 2
        return self._misfits(keys[:half]) + self._misfits(keys[half:])


def table_schema(field: StateField, keys: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
    """Give the columns of a state's table."""
    columns = {**keys, value_name(keys): state_dtype(field)}
    return columns if field.ttl is None else {**columns, WRITTEN: pl.Int64()}


def state_dtype(field: StateField) -> pl.DataType:
    """Give the type of a state's column."""
    inner = dtype_of(field.type)
    if field.holds == "value":
        return inner
    return pl.List(inner) if field.holds == "list" else pl.Map(_key_dtype(field), inner)


def value_name(keys: Mapping[str, pl.DataType]) -> str:
    """Give the name of the column that is not of the key."""
    return "_value" if "value" in keys else "value"


def located(wanted: Frame, known: Frame, keys: Sequence[str]) -> Whole:
    """Give the row of a table that has each wanted key, which has at most one; -1 for none."""
    if not known.height:
        return np.full(wanted.height, -1, np.int64)
    if not keys:
        return np.zeros(wanted.height, np.int64)
    rows = wanted.select(keys).with_row_index(_ROW)
    places = known.select(keys).with_row_index(_PLACE)
    if known.height > 2 * wanted.height:
        # The hash table is built of the right side: here the smaller one.
        pairs = join(places, rows, keys, "inner", in_order=False)
    else:
        pairs = join(rows, places, keys, "inner", in_order=False)
    found = np.full(wanted.height, -1, np.int64)
    found[pairs[_ROW].to_numpy()] = pairs[_PLACE].to_numpy()
    return found


def merged(
    table: Frame, rows: Frame, places: Whole, there: npt.NDArray[np.bool_], keys: Sequence[str]
) -> Frame:
    """Put rows where they belong in a table: in their places, or at its end where that is -1.

    A row that is not `there` any more takes the one in its place away.
    """
    known = places >= 0
    changed = np.flatnonzero(known & there)
    front = table
    if len(changed):
        fresh = rows[pl.Series(changed)]
        front = table.with_columns(
            _changed(table[name], places[changed], fresh[name])
            for name in table.columns
            if name not in keys
        )
    gone = places[known & ~there]
    if len(gone):
        keep = np.ones(table.height, np.bool_)
        keep[gone] = False
        front = front.filter(pl.Series(keep))
    tail = rows.filter(pl.Series(~known & there))
    return pl.concat([front, tail]) if tail.height else front


def _changed(column: pl.Series, places: Whole, values: pl.Series) -> pl.Series:
    if column.dtype.is_numeric():
        return column.clone().scatter(places, values)
    # Other columns cannot be written in place: each row is fetched from where it is.
    where = np.arange(len(column))
    where[places] = len(column) + np.arange(len(places))
    return pl.concat([column, values], rechunk=True).gather(where)


def copied(value: Any) -> Any:  # noqa: ANN401
    """Copy a value with all that may be changed in it."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return deepcopy(value) if is_dataclass(value) else value


def _key_dtype(field: StateField) -> pl.DataType:
    assert field.map_key is not None, "a map state has a type of keys"
    return dtype_of(field.map_key)


def map_series(name: str, values: Sequence[Any], field: StateField) -> pl.Series:
    """Make a column of maps; an entry that does not fit its type is refused."""
    wanted = state_dtype(field)
    fact = ""
    try:
        series = pl.Series(name, values, dtype=wanted, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        fact = str(error).split("\n", 1)[0]
    else:
        if series.dtype == wanted:
            return series
        fact = f"found a value of type {series.dtype}"
    raise SchemaError(
        "VALUE_TYPE",
        f'an entry of map "{field.name}" is not of {field}: {fact}',
        hint="Give a value of the declared type, or declare the state with another type.",
    )
