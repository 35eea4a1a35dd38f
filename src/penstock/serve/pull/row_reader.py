"""How records of a topic become rows that a SELECT sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from penstock.front.sql.reading import event_time_of
from penstock.front.sql.rows import GONE, HEADERS, PARTITION, Opening, row_schema
from penstock.front.sql.source import ROW_OFFSET, ROW_PARTITION, ROW_TIME, SqlSource
from penstock.kernel.expression import lower
from penstock.log.record import (
    DELETED_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    SYSTEM_COLUMNS,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.port import Codec

ROW_KEY = "ROWKEY"
VALUE_BYTES = "VALUE_BYTES"
_PLACES = pa.schema(
    [
        (ROW_TIME, pa.int64()),
        (ROW_PARTITION, pa.int32()),
        (ROW_OFFSET, pa.int64()),
        (ROW_KEY, pa.string()),
    ]
)
_HIDDEN = pa.schema([(KEY_COLUMN, pa.binary()), (GONE, pa.bool_())])


def statement_columns(source: SqlSource) -> pa.Schema:
    """Give the columns that statements see of a source, and those of the system."""
    whole = to_arrow(row_schema(source))
    return pa.schema([item for item in whole if item.name != HEADERS])


class RowReader(Protocol):
    """Reads records; two that are equal give the same rows."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of rows, of which `_key` and `_gone` are hidden."""
        ...

    def read(self, records: pa.Table, partition: int) -> pa.Table:
        """Give the rows of records; those that cannot be read are left out."""
        ...


@dataclass(frozen=True, slots=True)
class SqlReader:
    """Rows as statements see those of a stream or a table."""

    source: SqlSource

    @property
    def schema(self) -> pa.Schema:
        """The columns of the source, and those of the system."""
        return statement_columns(self.source)

    def read(self, records: pa.Table, partition: int) -> pa.Table:
        """Give the rows of records; of a table a record without a key says nothing."""
        if self.source.is_table:
            records = records.filter(records.column(KEY_COLUMN).is_valid())
        placed = records.append_column(PARTITION, _same(partition, records.num_rows))
        opened = Opening(self.source)(placed)
        rows = _without(opened.rows, opened.failures)
        moment = event_time_of(self.source)
        if moment is not None:
            frame = pl.DataFrame(pl.from_arrow(rows))
            time = lower(moment, row_schema(self.source)).cast(pl.Int64)
            found = frame.select(time.fill_null(-1).alias(ROW_TIME)).to_arrow().column(0)
            place = rows.column_names.index(ROW_TIME)
            rows = rows.set_column(place, rows.schema.field(ROW_TIME), found)
            rows = rows.filter(pc.greater_equal(found, 0))
        return rows.select(self.schema.names)


@dataclass(frozen=True)
class TypedReader:
    """Rows of a topic with columns of its own."""

    columns: pa.Schema

    @cached_property
    def schema(self) -> pa.Schema:
        """Its columns, and where each row lies."""
        return _with_places(self.columns)

    def read(self, records: pa.Table, partition: int) -> pa.Table:
        """Give the rows of records."""
        gone = records.column(DELETED_COLUMN).fill_null(False)  # noqa: FBT003  # a value
        return _placed(self.schema, records, records, partition, gone)


@dataclass(frozen=True)
class BytesReader:
    """Rows of a topic of bytes: as its format says, or text and bytes where none is known."""

    known_by: str
    """What the columns depend on: the format and, where there is one, the id of the schema."""
    codec: Codec | None = field(default=None, compare=False)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that the format knows, and where each row lies."""
        if self.codec is None:
            own = pa.schema([("VALUE", pa.string()), (VALUE_BYTES, pa.binary())])
        else:
            own = to_arrow(self.codec.schema)
        return _with_places(own)

    def read(self, records: pa.Table, partition: int) -> pa.Table:
        """Give the rows of records; a value that the format does not fit is left out."""
        values = records.column(VALUE_COLUMN)
        gone = values.is_null()
        if self.codec is None:
            own = pa.table({"VALUE": text_of(values), VALUE_BYTES: values})
            return _placed(self.schema, own, records, partition, gone)
        decoded = self.codec.decode(_one(values))
        rows = _placed(self.schema, decoded.rows, records, partition, gone)
        return _without(rows, decoded.failures)


def text_of(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Give bytes as text; those that are none are null."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_text(item) for item in column.to_pylist()], pa.string())


def _text(item: bytes | None) -> str | None:
    try:
        return None if item is None else item.decode()
    except UnicodeDecodeError:
        return None


def _with_places(own: pa.Schema) -> pa.Schema:
    taken = {name.upper() for name in own.names}
    places = [item for item in _PLACES if item.name not in taken]
    # A tombstone has nulls, whatever the topic says of its rows.
    nullable = [pa.field(item.name, item.type) for item in own]
    return pa.schema([*nullable, *places, *_HIDDEN])


def _placed(
    wanted: pa.Schema,
    own: pa.Table,
    records: pa.Table,
    partition: int,
    gone: pa.ChunkedArray,
) -> pa.Table:
    keys = records.column(KEY_COLUMN)
    found = {
        ROW_TIME: records.column(TIMESTAMP_COLUMN),
        ROW_PARTITION: _same(partition, records.num_rows),
        ROW_OFFSET: records.column(OFFSET_COLUMN),
        ROW_KEY: text_of(keys),
    }
    for name in own.column_names:
        if name not in SYSTEM_COLUMNS or name in wanted.names:
            found[name] = own.column(name)
    found.update({KEY_COLUMN: keys, GONE: gone})
    return pa.table([_as(found[item.name], item.type) for item in wanted], schema=wanted)


def _as(column: pa.ChunkedArray | pa.Array, kind: pa.DataType) -> pa.ChunkedArray | pa.Array:
    return column if column.type == kind else column.cast(kind)


def _same(number: int, count: int) -> pa.Array:
    return pa.array(np.full(count, number, np.int32))


def _one(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _without(rows: pa.Table, failures: object) -> pa.Table:
    if not failures:
        return rows
    kept = np.ones(rows.num_rows, np.bool_)
    kept[list(failures)] = False  # type: ignore[call-overload]  # places
    return rows.filter(pa.array(kept))
