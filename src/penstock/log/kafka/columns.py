"""Messages of Kafka as columns, and rows as what its producers take; little is done by record."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import Message

from penstock.log.record import (
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
    Headers,
)
from penstock.log.rows import (
    HEADERS_TYPE,
    binary_array,
    headers_array,
    integer_array,
    null_mask,
    numbers,
)

RAW = pa.schema(
    [
        (OFFSET_COLUMN, pa.int64()),
        (TIMESTAMP_COLUMN, pa.int64()),
        (KEY_COLUMN, pa.binary()),
        (HEADERS_COLUMN, HEADERS_TYPE),
        (VALUE_COLUMN, pa.binary()),
    ]
)
"""The columns of records whose values are bytes."""

TIME_HEADER = "penstock.time"
"""The time of a record from 1970 or before, which Kafka's clients cannot say."""

_FIRST_TIME = 1
_TIME = struct.Struct(">q")


def raw_rows(messages: Sequence[Message]) -> pa.RecordBatch:
    """Give messages, none of which is an error, as columns."""
    count = len(messages)
    offsets = np.fromiter(map(Message.offset, messages), np.int64, count)
    times = np.fromiter((at for _, at in map(Message.timestamp, messages)), np.int64, count)
    headers = list(map(Message.headers, messages))
    listed: pa.Array = pa.nulls(count, HEADERS_TYPE)
    if any(headers):
        listed = headers_array(_shown(headers, times))
    columns = [
        integer_array(offsets),
        integer_array(times),
        binary_array(list(map(Message.key, messages))),
        listed,
        binary_array(list(map(Message.value, messages))),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=RAW)


def messages_of(
    rows: pa.RecordBatch, values: pa.Array
) -> Iterator[tuple[bytes | None, bytes | None, int, Headers | None]]:
    """Give value, key, time and headers of each row."""
    times = numbers(rows.column(TIMESTAMP_COLUMN), np.int64)
    headers: Iterator[Headers | None] = repeat(None)
    if HEADERS_COLUMN in rows.schema.names:
        headers = iter(_listed(rows.column(HEADERS_COLUMN)))
    if len(times) and times.min() < _FIRST_TIME:
        headers = iter([_with_time(*pair) for pair in zip(headers, times.tolist(), strict=False)])
        times = np.maximum(times, _FIRST_TIME)
    keys: Iterator[bytes | None] = repeat(None)
    if KEY_COLUMN in rows.schema.names:
        keys = iter(bytes_list(rows.column(KEY_COLUMN)))
    return zip(bytes_list(values), keys, times.tolist(), headers, strict=False)


def bytes_list(column: pa.Array) -> list[bytes | None]:
    """Give a column of bytes as a list in which null is None."""
    if not len(column) or column.null_count == len(column):
        return [None] * len(column)
    _, ends, data = column.buffers()
    places = np.frombuffer(ends, np.int32)[column.offset : column.offset + len(column) + 1]
    first = int(places[0])
    whole = b"" if data is None else data.slice(first, int(places[-1]) - first).to_pybytes()
    steps = (places - first).tolist()
    found: list[bytes | None] = [whole[begin:end] for begin, end in pairwise(steps)]
    if column.null_count:
        for place in np.flatnonzero(null_mask(column)).tolist():
            found[place] = None
    return found


def _listed(column: pa.Array) -> Iterator[Headers | None]:
    for headers in column.to_pylist():
        yield tuple((item["key"], item["value"]) for item in headers) if headers else None


def _with_time(headers: Headers | None, time: int) -> Headers | None:
    return headers if time >= _FIRST_TIME else (*(headers or ()), (TIME_HEADER, _TIME.pack(time)))


def _shown(found: Sequence[Any], times: npt.NDArray[np.int64]) -> Iterator[Headers]:
    """Give headers without ours; a time that one of them tells is put in its place."""
    for place, headers in enumerate(found):
        kept: Headers = tuple(headers or ())
        if kept and kept[-1][0] == TIME_HEADER and len(kept[-1][1] or b"") == _TIME.size:
            times[place] = _TIME.unpack(kept[-1][1] or b"")[0]
            kept = kept[:-1]
        yield kept
