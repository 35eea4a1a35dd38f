"""Rows in Arrow: how records become columns, are checked against a topic, and come back.

Arrays are made from buffers: `pa.array` of a Python list would import pandas first,
which costs most of a second in every new process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.errors import RecordError, SchemaError, did_you_mean
from penstock.log.record import (
    DELETED_COLUMN,
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    SYSTEM_COLUMNS,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
    Headers,
)
from penstock.log.topic import Topic

Number = TypeVar("Number", np.int32, np.int64)

HEADERS_TYPE = pa.list_(
    pa.struct([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.binary())])
)
BYTES_SCHEMA = pa.schema([pa.field(VALUE_COLUMN, pa.binary())])
_SYSTEM_TYPES = {
    OFFSET_COLUMN: pa.int64(),
    TIMESTAMP_COLUMN: pa.int64(),
    KEY_COLUMN: pa.binary(),
    HEADERS_COLUMN: HEADERS_TYPE,
    DELETED_COLUMN: pa.bool_(),
}


def value_schema(topic: Topic) -> pa.Schema:
    """The topic's own columns: its schema, or one column of bytes."""
    return BYTES_SCHEMA if topic.schema is None else topic.schema


def row_schema(topic: Topic) -> pa.Schema:
    """The columns of rows read from a topic."""
    system = [
        pa.field(name, _SYSTEM_TYPES[name])
        for name in SYSTEM_COLUMNS
        if name != DELETED_COLUMN or topic.schema is not None
    ]
    return pa.schema([*system, *value_schema(topic)])


def binary_array(items: Sequence[bytes | None]) -> pa.Array:
    """Make a column of bytes from a list in which None is null."""
    count = len(items)
    try:
        return _binary(items, np.fromiter(map(len, items), np.int64, count), None)  # type: ignore[arg-type]  # None is caught
    except TypeError:
        mask = np.fromiter((item is not None for item in items), np.bool_, count)
        filled = [b"" if item is None else item for item in items]
        lengths = np.fromiter(map(len, filled), np.int64, count)
        return _binary(filled, lengths, pa.py_buffer(np.packbits(mask, bitorder="little")))


def integer_array(items: npt.NDArray[np.int64]) -> pa.Array:
    """Make a column of 64-bit integers without copying."""
    return pa.Array.from_buffers(pa.int64(), len(items), [None, pa.py_buffer(items)])


def numbers(column: pa.Array, kind: type[Number]) -> npt.NDArray[Number]:
    """Look at a column of numbers without nulls as they lie in memory."""
    # Not `to_numpy`, which imports pandas.
    whole = np.frombuffer(column.buffers()[1], kind)
    return whole[column.offset : column.offset + len(column)]


def null_mask(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Which rows of a column are null."""
    validity = column.buffers()[0] if column.null_count else None
    if validity is None:
        return np.zeros(len(column), np.bool_)
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
    mask: npt.NDArray[np.bool_] = bits[column.offset : column.offset + len(column)] == 0
    return mask


def headers_array(items: Iterable[Headers]) -> pa.Array:
    """Make a column of headers; a record without any has null."""
    rows = [
        [{"key": key, "value": value} for key, value in headers] if headers else None
        for headers in items
    ]
    return pa.array(rows, HEADERS_TYPE)


def rows_of_bytes(
    values: Sequence[bytes | None],
    *,
    keys: Sequence[bytes | None] | None = None,
    timestamps: Sequence[int] | None = None,
    headers: Sequence[Headers] | None = None,
) -> pa.Table:
    """Make rows for a topic without a schema."""
    columns: dict[str, pa.Array] = {}
    if timestamps is not None:
        columns[TIMESTAMP_COLUMN] = integer_array(np.asarray(timestamps, np.int64))
    if keys is not None:
        columns[KEY_COLUMN] = binary_array(keys)
    if headers is not None:
        columns[HEADERS_COLUMN] = headers_array(headers)
    columns[VALUE_COLUMN] = binary_array(values)
    return pa.table(columns)


def fit_rows(rows: pa.Table, topic: Topic, now: int) -> pa.RecordBatch:
    """Check rows against a topic and give them as one batch in the order columns are stored."""
    _refuse_unknown_columns(rows, topic)
    columns: dict[str, pa.Array] = {}
    if TIMESTAMP_COLUMN in rows.column_names:
        columns[TIMESTAMP_COLUMN] = _system_column(rows, TIMESTAMP_COLUMN, topic)
    else:
        columns[TIMESTAMP_COLUMN] = integer_array(np.full(rows.num_rows, now, np.int64))
    for name in (KEY_COLUMN, HEADERS_COLUMN, DELETED_COLUMN):
        if name in rows.column_names and not (name == DELETED_COLUMN and topic.schema is None):
            column = _system_column(rows, name, topic)
            if column.null_count < len(column):
                columns[name] = column
    deleted = columns.get(DELETED_COLUMN)
    for field in value_schema(topic):
        columns[field.name] = _value_column(rows, field, topic, deleted)
    fitted = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    _refuse_large_records(fitted, topic)
    if topic.config.compacts:
        _refuse_missing_keys(columns.get(KEY_COLUMN), fitted.num_rows, topic)
    return fitted


def _binary(
    items: Sequence[bytes | None], lengths: npt.NDArray[np.int64], validity: pa.Buffer | None
) -> pa.Array:
    ends = np.zeros(len(items) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    if ends[-1] > np.iinfo(np.int32).max:
        raise RecordError(
            "BATCH_TOO_LARGE",
            f"a batch of {ends[-1]} bytes is larger than an Arrow column holds",
            hint="Append in batches of less than 2 GiB.",
        )
    data = pa.py_buffer(b"".join(items))  # type: ignore[arg-type]  # no None among them
    offsets = pa.py_buffer(ends.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(items), [validity, offsets, data])


def _refuse_unknown_columns(rows: pa.Table, topic: Topic) -> None:
    known = [*SYSTEM_COLUMNS, *value_schema(topic).names]
    for name in rows.column_names:
        if name not in known:
            raise SchemaError(
                "COLUMN_UNKNOWN",
                f'column "{name}" does not exist in topic "{topic.name}"',
                hint=did_you_mean(name, known) or f"Its columns: {', '.join(known)}.",
            )


def _system_column(rows: pa.Table, name: str, topic: Topic) -> pa.Array:
    column = _one_chunk(rows.column(name))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.binary())
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    column = _cast(column, pa.field(name, _SYSTEM_TYPES[name]), topic)
    if name == TIMESTAMP_COLUMN and column.null_count:
        raise SchemaError(
            "COLUMN_NULL",
            f'column "{name}" has {column.null_count} nulls',
            hint="Give every record a timestamp, or leave the column out to have the time of now.",
        )
    return column


def _value_column(
    rows: pa.Table, field: pa.Field, topic: Topic, deleted: pa.Array | None
) -> pa.Array:
    if field.name not in rows.column_names:
        if not field.nullable:
            raise SchemaError(
                "COLUMN_MISSING",
                f'column "{field.name}" of topic "{topic.name}" is not in the rows',
                hint=f"Rows have: {', '.join(rows.column_names)}.",
            )
        return pa.nulls(rows.num_rows, field.type)
    column = _cast(_one_chunk(rows.column(field.name)), field, topic)
    tombstones = 0 if deleted is None else (deleted.true_count or 0)
    if not field.nullable and column.null_count > tombstones:
        raise SchemaError(
            "COLUMN_NULL",
            f'column "{field.name}" of topic "{topic.name}" has {column.null_count} nulls',
            hint="The schema says not null: fill the nulls or filter the rows.",
        )
    return column


def _cast(column: pa.Array, field: pa.Field, topic: Topic) -> pa.Array:
    if column.type == field.type:
        return column
    if pa.types.is_dictionary(column.type) and column.type.value_type == field.type:
        return column.dictionary_decode()
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaError(
            "COLUMN_TYPE",
            f'column "{field.name}" of topic "{topic.name}" is {field.type}, the rows have'
            f" {column.type}",
            hint=f"Convert the column first ({error}).",
        ) from error


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def _refuse_missing_keys(keys: pa.Array | None, count: int, topic: Topic) -> None:
    missing = count if keys is None else keys.null_count
    if missing:
        raise RecordError(
            "KEY_MISSING",
            f'{missing} of {count} records have no key, topic "{topic.name}" keeps the last'
            " record of each key",
            hint="Give every record a key, or set the topic's cleanup to delete.",
        )


def _refuse_large_records(rows: pa.RecordBatch, topic: Topic) -> None:
    limit = topic.config.max_record_bytes
    # No record can exceed the limit where the whole batch does not: the common case is free.
    if rows.get_total_buffer_size() <= limit or _most_bytes(rows) <= limit:
        return
    sizes = record_sizes(rows)
    largest = int(sizes.argmax()) if len(sizes) else 0
    if len(sizes) and sizes[largest] > limit:
        raise RecordError(
            "RECORD_TOO_LARGE",
            f'record {largest} of the batch has {sizes[largest]} bytes, topic "{topic.name}"'
            f" takes up to {limit}",
            hint="Split the record, or raise the topic's max_record_bytes.",
        )


def _most_bytes(rows: pa.RecordBatch) -> int:
    """No record takes more: the longest value of each column together."""
    most = 0
    for column in rows.columns:
        kind = column.type
        if pa.types.is_binary(kind) or pa.types.is_string(kind):
            most += _longest(column)
        elif pa.types.is_fixed_size_binary(kind) or pa.types.is_primitive(kind):
            most += max(kind.bit_width // 8, 1)
        else:
            return int(rows.nbytes)
    return most


def _longest(column: pa.Array) -> int:
    return int(np.diff(_ends(column)).max()) if len(column) else 0


def _ends(column: pa.Array) -> npt.NDArray[np.int32]:
    """Where each value begins, and the last one ends."""
    offsets = np.frombuffer(column.buffers()[1], np.int32)
    return offsets[column.offset : column.offset + len(column) + 1]


def record_sizes(rows: pa.RecordBatch | pa.Table) -> npt.NDArray[np.int64]:
    """The bytes each record takes: exact for bytes and strings, by width for the rest."""
    sizes = np.zeros(rows.num_rows, np.int64)
    for column in rows.columns:
        kind = column.type
        if pa.types.is_binary(kind) or pa.types.is_string(kind):
            sizes += _lengths(column)
        elif pa.types.is_fixed_size_binary(kind) or pa.types.is_primitive(kind):
            sizes += max(kind.bit_width // 8, 1)
        else:
            sizes += column.nbytes // max(rows.num_rows, 1)
    return sizes


def _lengths(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = [np.diff(_ends(chunk).astype(np.int64)) for chunk in chunks]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
