"""Rows as a test gives them, made into what a topic would hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa

from penstock.errors import SchemaError, did_you_mean
from penstock.kernel.columns import frame_schema, from_rows
from penstock.kernel.port import WEIGHT, Frame
from penstock.model.source import Stream
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32

Pushed: TypeAlias = (
    Mapping[str, Any] | Iterable[Mapping[str, Any]] | pl.DataFrame | pa.Table | pa.RecordBatch
)


def as_frame(rows: Pushed, stream: Stream) -> Frame:
    """Give rows with exactly the topic's columns; one that a row does not have is null.

    A changelog has `_weight` as well: 1 where it is left out.
    """
    schema = stream.columns
    if stream.changelog and WEIGHT not in schema.names:
        schema = schema.with_fields([Field(WEIGHT, INT32)])
    frame = _typed(rows, schema)
    for field in schema.fields:
        if not field.nullable and frame[field.name].has_nulls():
            raise SchemaError(
                "COLUMN_NULL",
                f'column "{field.name}" of topic "{stream.topic}" must have a value in every row',
                hint="Give the value, or declare the column as one that may be null.",
            )
    return frame.with_columns(pl.col(WEIGHT).fill_null(1)) if stream.changelog else frame


def _typed(rows: Pushed, schema: Schema) -> Frame:
    if isinstance(rows, pa.Table | pa.RecordBatch):
        found = pl.from_arrow(rows)
        assert isinstance(found, pl.DataFrame)
        rows = found
    if isinstance(rows, pl.DataFrame):
        _known(rows.columns, schema)
        wanted = frame_schema(schema)
        missing = [
            pl.lit(None, kind).alias(name)
            for name, kind in wanted.items()
            if name not in rows.columns
        ]
        return rows.with_columns(missing).select(
            pl.col(name).cast(kind) for name, kind in wanted.items()
        )
    listed = [rows] if isinstance(rows, Mapping) else list(rows)
    _known(dict.fromkeys(name for row in listed for name in row), schema)
    return from_rows(listed, schema)


def _known(columns: Iterable[str], schema: Schema) -> None:
    for name in columns:
        if name not in schema.names:
            raise SchemaError(
                "COLUMN_UNKNOWN",
                f'the topic has no column "{name}"',
                hint=did_you_mean(name, schema.names) or f"It has {', '.join(schema.names)}.",
            )
