"""The schemas that ksqlDB would register for columns, by format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.schema.avro.columns import avro_of
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.ksql.proto_text import proto_of
from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type

_AVRO_NAME = "io.confluent.ksql.avro_schemas.KsqlDataSourceSchema"
_CONNECT = "org.apache.kafka.connect.data"
_PLAIN: Mapping[Kind, dict[str, Any]] = {
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.INT32: {"type": "integer", "connect.type": "int32"},
    Kind.INT64: {"type": "integer", "connect.type": "int64"},
    Kind.FLOAT64: {"type": "number", "connect.type": "float64"},
    Kind.STRING: {"type": "string"},
    Kind.BYTES: {"type": "string", "connect.type": "bytes", "contentEncoding": "base64"},
    Kind.TIMESTAMP: {
        "type": "integer", "title": f"{_CONNECT}.Timestamp", "connect.type": "int64",
    },
    Kind.DATE: {"type": "integer", "title": f"{_CONNECT}.Date", "connect.type": "int32"},
    Kind.TIME: {"type": "integer", "title": f"{_CONNECT}.Time", "connect.type": "int32"},
}  # fmt: skip


def schema_of(
    name: str, schema: Schema, *, wrapped: bool, full_name: str = "", nulls: str = ""
) -> SchemaText:
    """Give the schema of columns in a format that has schemas.

    A single column that is not `wrapped` is the whole schema, but for Protobuf, which has nothing
    but messages. `nulls` says how those show which of their fields are null.
    """
    if name == "PROTOBUF":
        return SchemaText(proto_of(schema, full_name, nulls), "PROTOBUF")
    if name == "JSON_SR":
        return SchemaText(json.dumps(_document(schema, full_name, wrapped=wrapped)), "JSON")
    return SchemaText(_avro(schema, full_name, wrapped=wrapped))


def avro_record(schema: Schema, full_name: str = "", *, wrapped: bool) -> str:
    """Give the Avro record whose bytes are those of the columns, wrapped or not."""
    if not wrapped:
        schema = Schema(tuple(replace(field, nullable=False) for field in schema.fields))
    return avro_of(schema, full_name or _AVRO_NAME)


def _avro(schema: Schema, full_name: str, *, wrapped: bool) -> str:
    record = avro_record(schema, full_name, wrapped=wrapped)
    # Avro writes a record of one field as it writes the field.
    return record if wrapped else json.dumps(json.loads(record)["fields"][0]["type"])


def _document(schema: Schema, full_name: str, *, wrapped: bool) -> dict[str, Any]:
    if not wrapped:
        (field,) = schema.fields
        return _value(field.type)
    named = tuple((field.name, field.type) for field in schema.fields)
    title = {"title": full_name} if full_name else {}
    return {**_object(named), **title}


def _object(named: tuple[tuple[str, Type], ...]) -> dict[str, Any]:
    properties = {
        name: {"connect.index": place, **_nullable(type_)}
        for place, (name, type_) in enumerate(named)
    }
    return {"type": "object", "properties": properties}


def _nullable(type_: Type) -> dict[str, Any]:
    return {"oneOf": [{"type": "null"}, _value(type_)]}


def _value(type_: Type) -> dict[str, Any]:
    match type_.kind:
        case Kind.STRUCT:
            return _object(type_.fields)
        case Kind.ARRAY:
            assert type_.item is not None
            return {"type": "array", "items": _nullable(type_.item)}
        case Kind.MAP:
            assert type_.item is not None
            inside = {"additionalProperties": _nullable(type_.item)}
            return {"type": "object", "connect.type": "map", **inside}
        case Kind.DECIMAL:
            told = {"scale": str(type_.scale), "connect.decimal.precision": str(type_.precision)}
            title = f"{_CONNECT}.Decimal"
            return {"type": "number", "title": title, "connect.parameters": told}
        case kind:
            return dict(_PLAIN[kind])
