"""Records become rows with columns, and rows records again: the two ends of every query."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.front.sql.record import Part
from penstock.front.sql.record_json import millis_of
from penstock.front.sql.source import (
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_TIME,
    WINDOW_END,
    WINDOW_START,
    KeyWindow,
    SourceColumn,
    SqlSource,
)
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, BYTES, INT32, INT64, STRING, Kind, Type, array_of

Row: TypeAlias = Mapping[str, Any]

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

_START = struct.Struct(">q")
_BOTH = struct.Struct(">qq")


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
    """Reads the records of a source as rows.

    A record that cannot be read raises, and so becomes a dead letter. Where a table is read, one
    without a key is left out: nothing can be said of it.
    """

    source: SqlSource

    def __call__(self, record: Row) -> Iterator[dict[str, Any]]:
        """Give the row of a record."""
        key: bytes | None = record[KEY]
        if key is None and self.source.is_table:
            return
        bounds: dict[str, int] = {}
        if self.source.window is not None and key is not None:
            key, bounds = _without_window(key, self.source.window)
        keys = Part(self.source.key_format, self.source.keys).read(key)
        values = Part(self.source.value_format, self.source.values).read(record[VALUE])
        yield {
            ROW_TIME: record[TIMESTAMP],
            ROW_PARTITION: record[PARTITION],
            ROW_OFFSET: record[OFFSET],
            WINDOW_START: bounds.get(WINDOW_START),
            WINDOW_END: bounds.get(WINDOW_END),
            **keys,
            **values,
            **self._headers(record[HEADERS] or []),
            GONE: record[VALUE] is None,
            HEADERS: record[HEADERS],
        }

    def _headers(self, found: list[Row]) -> dict[str, Any]:
        last = {item["key"]: item["value"] for item in found}
        columns = self.source.of_role("headers", "header")
        return {column.name: _of_headers(column, found, last) for column in columns}


def _of_headers(column: SourceColumn, found: list[Row], last: Mapping[str, bytes | None]) -> Any:  # noqa: ANN401
    if column.header is not None:
        return last.get(column.header)
    return [{"KEY": item["key"], "VALUE": item["value"]} for item in found]


def _without_window(key: bytes, window: KeyWindow) -> tuple[bytes, dict[str, int]]:
    if window.kind == "session":
        end, start = _BOTH.unpack(key[-_BOTH.size :])
        return key[: -_BOTH.size], {WINDOW_START: start, WINDOW_END: end}
    (start,) = _START.unpack(key[-_START.size :])
    size = 0 if window.size is None else round(window.size.total_seconds() * 1000)
    return key[: -_START.size], {WINDOW_START: start, WINDOW_END: start + size}


def windowed_key(key: bytes, kind: str, start: int, end: int) -> bytes:
    """Put the bounds of a window behind a key, as Kafka Streams does."""
    return key + (_BOTH.pack(end, start) if kind == "session" else _START.pack(start))


@dataclass(frozen=True, slots=True)
class Closing:
    """Writes rows as records of a source; columns of rows are called as those of the source."""

    source: SqlSource
    rekeyed: bool = False
    """Whether a key is there even where all of its columns are null."""

    def __call__(self, row: Row) -> dict[str, Any]:
        """Give the record of a row, with the headers of the one that it was made of."""
        keys = Part(self.source.key_format, self.source.keys)
        keyless = not self.rekeyed and _nothing(row, self.source.keys)
        key = None if keyless else keys.write(row)
        if self.source.window is not None:
            kind = self.source.window.kind
            key = windowed_key(
                key or b"", kind, _millis(row[WINDOW_START]), _millis(row[WINDOW_END])
            )
        if row.get(GONE):
            return {KEY: key, VALUE: None, HEADERS: row.get(HEADERS)}
        value = Part(self.source.value_format, self.source.values).write(row)
        return {KEY: key, VALUE: value, HEADERS: row.get(HEADERS)}


def _nothing(row: Row, columns: tuple[SourceColumn, ...]) -> bool:
    return all(row[column.name] is None for column in columns)


def _millis(moment: Any) -> int:  # noqa: ANN401
    return moment if isinstance(moment, int) else millis_of(moment)
