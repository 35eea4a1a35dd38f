"""Rows as a test gives them, made into what a topic would hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import polars as pl
import pyarrow as pa

from penstock.errors import SchemaError, did_you_mean
from penstock.kernel.columns import frame_schema, from_rows
from penstock.kernel.port import WEIGHT, Frame
from penstock.log.record import Record
from penstock.log.rows import rows_of_bytes
from penstock.model.source import Stream
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32

Pushed: TypeAlias = (
    Mapping[str, Any]
    | Iterable[Mapping[str, Any]]
    | pl.DataFrame
    | pa.Table
    | pa.RecordBatch
    | bytes
    | Iterable[bytes | None]
    | Iterable[Record]
)
"""Rows; or for a topic of bytes the values of records, or whole records."""


def as_records(pushed: Pushed, taken: int) -> pa.Table | None:
    """Give what is pushed as records of bytes; none where it is rows.

    A record has its own timestamp; a value came when the log took it.
    """
    if not isinstance(pushed, list) or not pushed:
        return None
    if not all(item is None or isinstance(item, bytes | Record) for item in pushed):
        return None
    records = [
        item if isinstance(item, Record) else Record("", 0, 0, taken, None, item) for item in pushed
    ]
    return rows_of_bytes(
        [cast("bytes | None", record.value) for record in records],
        keys=[record.key for record in records],
        timestamps=[record.timestamp for record in records],
        headers=[record.headers for record in records],
    )


def listed(pushed: Pushed) -> Pushed:
    """Give what is pushed as something that can be looked at twice."""
    if isinstance(pushed, pl.DataFrame | pa.Table | pa.RecordBatch):
        return pushed
    return [pushed] if isinstance(pushed, Mapping | bytes) else list(pushed)


def as_frames(rows: Pushed, streams: Sequence[Stream]) -> list[Frame]:
    """Give rows with exactly the columns that each stream of a topic has.

    A column that a row does not have is null; one that no stream has is refused.
    """
    schemas = [_stored(stream) for stream in streams]
    known = tuple(dict.fromkeys(name for schema in schemas for name in schema.names))
    given = _gathered(rows)
    columns = given.columns if isinstance(given, pl.DataFrame) else _columns(given)
    _require_known(columns, known, streams[0].topic)
    return [_frame(given, schema, stream) for schema, stream in zip(schemas, streams, strict=True)]


def _stored(stream: Stream) -> Schema:
    """Give the columns of a topic: a changelog has a weight, 1 where it is left out."""
    if (stream.changelog or stream.key) and WEIGHT not in stream.columns.names:
        return stream.columns.with_fields([Field(WEIGHT, INT32)])
    return stream.columns


def _gathered(rows: Pushed) -> pl.DataFrame | list[Mapping[str, Any]]:
    if isinstance(rows, pa.Table | pa.RecordBatch):
        return pl.DataFrame(pl.from_arrow(rows))
    if isinstance(rows, pl.DataFrame):
        return rows
    return cast("list[Mapping[str, Any]]", listed(rows))


def _columns(rows: list[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _frame(given: pl.DataFrame | list[Mapping[str, Any]], schema: Schema, stream: Stream) -> Frame:
    frame = _cast(given, schema) if isinstance(given, pl.DataFrame) else from_rows(given, schema)
    weighted = stream.changelog or bool(stream.key)
    there = frame.filter(pl.col(WEIGHT).fill_null(1) > 0) if stream.key else frame
    for field in schema.fields:
        if not field.nullable and there[field.name].has_nulls():
            raise SchemaError(
                "COLUMN_NULL",
                f'column "{field.name}" of topic "{stream.topic}" must have a value in every row',
                hint="Give the value, or declare the column as one that may be null.",
            )
    return frame.with_columns(pl.col(WEIGHT).fill_null(1)) if weighted else frame


def _cast(rows: pl.DataFrame, schema: Schema) -> Frame:
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in frame_schema(schema).items()
    )


def _require_known(columns: Iterable[str], known: Sequence[str], topic: str) -> None:
    for name in columns:
        if name not in known:
            raise SchemaError(
                "COLUMN_UNKNOWN",
                f'topic "{topic}" has no column "{name}"',
                hint=did_you_mean(name, known) or f"It has {', '.join(known)}.",
            )
