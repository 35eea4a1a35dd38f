from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import SchemaError
from penstock.schema.avro.defaults import default_value
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.unions import Tagged


def _with_default(type_: object, default: object) -> dict[str, Any]:
    return {
        "type": "record",
        "name": "R",
        "fields": [{"name": "f", "type": type_, "default": default}],
    }


FIXED = {"type": "fixed", "name": "F", "size": 2}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
POINT = {
    "type": "record",
    "name": "P",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int", "default": 7}],
}


@pytest.mark.parametrize(
    ("type_", "said", "value"),
    [
        ("null", None, None),
        ("boolean", True, True),
        ("int", -(2**31), -(2**31)),
        ("long", 2**63 - 1, 2**63 - 1),
        ("float", 1, 1.0),
        ("float", 1.1, 1.100000023841858),
        ("double", 1.1, 1.1),
        ("bytes", "ÿA", b"\xffA"),
        ("string", "ö", "ö"),
        (FIXED, "ab", b"ab"),
        (ENUM, "B", "B"),
        ({"type": "array", "items": "bytes"}, ["a"], [b"a"]),
        ({"type": "map", "values": "double"}, {"k": 1}, {"k": 1.0}),
        (["null", "int"], None, None),
        (["int", "null"], 5, 5),
        (["null", "int"], 5, 5),
        (["int", "string"], "s", Tagged("string", "s")),
        (POINT, {"x": 1}, {"x": 1, "y": 7}),
        ([ENUM, POINT], {"x": 1}, Tagged("P", {"x": 1, "y": 7})),
    ],
)
def test_a_default_says_a_value_of_its_type(type_: object, said: object, value: object) -> None:
    schema = parse_avro(_with_default(type_, said))
    root = schema.types["R"]
    field = root.fields[0]  # type: ignore[union-attr]
    assert default_value(schema, field.type, field.default) == value


@pytest.mark.parametrize(
    ("type_", "said"),
    [
        ("null", 0),
        ("boolean", 0),
        ("boolean", "true"),
        ("int", 2**31),
        ("int", True),
        ("int", 1.0),
        ("long", 2**63),
        ("double", "1"),
        ("double", 10**400),
        ("float", float("inf")),
        ("bytes", "€"),
        ("string", 1),
        (FIXED, "abc"),
        (ENUM, "C"),
        ({"type": "array", "items": "int"}, [1, "2"]),
        ({"type": "map", "values": "int"}, [1]),
        (["null", "int"], "s"),
        (POINT, {"y": 1}),
        (POINT, 1),
    ],
)
def test_a_default_that_does_not_fit_is_refused_with_its_place(type_: object, said: object) -> None:
    with pytest.raises(SchemaError, match="AVRO_SCHEMA") as caught:
        parse_avro(_with_default(type_, said))
    assert "/fields/0/default" in caught.value.fact


def test_a_default_that_does_not_fit_passes_where_it_is_said_so() -> None:
    assert parse_avro(_with_default("int", "no"), any_default=True).types.keys() == {"R"}


def test_a_default_that_holds_itself_has_no_end_and_is_refused() -> None:
    with pytest.raises(SchemaError, match="AVRO_SCHEMA"):
        parse_avro(_with_default("R", {}))


def test_unions_of_records_are_tried_once_each() -> None:
    def node(name: str) -> dict[str, Any]:
        fields = [{"name": "x", "type": ["A", "B"] if name == "B" else ["A"]}]
        return {"type": "record", "name": name, "fields": fields}

    said: dict[str, Any] = {}
    for _ in range(60):
        said = {"x": said}
    both = [node("A"), node("B"), _with_default(["A", "B"], said)]
    with pytest.raises(SchemaError, match="does not fit"):
        parse_avro(both)


def test_defaults_of_defaults_that_would_fill_the_memory_are_refused() -> None:
    types: list[object] = [{"type": "record", "name": "R0", "fields": []}]
    for n in range(1, 30):
        fields: list[object] = [
            {"name": side, "type": f"R{n - 1}", "default": {}} for side in ("left", "right")
        ]
        types.append({"type": "record", "name": f"R{n}", "fields": fields})
    with pytest.raises(SchemaError, match="does not fit"):
        parse_avro(types)
