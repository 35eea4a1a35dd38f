"""Rows as lines of delimited text."""

from __future__ import annotations

import re

import polars as pl
import pyarrow as pa

from penstock.errors import SchemaError
from penstock.schema.codec.binary import one_array
from penstock.schema.codec.delimited_row import Dialect
from penstock.schema.codec.times import CLOCK, Times, moment_values
from penstock.schema.schema import Field, Schema
from penstock.schema.types import Kind


def write_lines(rows: pa.Table, schema: Schema, dialect: Dialect, times: Times) -> pa.Array:
    """Write each row; a text is quoted where it would be read otherwise."""
    frame = pl.DataFrame(rows)
    texts = [_texts(frame[field.name], field, times) for field in schema.fields]
    written = [_written(column, dialect) for column in texts]
    lines = pl.DataFrame(written).select(pl.concat_str(pl.all(), separator=dialect.delimiter))
    return one_array(lines.to_series().to_arrow())


def _texts(column: pl.Series, field: Field, times: Times) -> pl.Series:
    if field.type.kind is Kind.TIMESTAMP:
        column = moment_values(column, times)
    if field.type.kind is Kind.TIME:
        column = column.dt.strftime(CLOCK)
    if field.type.kind is Kind.BYTES:
        column = column.bin.encode("base64")
    return column.cast(pl.String)


def _written(column: pl.Series, dialect: Dialect) -> pl.Series:
    strange = f"[{re.escape(dialect.delimiter + dialect.quote)}\r\n]"
    quoted = column.str.contains(strange) | (column == dialect.null)
    if quoted.any():
        if not dialect.quote:
            _refuse(column, quoted)
        inner = column.str.replace_all(dialect.quote, dialect.quote * 2, literal=True)
        quotes = (dialect.quote + inner + dialect.quote).rename(column.name)
        column = quotes.zip_with(quoted.fill_null(value=False), column)
    return column.fill_null(dialect.null)


def _refuse(column: pl.Series, quoted: pl.Series) -> None:
    place = quoted.fill_null(value=False).arg_max()
    raise SchemaError(
        "VALUE_ENCODE",
        f'row {place}, column "{column.name}": the text "{column[place or 0]}" needs quotes',
        hint="Let the format have quotes, or choose a delimiter that no text holds.",
    )
