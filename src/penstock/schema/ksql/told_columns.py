"""The columns that a registered schema tells, as ksqlDB names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from penstock.errors import SchemaError
from penstock.schema.avro.codec_registry import parsed_schema
from penstock.schema.avro.columns import columns_of as avro_columns
from penstock.schema.avro.nodes import Record
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.ksql.subject import Subject
from penstock.schema.ksql.told import Told
from penstock.schema.schema import Field, Schema
from penstock.schema.schema_id import source_of
from penstock.schema.types import (
    BYTES,
    DATE,
    TIME,
    TIMESTAMP,
    Kind,
    Type,
    array_of,
    decimal_of,
    map_of,
)

_LANGUAGES = {"AVRO": "AVRO", "JSON_SR": "JSON", "PROTOBUF": "PROTOBUF"}
_TITLES = {"Timestamp": TIMESTAMP, "Date": DATE, "Time": TIME}
_MOST_DIGITS = 38


def told_columns(name: str, subject: Subject) -> Told | None:
    """Give the columns of a subject in a format; none where nothing is registered.

    Names are in capitals, but for those of a schema that was asked for by its id.
    """
    text = subject.told()
    if text is None:
        return None
    if text.type != _LANGUAGES[name]:
        raise SchemaError(
            "FORMAT_SCHEMA",
            f'the schema of subject "{subject.name}" is {text.type}, and the format {name}',
            hint="Give the format of the schema.",
        )
    told = _READERS[name](text, subject)
    if subject.schema_id is not None:
        return told
    fields = (Field(field.name.upper(), _upper(field.type)) for field in told.columns.fields)
    return Told(Schema(tuple(fields)), told.wrapped)


def _upper(type_: Type) -> Type:
    item = None if type_.item is None else _upper(type_.item)
    fields = tuple((name.upper(), _upper(part)) for name, part in type_.fields)
    return Type(type_.kind, item, fields, type_.precision, type_.scale)


def _avro(text: SchemaText, subject: Subject) -> Told:
    schema = parsed_schema(subject.schemas, text)
    return Told(avro_columns(schema), isinstance(schema.follow(schema.root), Record))


def _json(text: SchemaText, subject: Subject) -> Told:
    from penstock.schema.json_schema.columns import VALUE, columns_of  # noqa: PLC0415  # few ask
    from penstock.schema.json_schema.document import json_schema_document  # noqa: PLC0415

    found = columns_of(json_schema_document(source_of(subject.schemas, text)))
    raw: Any = json.loads(text.text)
    if found.names == (VALUE,) and VALUE not in _properties(raw):
        (field,) = found.fields
        return Told(Schema((Field(VALUE, _hinted(raw, field.type)),)), wrapped=False)
    parts = _properties(raw)
    fields = (Field(item.name, _hinted(parts.get(item.name), item.type)) for item in found.fields)
    return Told(Schema(tuple(fields)), wrapped=True)


def _protobuf(text: SchemaText, subject: Subject) -> Told:
    from penstock.schema.protobuf.columns import columns_of  # noqa: PLC0415  # a large library
    from penstock.schema.protobuf.file import protobuf_file  # noqa: PLC0415

    message = protobuf_file(source_of(subject.schemas, text)).message(subject.full_name)
    return Told(columns_of(message), wrapped=True)


_READERS = {"AVRO": _avro, "JSON_SR": _json, "PROTOBUF": _protobuf}


def _properties(raw: Any) -> Mapping[str, Any]:  # noqa: ANN401  # JSON
    found = raw.get("properties") if isinstance(raw, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _hinted(raw: Any, type_: Type) -> Type:  # noqa: ANN401  # JSON
    """Heed what Kafka Connect notes of types that JSON does not have."""
    if not isinstance(raw, Mapping):
        return type_
    for way in ("oneOf", "anyOf"):
        others = [one for one in raw.get(way, ()) if one != {"type": "null"}]
        if len(others) == 1:
            return _hinted(others[0], type_)
    title = str(raw.get("title", "")).rpartition(".")[2]
    if title in _TITLES and raw.get("type") == "integer":
        return _TITLES[title]
    if title == "Decimal":
        told = raw.get("connect.parameters") or {}
        precision = int(told.get("connect.decimal.precision", _MOST_DIGITS))
        return decimal_of(min(precision, _MOST_DIGITS), int(told.get("scale", 0)))
    if raw.get("connect.type") == "bytes":
        return BYTES
    return _hinted_parts(raw, type_)


def _hinted_parts(raw: Mapping[str, Any], type_: Type) -> Type:
    if type_.kind is Kind.STRUCT:
        parts = _properties(raw)
        named = tuple((name, _hinted(parts.get(name), part)) for name, part in type_.fields)
        return Type(Kind.STRUCT, fields=named)
    if type_.kind is Kind.ARRAY and type_.item is not None:
        return array_of(_hinted(raw.get("items"), type_.item))
    if type_.kind is Kind.MAP and type_.item is not None:
        return map_of(_hinted(raw.get("additionalProperties"), type_.item))
    return type_
