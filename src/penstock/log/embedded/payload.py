"""The payload of a frame: rows as one Arrow record batch, without its schema.

Columns that say nothing are left out (no keys, no headers, consecutive offsets) and a
flag of the frame says so; the topic keeps the schema of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.log.embedded.frame import (
    HAS_DELETED,
    HAS_HEADERS,
    HAS_KEYS,
    HAS_OFFSETS,
    HEADER_SIZE,
    Frame,
)
from penstock.log.record import (
    DELETED_COLUMN,
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
)
from penstock.log.rows import HEADERS_TYPE, integer_array, numbers

_FEW = 4
_SMALL = 4096
_MOST_NULLS = 1 << 18
CODECS: dict[str, int] = {"none": 0, "lz4": 1, "zstd": 2}
_CODEC_NAMES = {1: "lz4", 2: "zstd"}
_OPTIONAL = (
    (HAS_OFFSETS, pa.field(OFFSET_COLUMN, pa.int32())),
    (0, pa.field(TIMESTAMP_COLUMN, pa.int64())),
    (HAS_KEYS, pa.field(KEY_COLUMN, pa.binary())),
    (HAS_HEADERS, pa.field(HEADERS_COLUMN, HEADERS_TYPE)),
    (HAS_DELETED, pa.field(DELETED_COLUMN, pa.bool_())),
)


class Payload(NamedTuple):
    """Rows ready to be written, with what the frame must say about them."""

    data: pa.Buffer
    flags: int
    plain_length: int
    codec: int


@lru_cache(maxsize=256)
def stored_schema(flags: int, values: pa.Schema) -> pa.Schema:
    """The columns of a payload whose frame has these flags."""
    system = [field for flag, field in _OPTIONAL if not flag or flags & flag]
    return pa.schema([*system, *values])


def encode_payload(rows: pa.RecordBatch, values: pa.Schema, compression: str) -> Payload:
    """Serialise rows; `_offset`, where given, is relative to the frame's base."""
    flags = sum(flag for flag, field in _OPTIONAL if flag and field.name in rows.schema.names)
    schema = stored_schema(flags, values)
    arrays = [rows.column(name) for name in schema.names]
    plain = pa.RecordBatch.from_arrays(arrays, schema=schema).serialize()
    codec = CODECS[compression]
    data = pa.Codec(compression).compress(plain) if codec else plain
    return Payload(data, flags, plain.size, codec)


def decode_payload(frame: Frame, chunk: pa.Buffer, start: int, values: pa.Schema) -> pa.RecordBatch:
    """Give the stored columns of the frame that begins at a position of a buffer."""
    data = chunk.slice(start + HEADER_SIZE, frame.payload_length)
    if frame.codec:
        data = pa.Codec(_CODEC_NAMES[frame.codec]).decompress(data, frame.plain_length)
    return pa.ipc.read_record_batch(data, stored_schema(frame.flags, values))


def offsets_of(frame: Frame, rows: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """The offset of each row of a decoded payload."""
    if frame.flags & HAS_OFFSETS:
        return numbers(rows.column(0), np.int32).astype(np.int64) + frame.base_offset
    return np.arange(frame.base_offset, frame.base_offset + rows.num_rows, dtype=np.int64)


def _nulls(count: int, kind: pa.DataType) -> pa.Array:
    """A column of nulls, a piece of one made before where it is not too long."""
    if count > _MOST_NULLS:
        return pa.nulls(count, kind)
    return _many_nulls(1 << max(count - 1, 1).bit_length(), kind).slice(0, count)


@lru_cache(maxsize=64)
def _many_nulls(count: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(count, kind)


def complete_rows(
    rows: Sequence[pa.RecordBatch], offsets: npt.NDArray[np.int64], schema: pa.Schema
) -> pa.Table:
    """Give the asked-for columns of decoded payloads with the same flags, in one table.

    What was left out on disk is filled in. Many small payloads become one piece, so that
    whoever reads the table does not pay for each frame again.
    """
    stored = pa.Table.from_batches(rows)
    if len(rows) > _FEW and stored.num_rows < len(rows) * _SMALL:
        stored = stored.combine_chunks()
    known = frozenset(stored.column_names)
    columns = []
    for field in schema:
        if field.name == OFFSET_COLUMN:
            columns.append(integer_array(offsets))
        elif field.name in known:
            columns.append(stored.column(field.name))
        else:
            columns.append(_nulls(stored.num_rows, field.type))
    return pa.Table.from_arrays(columns, schema=schema)
