"""Rows back into records."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat

import pyarrow as pa

from penstock.log.record import (
    DELETED_COLUMN,
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    SYSTEM_COLUMNS,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
    Headers,
    Record,
    TopicPartition,
    Value,
)


def unpack(place: TopicPartition, rows: pa.RecordBatch, *, typed: bool) -> list[Record]:
    """Make records of the rows of a partition; values are mappings where the topic is typed."""
    fields = zip(
        repeat(place.topic),
        repeat(place.partition),
        rows.column(OFFSET_COLUMN).to_pylist(),
        rows.column(TIMESTAMP_COLUMN).to_pylist(),
        _keys(rows.column(KEY_COLUMN)),
        _mappings(rows) if typed else rows.column(VALUE_COLUMN).to_pylist(),
        _headers(rows.column(HEADERS_COLUMN)),
        strict=False,
    )
    return list(map(Record._make, fields))


def _keys(column: pa.Array) -> Iterable[bytes | None]:
    return repeat(None) if column.null_count == len(column) else column.to_pylist()


def _headers(column: pa.Array) -> Iterable[Headers]:
    if column.null_count == len(column):
        return repeat(())
    return (
        tuple((header["key"], header["value"]) for header in headers or ())
        for headers in column.to_pylist()
    )


def _mappings(rows: pa.RecordBatch) -> list[Value]:
    names = [name for name in rows.schema.names if name not in SYSTEM_COLUMNS]
    if not names:
        return [{} for _ in range(rows.num_rows)]
    columns = [rows.column(name).to_pylist() for name in names]
    values: list[Value] = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if DELETED_COLUMN in rows.schema.names and rows.column(DELETED_COLUMN).true_count:
        deleted = rows.column(DELETED_COLUMN).to_pylist()
        return [None if gone else value for value, gone in zip(values, deleted, strict=True)]
    return values
