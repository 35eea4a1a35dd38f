from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.errors import SchemaError
from penstock.schema.json_schema.columns import columns_of
from penstock.schema.json_schema.document import json_schema_document
from penstock.schema.language import SchemaSource
from penstock.schema.schema import Schema


def columns(schema: Any) -> Schema:  # noqa: ANN401
    return columns_of(json_schema_document(SchemaSource(json.dumps(schema))))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "date-time"}, "timestamp"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "email"}, "string"),
        ({"type": "string", "contentEncoding": "base64"}, "bytes"),
        ({"type": "integer"}, "int64"),
        ({"type": "integer", "connect.type": "int32"}, "int32"),
        ({"type": "number"}, "float64"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "null"}, "string"),
        ({"type": ["null", "integer"]}, "int64"),
        ({"type": ["integer", "number"]}, "float64"),
        ({"type": ["integer", "string"]}, "string"),
        ({"oneOf": [{"type": "null"}, {"type": "boolean"}]}, "boolean"),
        ({"enum": ["a", "b", None]}, "string"),
        ({"enum": [1, 2.5]}, "float64"),
        ({"const": True}, "boolean"),
        ({"type": "string", "enum": ["a"]}, "string"),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, "int64"),
        ({}, "string"),
        (True, "string"),
        ({"type": "array", "items": {"type": "integer"}}, "array<int64>"),
        ({"type": "array"}, "array<string>"),
        ({"type": "array", "items": [{"type": "integer"}, {"type": "number"}]}, "array<float64>"),
        ({"type": "object"}, "map<string>"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "map<int64>"),
        ({"properties": {"a": {"type": "string"}}}, "struct<a: string>"),
        (
            {
                "anyOf": [
                    {"properties": {"a": {"type": "integer"}}},
                    {"properties": {"a": {"type": "number"}, "b": {"type": "string"}}},
                ]
            },
            "struct<a: float64, b: string>",
        ),
        (
            {
                "allOf": [
                    {"properties": {"a": {"type": "integer"}}},
                    {"properties": {"b": {"type": "string"}}, "required": ["b"]},
                ]
            },
            "struct<a: int64, b: string>",
        ),
        ({"$ref": "#/definitions/x"}, "int64"),
    ],
)
def test_each_schema_has_its_type(schema: Any, expected: str) -> None:  # noqa: ANN401
    root = {"properties": {"c": schema}, "definitions": {"x": {"type": "integer"}}}
    assert str(columns(root)) == f"c {expected}"


def test_a_property_that_is_always_there_is_not_nullable() -> None:
    found = columns(
        {
            "properties": {
                "a": {"type": "string"},
                "b": {"type": ["string", "null"]},
                "c": {"type": "string"},
            },
            "required": ["a", "b"],
        }
    )
    assert [item.nullable for item in found.fields] == [False, True, True]


def test_a_root_that_is_no_object_is_one_column() -> None:
    assert str(columns({"type": "array", "items": {"type": "string"}})) == "value array<string>"
    assert str(columns({})) == "value string"


def test_a_schema_without_end_has_no_columns() -> None:
    with pytest.raises(SchemaError, match="SCHEMA_RECURSIVE"):
        columns({"properties": {"next": {"$ref": "#"}}})


def below(level: int) -> dict[str, str]:
    return {"$ref": f"#/definitions/l{level + 1}"}


def test_a_schema_that_unfolds_without_measure_is_refused() -> None:
    levels = {f"l{n}": {"properties": {name: below(n) for name in "ab"}} for n in range(20)}
    definitions = {**levels, "l20": {"type": "string"}}
    with pytest.raises(SchemaError, match="SCHEMA_WIDE"):
        columns({"properties": {"x": {"$ref": "#/definitions/l0"}}, "definitions": definitions})
