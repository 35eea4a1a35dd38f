"""Records become rows with columns, and rows records again: the two ends of every query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.front.sql.record import Part
from penstock.front.sql.source import (
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_TIME,
    WINDOW_END,
    WINDOW_START,
    KeyWindow,
    SqlSource,
)
from penstock.schema.arrow import arrow_type, to_arrow
from penstock.schema.codec.binary import one_array, whole_column
from penstock.schema.codec.port import Decoded
from penstock.schema.ksql.headers import all_headers, header
from penstock.schema.ksql.windowed_key import with_numbers, without_numbers
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, BYTES, INT32, INT64, STRING, Kind, Type, array_of

KEY, VALUE = "_key", "value"
TIMESTAMP, HEADERS, PARTITION, OFFSET = "_timestamp", "_headers", "_partition", "_offset"
GONE = "_gone"
"""Whether a record has no value: what a table deletes, and a stream passes on."""

_HEADERS = array_of(Type(Kind.STRUCT, fields=(("key", STRING), ("value", BYTES))))
RECORDS = Schema(
    (
        Field(KEY, BYTES),
        Field(VALUE, BYTES),
        Field(TIMESTAMP, INT64),
        Field(HEADERS, _HEADERS),
        Field(PARTITION, INT32),
        Field(OFFSET, INT64),
    )
)
"""Records as the log has them."""
WRITTEN = Schema((Field(KEY, BYTES), Field(VALUE, BYTES), Field(HEADERS, _HEADERS)))
"""Records as they are written."""


def row_schema(source: SqlSource) -> Schema:
    """Give the columns of a source's rows, those of the system last."""
    own = [Field(column.name, column.type) for column in source.columns]
    system = [Field(ROW_TIME, INT64), Field(ROW_PARTITION, INT32), Field(ROW_OFFSET, INT64)]
    if source.window is not None:
        system += [Field(WINDOW_START, INT64), Field(WINDOW_END, INT64)]
    # A key may be called as a column of the system is: PARTITION BY ROWTIME makes one.
    names = {field.name for field in own}
    system = [field for field in system if field.name not in names]
    return Schema((*own, *system, Field(GONE, BOOLEAN), Field(HEADERS, _HEADERS)))


@dataclass(frozen=True, slots=True)
class Opening:
    """Reads the records of a source as rows; those that cannot be read are dead letters."""

    source: SqlSource

    def __call__(self, records: pa.Table) -> Decoded:
        """Give the rows of records, one of each."""
        source = self.source
        keys = records.column(KEY)
        bounds: dict[str, pa.Array] = {}
        failures: dict[int, str] = {}
        if source.window is not None:
            keys, bounds, failures = _without_window(one_array(keys), source.window)
        key = Part(source.key_format, source.keys).decode(one_array(keys))
        value = Part(source.value_format, source.stored).decode(one_array(records.column(VALUE)))
        failures = {**failures, **value.failures, **_of_keys(key.failures)}
        found = {
            ROW_TIME: records.column(TIMESTAMP),
            ROW_PARTITION: records.column(PARTITION),
            ROW_OFFSET: records.column(OFFSET),
            **bounds,
            **_columns(value.rows),
            **_columns(key.rows),
            **_of_headers(source, records.column(HEADERS)),
            GONE: records.column(VALUE).is_null(),
            HEADERS: records.column(HEADERS),
        }
        wanted = to_arrow(row_schema(source))
        columns = [_as(found[field.name], field.type) for field in wanted]
        return Decoded(pa.table(columns, schema=wanted), failures)

    def row(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Give the row of one record; one that cannot be read raises ValueError."""
        found = self(pa.Table.from_pylist([dict(record)], to_arrow(RECORDS)))
        if found.failures:
            raise ValueError(found.failures[0])
        rows: list[dict[str, Any]] = found.rows.to_pylist(maps_as_pydicts="strict")
        return rows[0]


def _columns(rows: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(rows.column_names, rows.columns, strict=True))


def _as(column: pa.ChunkedArray | pa.Array, type_: pa.DataType) -> pa.ChunkedArray | pa.Array:
    return column if column.type == type_ else column.cast(type_)


def _of_keys(failures: Mapping[int, str]) -> dict[int, str]:
    return {place: f"its key: {why}" for place, why in failures.items()}


def _of_headers(source: SqlSource, column: pa.ChunkedArray) -> dict[str, pa.Array]:
    columns = source.of_role("headers", "header")
    if not columns:
        return {}
    headers = whole_column(column.cast(arrow_type(_HEADERS)))
    return {
        item.name: all_headers(headers) if item.header is None else header(headers, item.header)
        for item in columns
    }


def _without_window(
    keys: pa.Array, window: KeyWindow
) -> tuple[pa.Array, dict[str, pa.Array], dict[int, str]]:
    if window.kind == "session":
        found = without_numbers(keys, 2)
        end, start = found.numbers
    else:
        found = without_numbers(keys, 1)
        (start,) = found.numbers
        size = 0 if window.size is None else round(window.size.total_seconds() * 1000)
        end = pc.add(start, size)
    return found.keys, {WINDOW_START: start, WINDOW_END: end}, found.failures


@dataclass(frozen=True, slots=True)
class Closing:
    """Writes rows as records of a source; columns of rows are called as those of the source."""

    source: SqlSource
    rekeyed: bool = False
    """Whether a key is there even where all of its columns are null."""

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Give the records of rows, with the headers of those that they were made of."""
        value = Part(self.source.value_format, self.source.stored).encode(rows)
        if GONE in rows.column_names:
            gone = rows.column(GONE).combine_chunks().fill_null(pa.scalar(value=False))
            value = pc.if_else(gone, pa.scalar(None, value.type), value)
        headers = pa.nulls(rows.num_rows)
        if HEADERS in rows.column_names:
            headers = rows.column(HEADERS)
        wanted = to_arrow(WRITTEN)
        columns = [self._key(rows), value, headers]
        made = [_as(column, field.type) for column, field in zip(columns, wanted, strict=True)]
        return pa.table(made, schema=wanted)

    def _key(self, rows: pa.Table) -> pa.Array:
        source = self.source
        key = Part(source.key_format, source.keys).encode(rows)
        if not self.rekeyed and source.keys:
            told = [rows.column(column.name).combine_chunks().is_valid() for column in source.keys]
            there = reduce(pc.or_, told)
            key = pc.if_else(there, key, pa.scalar(None, key.type))
        if source.window is None:
            return key
        start, end = (
            rows.column(name).combine_chunks().cast(pa.int64())
            for name in (WINDOW_START, WINDOW_END)
        )
        return (
            with_numbers(key, end, start)
            if source.window.kind == "session"
            else (with_numbers(key, start))
        )
