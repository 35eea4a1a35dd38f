"""Rows in formats that have a schema, by the codecs of the schema room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from penstock.front.sql.source import SourceColumn
from penstock.schema.arrow import to_arrow
from penstock.schema.avro.columns import avro_of
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.schema import Field, Schema

_ROW = "Row"


def read_avro(content: bytes, columns: Sequence[SourceColumn]) -> dict[str, Any]:
    """Give the columns of a value."""
    decoded = _avro(tuple(columns)).decode(pa.array([content], pa.binary()))
    if decoded.failures:
        raise ValueError(decoded.failures[0])
    rows: list[dict[str, Any]] = decoded.rows.to_pylist(maps_as_pydicts="strict")
    return rows[0]


def write_avro(row: Mapping[str, Any], columns: Sequence[SourceColumn]) -> bytes:
    """Give the value of columns."""
    codec = _avro(tuple(columns))
    named = {column.name: row[column.name] for column in columns}
    table = pa.Table.from_pylist([named], to_arrow(codec.schema))
    content: bytes = codec.encode(table)[0].as_py()
    return content


@lru_cache(maxsize=256)
def _avro(columns: tuple[SourceColumn, ...]) -> Codec:
    schema = Schema(tuple(Field(column.name, column.type) for column in columns))
    return codec_of(Format("avro", written=avro_of(schema, _ROW)), schema)
