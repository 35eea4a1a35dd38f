from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.schema.avro.compatibility import incompatibilities
from penstock.schema.avro.parse import parse_avro


def _record(*fields: object, **more: object) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


def _field(name: str, type_: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def _decimal(scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": scale}


def _found(reader: object, writer: object) -> list[tuple[str, str]]:
    found = incompatibilities(parse_avro(json.dumps(reader)), parse_avro(json.dumps(writer)))
    return [(one.reason, one.location) for one in found]


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        (_record(_field("b", "long", default=1), _field("a", "int")), _record(_field("a", "int"))),
        (_record(_field("new", "int", aliases=["old"])), _record(_field("old", "int"))),
        (_record(name="x.R"), _record(name="y.R")),
        (_record(name="S", aliases=["R"]), _record()),
        (["null", "double"], ["null", "int"]),
        ("double", ["int", "float"]),
        (_decimal(2), _decimal(2)),
    ],
)
def test_what_a_reader_can_read_has_nothing_against_it(reader: object, writer: object) -> None:
    assert _found(reader, writer) == []


def test_every_obstacle_is_told_with_its_place() -> None:
    reader = _record(
        _field("a", "int"),
        _field("b", {"type": "array", "items": {"type": "fixed", "name": "F", "size": 4}}),
        _field("c", {"type": "map", "values": {"type": "enum", "name": "E", "symbols": ["A"]}}),
        _field("d", ["null", "int"]),
        _field("e", "string"),
        name="Other",
    )
    writer = _record(
        _field("a", "long"),
        _field("b", {"type": "array", "items": {"type": "fixed", "name": "F", "size": 8}}),
        _field(
            "c", {"type": "map", "values": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}
        ),
        _field("d", ["null", "int", "string"]),
    )
    assert _found(reader, writer) == [
        ("name_mismatch", "/name"),
        ("type_mismatch", "/fields/0/type"),
        ("fixed_size_mismatch", "/fields/1/type/items/size"),
        ("missing_enum_symbols", "/fields/2/type/values/symbols"),
        ("missing_union_branch", "/fields/3/type/2"),
        ("reader_field_missing_default_value", "/fields/4"),
    ]


def test_an_obstacle_says_in_words_what_to_do() -> None:
    (found,) = incompatibilities(parse_avro(_record(_field("age", "int"))), parse_avro(_record()))
    assert found.detail == "age"
    assert found.sentence == (
        'the reader needs the field "age", which is not written and has no default; '
        "give it a default, or write it"
    )


def test_another_scale_would_be_another_number() -> None:
    assert _found(_decimal(2), _decimal(3)) == [("type_mismatch", "/")]


def test_records_that_hold_themselves_are_compared_to_the_end() -> None:
    def linked(type_: str) -> dict[str, Any]:
        return _record(_field("next", ["null", "R"]), _field("value", type_))

    assert _found(linked("long"), linked("int")) == []
    assert _found(linked("int"), linked("long")) == [
        ("missing_union_branch", "/fields/0/type/1"),
        ("type_mismatch", "/fields/1/type"),
    ]


def test_a_branch_of_the_very_name_is_taken_and_no_other() -> None:
    wide = _record(_field("a", "int"), name="x.R")
    reader = [_record(_field("b", "int"), name="x.R"), {**wide, "name": "y.R"}]
    assert _found(reader, [wide]) == [("missing_union_branch", "/0")]
    assert _found(reader, [{**wide, "name": "z.R"}]) == []


def test_an_alias_does_not_take_a_field_that_has_its_own_reader() -> None:
    reader = _record(_field("a", "int", aliases=["b"]), _field("b", "int"))
    assert _found(reader, _record(_field("b", "int"))) == [
        ("reader_field_missing_default_value", "/fields/0")
    ]
