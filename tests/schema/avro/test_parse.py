from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.errors import SchemaError
from penstock.schema.avro.nodes import (
    ABSENT,
    Array,
    Enum,
    Fixed,
    Logical,
    Map,
    Named,
    Primitive,
    Record,
    RecordField,
    Union,
)
from penstock.schema.avro.parse import DEEPEST, parse_avro

USER = """{"namespace": "example.avro", "type": "record", "name": "User", "fields": [
    {"name": "name", "type": "string"},
    {"name": "favorite_number", "type": ["int", "null"]},
    {"name": "favorite_color", "type": ["string", "null"]}]}"""


def _record(*fields: object, **more: object) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields), **more}


def _field(name: str, type_: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


def test_the_sample_user_is_a_record_of_three_fields() -> None:
    null = Primitive("null")
    assert parse_avro(USER).root == Record(
        "example.avro.User",
        (
            RecordField("name", Primitive("string")),
            RecordField("favorite_number", Union((Primitive("int"), null))),
            RecordField("favorite_color", Union((Primitive("string"), null))),
        ),
    )


def test_every_kind_of_type_is_read() -> None:
    said = _record(
        _field("a", {"type": "array", "items": "int"}, default=[], doc="Some."),
        _field("m", {"type": "map", "values": {"type": "long"}}),
        _field("e", {"type": "enum", "name": "E", "symbols": ["A", "B"], "default": "A"}),
        _field("f", {"type": "fixed", "name": "x.F", "size": 3, "aliases": ["G", "y.H"]}),
        _field("again", ["null", "E"], default=None, aliases=["other"]),
        namespace="n",
        aliases=["Old"],
    )
    schema = parse_avro(said)
    enum = Enum("n.E", ("A", "B"), "A")
    fixed = Fixed("x.F", 3, ("x.G", "y.H"))
    assert schema.root == Record(
        "n.R",
        (
            RecordField("a", Array(Primitive("int")), [], doc="Some."),
            RecordField("m", Map(Primitive("long"))),
            RecordField("e", enum),
            RecordField("f", fixed),
            RecordField("again", Union((Primitive("null"), Named("n.E"))), None, ("other",)),
        ),
        ("n.Old",),
    )
    assert schema.types == {"n.R": schema.root, "n.E": enum, "x.F": fixed}


def test_a_default_that_is_not_given_is_not_null() -> None:
    root = parse_avro(_record(_field("a", "null"), _field("b", "null", default=None))).root
    assert isinstance(root, Record)
    assert [field.default is ABSENT for field in root.fields] == [True, False]


@pytest.mark.parametrize(
    ("name", "namespace", "full"),
    [
        ("R", None, "R"),
        ("R", "", "R"),
        ("R", "a.b", "a.b.R"),
        ("c.R", "a.b", "c.R"),
    ],
)
def test_a_full_name_is_the_name_with_dots_or_after_the_namespace(
    name: str, namespace: str | None, full: str
) -> None:
    schema = parse_avro({**_record(), "name": name, "namespace": namespace})
    assert list(schema.types) == [full]


def test_a_name_inside_of_a_record_has_its_namespace_and_may_lay_it_down() -> None:
    inner = {"type": "fixed", "name": "F", "size": 1}
    bare = {"type": "fixed", "name": "G", "size": 1, "namespace": ""}
    said = _record(_field("f", inner), _field("g", bare), _field("h", "G"), namespace="n")
    assert list(parse_avro(said).types) == ["n.R", "n.F", "G"]


def test_types_of_other_schemas_can_be_named() -> None:
    known = parse_avro({"type": "enum", "name": "n.E", "symbols": ["A"]}).types
    schema = parse_avro(_record(_field("e", "n.E", default="A")), known)
    assert schema.types["n.E"] == known["n.E"]
    with pytest.raises(SchemaError, match="AVRO_SCHEMA"):
        parse_avro({"type": "fixed", "name": "n.E", "size": 1}, known)


def test_an_error_of_a_protocol_is_a_record() -> None:
    assert parse_avro({**_record(), "type": "error"}).root == Record("R", (), error=True)


@pytest.mark.parametrize(
    ("said", "logical"),
    [
        ({"type": "int", "logicalType": "date"}, Logical("date")),
        (
            {"type": "long", "logicalType": "local-timestamp-nanos"},
            Logical("local-timestamp-nanos"),
        ),
        ({"type": "string", "logicalType": "uuid"}, Logical("uuid")),
        ({"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}, Logical("uuid")),
        (
            {"type": "fixed", "name": "F", "size": 12, "logicalType": "duration"},
            Logical("duration"),
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
            Logical("decimal", 4, 2),
        ),
        (
            {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 4},
            Logical("decimal", 4),
        ),
    ],
)
def test_a_logical_type_that_suits_is_kept(said: dict[str, Any], logical: Logical) -> None:
    root = parse_avro(said).root
    assert isinstance(root, Primitive | Fixed)
    assert root.logical == logical


@pytest.mark.parametrize(
    "said",
    [
        {"type": "long", "logicalType": "date"},
        {"type": "int", "logicalType": "of my own"},
        {"type": "int", "logicalType": ["date"]},
        {"type": "bytes", "logicalType": "decimal"},
        {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 3},
        {"type": "bytes", "logicalType": "decimal", "precision": True},
        {"type": "fixed", "name": "F", "size": 2, "logicalType": "decimal", "precision": 5},
        {"type": "fixed", "name": "F", "size": 15, "logicalType": "uuid"},
    ],
)
def test_a_logical_type_that_does_not_suit_is_left_out(said: dict[str, Any]) -> None:
    root = parse_avro(said).root
    assert isinstance(root, Primitive | Fixed)
    assert root.logical is None


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (True, "a type is given as true, at /"),
        ({"name": "R"}, 'no "type", at /'),
        ({"type": ["int"]}, '"type" is ["int"], at /'),
        ("panther", '"panther" is not defined'),
        ({"type": "array"}, 'an array has no "items", at /'),
        ({"type": "map", "values": "no"}, '"no" is not defined before it is named, at /values'),
        (["int", "int"], 'two branches "int"'),
        (["int", ["string"]], "a union holds a union"),
        ([{"type": "array", "items": "int"}, {"type": "array", "items": "long"}], '"array"'),
        (_record(_field("a", "int"), _field("a", "long")), 'two fields "a"'),
        (_record(_field("a b", "int")), 'a field has the name "a b", at /fields/0'),
        (_record({"name": "a"}), 'field "a" has no "type", at /fields/0'),
        (_record("a"), 'a field is given as "a"'),
        (_record(_field("a", "int", order="up")), 'the order "up"'),
        (_record(_field("a", "int", aliases="b")), 'the aliases of field "a" are "b"'),
        ({**_record(), "fields": {}}, 'the "fields" of record "R" are {}'),
        ({**_record(), "name": "1R"}, 'a record has the name "1R"'),
        ({**_record(), "name": "a..R"}, 'the name "a..R"'),
        ({**_record(), "namespace": "a-b"}, 'the namespace "a-b"'),
        ({**_record(), "aliases": [1]}, "aliases are given as [1]"),
        ({**_record(), "name": "int"}, 'named "int", as one of Avro\'s own'),
        ({"type": "enum", "name": "E"}, 'the symbols of enum "E" are null'),
        ({"type": "enum", "name": "E", "symbols": ["A", "A"]}, 'the symbol "A" twice'),
        ({"type": "enum", "name": "E", "symbols": ["a b"]}, 'is "a b"'),
        ({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}, 'the default "B"'),
        ({"type": "fixed", "name": "F"}, 'fixed "F" has the size null'),
        ({"type": "fixed", "name": "F", "size": -1}, "the size -1"),
        (
            [
                {"type": "fixed", "name": "F", "size": 1},
                {"type": "array", "items": _record(name="F")},
            ],
            'the type "F" is defined twice, at /1/items',
        ),
    ],
)
def test_what_the_specification_does_not_allow_is_refused_with_its_place(
    said: object, why: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_avro(json.dumps(said))
    assert caught.value.code == "AVRO_SCHEMA"
    assert why in caught.value.fact
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "int", "True", '{"type": NaN}', "[" * 100_000])
def test_a_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="AVRO_SCHEMA"):
        parse_avro(text)


def test_a_misspelt_type_is_corrected() -> None:
    with pytest.raises(SchemaError) as caught:
        parse_avro('"strng"')
    assert caught.value.hint == 'Did you mean "string"?'


def test_types_inside_of_one_another_without_end_are_refused() -> None:
    said: object = "int"
    for _ in range(DEEPEST):
        said = {"type": "array", "items": said}
    parse_avro(said)
    with pytest.raises(SchemaError, match="more than 100 types"):
        parse_avro({"type": "array", "items": said})
