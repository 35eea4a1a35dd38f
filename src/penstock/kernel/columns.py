"""Columns of a schema as polars holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from penstock.errors import SchemaError
from penstock.kernel.port import (
    CONTROL,
    ORIGIN,
    PANE_COLUMNS,
    TAKEN,
    TIME,
    UNTIL,
    WEIGHT,
    Frame,
)
from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type

_PLAIN: Mapping[Kind, pl.DataType] = {
    Kind.BOOLEAN: pl.Boolean(),
    Kind.INT32: pl.Int32(),
    Kind.INT64: pl.Int64(),
    Kind.FLOAT64: pl.Float64(),
    Kind.STRING: pl.String(),
    Kind.BYTES: pl.Binary(),
    Kind.TIMESTAMP: pl.Datetime("ms", "UTC"),
    Kind.DATE: pl.Date(),
    Kind.TIME: pl.Time(),
}


def dtype_of(type_: Type) -> pl.DataType:
    """Give the polars type of one column."""
    if type_.kind is Kind.DECIMAL:
        return pl.Decimal(type_.precision, type_.scale)
    if type_.kind is Kind.ARRAY and type_.item is not None:
        return pl.List(dtype_of(type_.item))
    if type_.kind is Kind.MAP and type_.item is not None:
        return pl.Map(
            pl.String() if type_.key is None else dtype_of(type_.key), dtype_of(type_.item)
        )
    if type_.kind is Kind.STRUCT:
        return pl.Struct({name: dtype_of(part) for name, part in type_.fields})
    return _PLAIN[type_.kind]


def frame_schema(schema: Schema) -> dict[str, pl.DataType]:
    """Give the polars types of all columns, by name and in order."""
    return {field.name: dtype_of(field.type) for field in schema.fields}


def empty(schema: Schema) -> Frame:
    """Give a frame with these columns and no rows."""
    return pl.DataFrame(schema=frame_schema(schema))


def from_rows(rows: Sequence[Mapping[str, Any]], schema: Schema) -> Frame:
    """Make a frame of rows; a column that a row does not have is null.

    A value that does not fit its column is refused. A whole number in a timestamp column
    counts milliseconds since 1970; a time without a zone is UTC.
    """
    return pl.DataFrame(
        [
            series_of(field.name, [row.get(field.name) for row in rows], field.type)
            for field in schema.fields
        ]
    )


def series_of(name: str, values: Sequence[Any], type_: Type) -> pl.Series:
    """Make one column of Python values; a value that does not fit its type is refused."""
    wanted = dtype_of(type_)
    fact = ""
    try:
        series = pl.Series(name, values, dtype=wanted, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        fact = str(error).split("\n", 1)[0]
    else:
        # A time in a date column is not refused by polars but given back as a time.
        if series.dtype == wanted:
            return series
        fact = f"found a value of type {series.dtype}"
    raise SchemaError(
        "VALUE_TYPE",
        f'a value of column "{name}" is not of type {type_}: {fact}',
        hint="Give a value of the column's type, or declare the column with another type.",
    )


def with_control(
    frame: Frame, *, time: pl.Expr, taken: pl.Expr | None = None, weight: pl.Expr | None = None
) -> Frame:
    """Add the control columns; without `taken` a row was taken when it happened."""
    return frame.with_columns(
        (pl.lit(1) if weight is None else weight).cast(pl.Int32).alias(WEIGHT),
        time.cast(pl.Int64).alias(TIME),
        (time if taken is None else taken).cast(pl.Int64).alias(TAKEN),
    )


def control_columns(frame: Frame) -> list[str]:
    """Give the columns of a frame that are not the user's."""
    known = (*CONTROL, *PANE_COLUMNS, *ORIGIN, UNTIL)
    return [name for name in frame.columns if name in known]
