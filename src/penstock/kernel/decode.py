"""Records of bytes become rows, by the format of their stream: many at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import polars as pl
import pyarrow as pa

from penstock.kernel.columns import frame_schema
from penstock.kernel.port import ORIGIN, PARTITION, TAKEN, WEIGHT, Frame
from penstock.kernel.tombstone import without_tombstones
from penstock.kernel.unread import ALL_READ, RECORD_COLUMNS, Unread, unread
from penstock.log.record import (
    DELETED_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.model.physical import Physical
from penstock.model.source import Stream
from penstock.schema.codec.binary import one_array
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32


@dataclass(frozen=True, slots=True)
class Opened:
    """Rows as `Program.take` asks for them, and the records that could not be read."""

    rows: Frame
    unread: Unread = ALL_READ


class Decoder:
    """Opens the records of one stream, whose values have a format."""

    def __init__(self, stream: Stream, codecs: CodecCache) -> None:
        assert stream.format is not None
        self._stream = stream
        self._values = codecs.of(stream.format, _read_columns(stream))
        self._keys: Codec | None = None
        if stream.key and stream.key_format is not None:
            named = tuple(stream.columns.field(name) for name in stream.key)
            self._keys = codecs.of(stream.key_format, Schema(named))

    def open(self, records: pa.Table, partition: int) -> Opened:
        """Read records of one partition, which have `RECORD_COLUMNS`."""
        held = _frame(records.select(list(RECORD_COLUMNS)))
        values = self._values.decode(one_array(records.column(VALUE_COLUMN)))
        rows, failures = self._shaped(values), dict(values.failures)
        if self._keys is not None:
            told = self._keys.decode(one_array(records.column(KEY_COLUMN)))
            rows = self._filled(rows, _frame(told.rows))
            failures = {**{at: f"its key: {why}" for at, why in told.failures.items()}, **failures}
            failures = {**self._keyless(rows, held), **failures}
        rows = rows.with_columns(
            held[VALUE_COLUMN].is_null().alias(DELETED_COLUMN),
            held[KEY_COLUMN],
            held[OFFSET_COLUMN],
            held[TIMESTAMP_COLUMN].cast(pl.Int64).alias(TAKEN),
            pl.lit(partition, dtype=ORIGIN[PARTITION]).alias(PARTITION),
        )
        if failures:
            places = pl.int_range(pl.len(), eager=False)
            rows = rows.filter(~places.is_in(sorted(failures)))
        kept = without_tombstones(rows, self._stream, keys_read=self._keys is not None)
        return Opened(kept, unread(self._stream, partition, held, failures))

    def _shaped(self, decoded: Decoded) -> Frame:
        """Give the columns as the kernel holds them."""
        frame = _frame(decoded.rows)
        wanted = frame_schema(self._values.schema)
        return (
            frame if dict(frame.schema) == wanted else frame.select(*wanted).cast(pl.Schema(wanted))
        )

    def _filled(self, rows: Frame, keys: Frame) -> Frame:
        """Let a key's columns be those of the record's key where the value does not have them."""
        return rows.with_columns(
            rows[name].fill_null(keys[name].cast(rows.schema[name])) for name in self._stream.key
        )

    def _keyless(self, rows: Frame, held: Frame) -> dict[int, str]:
        """Say which rows have no key although they must."""
        found: dict[int, str] = {}
        for field in map(self._stream.columns.field, self._stream.key):
            empty = rows[field.name].is_null() & held[VALUE_COLUMN].is_not_null()
            if not field.nullable and empty.any():
                why = f'neither key nor value has the column "{field.name}"'
                found |= dict.fromkeys(empty.arg_true().to_list(), why)
        return found


class Decoders:
    """The decoders of a program's scans, each made when its first records come."""

    def __init__(self, physical: Physical, codecs: CodecCache) -> None:
        self._streams = {scan.id: scan.stream for scan in physical.scans}
        self._codecs = codecs
        self._made: dict[str, Decoder] = {}

    def of(self, scan: str) -> Decoder | None:
        """Give what opens the records of a scan; none where its topic has columns."""
        stream = self._streams[scan]
        if stream.format is None:
            return None
        if scan not in self._made:
            self._made[scan] = Decoder(stream, self._codecs)
        return self._made[scan]


def _read_columns(stream: Stream) -> Schema:
    """Give the columns of values: those of a key may be missing where keys are read as well."""
    columns = stream.columns
    if stream.changelog and WEIGHT not in columns.names:
        columns = columns.with_fields([Field(WEIGHT, INT32)])
    if stream.key_format is None:
        return columns
    fields = (
        replace(field, nullable=True) if field.name in stream.key else field
        for field in columns.fields
    )
    return Schema(tuple(fields))


def _frame(table: pa.Table) -> Frame:
    return cast("Frame", pl.from_arrow(table, rechunk=False))
