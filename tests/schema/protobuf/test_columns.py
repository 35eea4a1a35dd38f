from __future__ import annotations

import pytest

from penstock.errors import SchemaError
from penstock.schema.language import SchemaSource
from penstock.schema.protobuf.columns import columns_of
from penstock.schema.protobuf.file import protobuf_file
from penstock.schema.schema import Schema

IMPORTS = "".join(
    f'import "google/protobuf/{name}.proto";'
    for name in ("timestamp", "wrappers", "struct", "empty", "any", "duration")
)


def columns(text: str) -> Schema:
    return columns_of(protobuf_file(SchemaSource(f'syntax = "proto3"; {IMPORTS} {text}')).message())


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        *((f"{name} a = 1;", "int32") for name in ("int32", "sint32", "sfixed32")),
        *((f"{name} a = 1;", "int64") for name in ("int64", "sint64", "sfixed64")),
        *((f"{name} a = 1;", "int64") for name in ("uint32", "fixed32", "uint64", "fixed64")),
        *((f"{name} a = 1;", "float64") for name in ("float", "double")),
        *((f"{name} a = 1;", name) for name in ("string", "bytes")),
        ("bool a = 1;", "boolean"),
        ("enum E { A = 0; } E a = 1;", "string"),
        ("repeated int32 a = 1;", "array<int32>"),
        ("map<string, bool> a = 1;", "map<boolean>"),
        ("map<int64, bytes> a = 1;", "map<bytes>"),
        ("message N { int32 x = 1; repeated string y = 2; } N a = 1;",
         "struct<x: int32, y: array<string>>"),
        ("message N { int32 x = 1; } repeated N a = 1;", "array<struct<x: int32>>"),
        ("google.protobuf.Timestamp a = 1;", "timestamp"),
        ("google.protobuf.Int64Value a = 1;", "int64"),
        ("repeated google.protobuf.StringValue a = 1;", "array<string>"),
        ("google.protobuf.Struct a = 1;", "string"),
        ("google.protobuf.Empty a = 1;", "boolean"),
        ("google.protobuf.Duration a = 1;", "struct<seconds: int64, nanos: int32>"),
        ("google.protobuf.Any a = 1;", "struct<type_url: string, value: bytes>"),
    ],
)  # fmt: skip
def test_each_field_has_its_type(field: str, expected: str) -> None:
    assert str(columns(f"message M {{ {field} }}")) == f"a {expected}"


def test_a_field_whose_presence_is_kept_may_be_null() -> None:
    found = columns(
        "message M { int32 a = 1; optional int32 b = 2; repeated int32 c = 3;"
        " oneof o { string d = 4; } google.protobuf.Timestamp e = 5; }"
    )
    assert [item.nullable for item in found.fields] == [False, True, False, True, True]


@pytest.mark.parametrize("field", ["M a = 1;", "repeated M a = 1;", "map<string, M> a = 1;"])
def test_a_message_that_holds_itself_has_no_columns(field: str) -> None:
    with pytest.raises(SchemaError, match="SCHEMA_RECURSIVE"):
        columns(f"message M {{ {field} }}")


def test_a_message_without_fields_has_no_columns() -> None:
    with pytest.raises(SchemaError, match="SCHEMA_EMPTY"):
        columns("message M {}")


def test_a_message_that_unfolds_without_measure_is_refused() -> None:
    levels = "".join(f"message L{n} {{ L{n + 1} a = 1; L{n + 1} b = 2; }}" for n in range(20))
    with pytest.raises(SchemaError, match="SCHEMA_WIDE"):
        columns(f"{levels} message L20 {{ int32 x = 1; }}")
