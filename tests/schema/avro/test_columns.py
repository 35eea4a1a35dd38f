from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import SchemaError
from penstock.schema.avro.columns import avro_of, branch_columns, columns_of
from penstock.schema.avro.nodes import Union
from penstock.schema.avro.parse import parse_avro
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    Type,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)

POINT = {"type": "record", "name": "a.P", "fields": [{"name": "x", "type": "int"}]}
OTHER = {"type": "record", "name": "b.P", "fields": []}


def _logical(type_: str, name: str, **more: object) -> dict[str, Any]:
    return {"type": type_, "logicalType": name, **more}


def _fixed(size: int, **more: object) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size, **more}


@pytest.mark.parametrize(
    ("type_", "column"),
    [
        ("boolean", BOOLEAN),
        ("int", INT32),
        ("long", INT64),
        ("float", FLOAT64),
        ("double", FLOAT64),
        ("bytes", BYTES),
        ("string", STRING),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, STRING),
        (_fixed(3), BYTES),
        (_fixed(12, logicalType="duration"), BYTES),
        (_fixed(16, logicalType="uuid"), STRING),
        (_fixed(9, logicalType="decimal", precision=20, scale=3), decimal_of(20, 3)),
        (_logical("bytes", "decimal", precision=5, scale=2), decimal_of(5, 2)),
        (_logical("bytes", "decimal", precision=39), BYTES),
        (_logical("string", "uuid"), STRING),
        (_logical("int", "date"), DATE),
        (_logical("int", "time-millis"), TIME),
        (_logical("long", "time-micros"), TIME),
        (_logical("long", "timestamp-millis"), TIMESTAMP),
        (_logical("long", "timestamp-nanos"), TIMESTAMP),
        (_logical("long", "local-timestamp-micros"), TIMESTAMP),
        ({"type": "array", "items": ["null", "int"]}, array_of(INT32)),
        ({"type": "map", "values": "string"}, map_of(STRING)),
        (POINT, struct_of(x=INT32)),
        (["long"], INT64),
        (["int", "string"], struct_of(int=INT32, string=STRING)),
        (["null", "int", POINT], struct_of(int=INT32, P=struct_of(x=INT32))),
        ([POINT, OTHER], struct_of(a_P=struct_of(x=INT32), b_P=struct_of())),
    ],
)
def test_each_type_has_a_column(type_: object, column: Type) -> None:
    said = {"type": "record", "name": "R", "fields": [{"name": "c", "type": type_}]}
    assert columns_of(parse_avro(said)).field("c").type == column


@pytest.mark.parametrize(
    ("type_", "nullable"),
    [
        ("int", False),
        ("null", True),
        (["null", "int"], True),
        (["int", "null"], True),
        (["int"], False),
    ],
)
def test_a_column_may_be_null_where_the_schema_says_so(type_: object, *, nullable: bool) -> None:
    said = {"type": "record", "name": "R", "fields": [{"name": "c", "type": type_}]}
    assert columns_of(parse_avro(said)).field("c").nullable is nullable


def test_a_root_that_is_no_record_is_one_column() -> None:
    assert columns_of(parse_avro('"long"')) == Schema((Field("value", INT64, nullable=False),))


def test_the_branches_of_a_union_have_their_short_names_and_null_none() -> None:
    union = parse_avro(["null", "int", POINT]).root
    assert isinstance(union, Union)
    assert branch_columns(union) == (None, "int", "P")


def test_a_record_that_holds_itself_has_no_columns() -> None:
    said = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}
    with pytest.raises(SchemaError, match="AVRO_RECURSIVE"):
        columns_of(parse_avro(said))


def test_a_few_words_that_stand_for_very_many_columns_are_refused() -> None:
    types: list[object] = [
        {"type": "record", "name": "R0", "fields": [{"name": "a", "type": "int"}]}
    ]
    for n in range(1, 40):
        fields = [{"name": side, "type": f"R{n - 1}"} for side in ("left", "right")]
        types.append({"type": "record", "name": f"R{n}", "fields": fields})
    with pytest.raises(SchemaError, match="AVRO_WIDE"):
        columns_of(parse_avro(types))


def test_columns_become_a_record_and_come_back() -> None:
    columns = Schema(
        (
            Field("id", INT64, nullable=False),
            Field("name", STRING),
            Field("ok", BOOLEAN),
            Field("n", INT32),
            Field("share", FLOAT64),
            Field("raw", BYTES),
            Field("at", TIMESTAMP),
            Field("day", DATE),
            Field("time", TIME),
            Field("price", decimal_of(10, 2)),
            Field("tags", array_of(STRING)),
            Field("a_b", struct_of(c=INT32)),
            Field("a", struct_of(b_c=INT32, b=struct_of(c=INT32))),
            Field("by_name", map_of(struct_of(x=FLOAT64))),
        )
    )
    schema = parse_avro(avro_of(columns, "shop.Order"))
    assert columns_of(schema) == columns


def test_what_may_be_null_has_null_as_default() -> None:
    text = avro_of(Schema((Field("a", INT32), Field("b", INT32, nullable=False))), "R")
    assert parse_avro(text) == parse_avro(
        {
            "type": "record",
            "name": "R",
            "fields": [
                {"name": "a", "type": ["null", "int"], "default": None},
                {"name": "b", "type": "int"},
            ],
        }
    )


@pytest.mark.parametrize(("column", "record"), [("a b", "R"), ("a", "my-record"), ("1", "R")])
def test_names_that_avro_does_not_allow_are_refused(column: str, record: str) -> None:
    with pytest.raises(SchemaError, match="AVRO_NAME"):
        avro_of(Schema((Field(column, INT32),)), record)
