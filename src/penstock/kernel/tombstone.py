"""Records without a value: each deletes the row of its key from a table."""

from __future__ import annotations

import polars as pl

from penstock.kernel.port import WEIGHT, Frame
from penstock.kernel.record_key import is_no_key, key_columns
from penstock.log.record import DELETED_COLUMN, KEY_COLUMN, VALUE_COLUMN
from penstock.model.source import Stream


def without_tombstones(rows: Frame, stream: Stream, *, keys_read: bool = False) -> Frame:
    """Turn tombstones into deletions where the stream has a key; elsewhere leave them out.

    A deletion is a row of weight -1 that holds its key alone; `keys_read` says that it is there.
    """
    if DELETED_COLUMN not in rows.columns:
        return _of_bytes(rows, stream)
    deleted = rows[DELETED_COLUMN].fill_null(value=False)
    rows = rows.drop(DELETED_COLUMN)
    if not stream.key:
        if KEY_COLUMN not in stream.columns.names:
            rows = rows.drop(KEY_COLUMN, strict=False)
        return rows.filter(~deleted) if deleted.any() else rows
    keys = rows[KEY_COLUMN]
    rows = rows.drop(KEY_COLUMN)
    if not deleted.any():
        return rows
    weight = pl.when(deleted).then(-1).otherwise(1).cast(pl.Int32).alias(WEIGHT)
    if keys_read:
        return rows.with_columns(weight)
    fields = [stream.columns.field(name) for name in stream.key]
    gone = [
        pl.when(deleted).then(found.cast(rows.schema[found.name])).otherwise(pl.col(found.name))
        for found in key_columns(keys, fields)
        if found.name in rows.columns
    ]
    names = [field.name for field in fields]
    told = rows.with_columns(
        *(made.alias(name) for made, name in zip(gone, names, strict=True)), weight
    )
    # A key that cannot be read deletes nothing.
    readable = pl.any_horizontal(pl.col(name).is_not_null() for name in names)
    return told.filter((pl.col(WEIGHT) > 0) | readable | is_no_key(keys))


def _of_bytes(rows: Frame, stream: Stream) -> Frame:
    """In a topic of bytes a record without a value is the tombstone."""
    if KEY_COLUMN not in stream.columns.names:
        return rows.drop(KEY_COLUMN, strict=False)
    if stream.key != (KEY_COLUMN,):
        return rows
    weight = pl.when(pl.col(VALUE_COLUMN).is_null()).then(-1).otherwise(1).cast(pl.Int32)
    # A table has no place for a record without a key.
    return rows.filter(pl.col(KEY_COLUMN).is_not_null()).with_columns(weight.alias(WEIGHT))
