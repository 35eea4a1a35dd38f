"""The key of a record: the text of the columns that a table's rows are told apart by."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.port import Frame
from penstock.schema.schema import Field
from penstock.schema.types import Kind

_CLOCK = "%H:%M:%S%.3f"
NO_KEY = b"\xff"
"""The key of a record whose key column is null; it is no text."""


def key_text(frame: Frame, keys: Sequence[str]) -> pl.Expr:
    """Give the key of each record: the text of one column, or several as JSON."""
    if len(keys) > 1:
        return pl.struct(keys).struct.json_encode().cast(pl.Binary)
    (name,) = keys
    if frame.schema[name] == pl.Binary:
        return pl.col(name)
    if frame.schema[name] == pl.Time:
        # As plain text it would lose what is less than a second.
        return pl.col(name).dt.strftime(_CLOCK).cast(pl.Binary)
    return pl.col(name).cast(pl.String).cast(pl.Binary)


def is_no_key(keys: pl.Series) -> pl.Series:
    """Say which keys stand for null."""
    return keys == pl.Series([NO_KEY], dtype=pl.Binary)


def key_columns(keys: pl.Series, fields: Sequence[Field]) -> list[pl.Series]:
    """Read the columns from the keys of records; what is no such key is null."""
    if len(fields) > 1:
        kinds = pl.Struct({field.name: dtype_of(field.type) for field in fields})
        found = _texts(keys).str.json_decode(kinds).struct.unnest()
        return [found[field.name] for field in fields]
    (field,) = fields
    return [_read(keys, field).alias(field.name)]


def _read(keys: pl.Series, field: Field) -> pl.Series:
    kind = field.type.kind
    if kind is Kind.BYTES:
        return keys
    texts = _texts(keys)
    if kind is Kind.BOOLEAN:
        return (texts == "true").set(~texts.is_in(["true", "false"]), None)
    if kind is Kind.TIMESTAMP:
        return texts.str.to_datetime("%F %T%.f%Z", time_unit="ms", time_zone="UTC", strict=False)
    if kind is Kind.DATE:
        return texts.str.to_date(strict=False)
    if kind is Kind.TIME:
        return texts.str.to_time("%H:%M:%S%.f", strict=False)
    return texts.cast(dtype_of(field.type), strict=False)


def _texts(keys: pl.Series) -> pl.Series:
    try:
        return keys.cast(pl.String)
    except pl.exceptions.ComputeError:
        # polars has no decoding that lets bytes be that are no text.
        return pl.Series(keys.name, [_text(key) for key in keys], pl.String)


def _text(key: bytes | None) -> str | None:
    try:
        return None if key is None else key.decode()
    except UnicodeDecodeError:
        return None
