"""Values one at a time: bytes, plain values and JSON, each to the other."""

from __future__ import annotations

import io
import math
import random
from typing import Any

import fastavro
import pytest

from penstock.errors import SchemaError
from penstock.schema.avro.binary import long_bytes
from penstock.schema.avro.datum_json import json_of, json_text, value_of_json, value_of_json_text
from penstock.schema.avro.datum_read import DatumReader
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.nodes import AvroSchema
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.unions import Tagged

USER = {
    "namespace": "example.avro",
    "type": "record",
    "name": "User",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "favorite_number", "type": ["int", "null"]},
        {"name": "favorite_color", "type": ["string", "null"]},
    ],
}
ALYSSA = {"name": "Alyssa", "favorite_number": 256, "favorite_color": None}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
FIXED = {"type": "fixed", "name": "F", "size": 2}
POINT = {
    "type": "record",
    "name": "n.P",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int", "default": 7}],
}
LINKED = {
    "type": "record",
    "name": "L",
    "fields": [{"name": "value", "type": "int"}, {"name": "next", "type": ["null", "L"]}],
}


def _schema(said: object) -> AvroSchema:
    return parse_avro(f'"{said}"' if isinstance(said, str) else said)


def test_the_sample_user_has_its_eleven_bytes() -> None:
    schema = parse_avro(USER)
    data = DatumWriter(schema).encode(ALYSSA)
    assert data.hex(" ") == "0c 41 6c 79 73 73 61 00 80 04 02"
    assert DatumReader.of(schema).decode(data) == ALYSSA


@pytest.mark.parametrize(
    ("said", "value", "json"),
    [
        ("null", None, None),
        ("boolean", True, True),
        ("int", -5, -5),
        ("long", 2**63 - 1, 2**63 - 1),
        ("float", 0.5, 0.5),
        ("double", 0.1, 0.1),
        ("double", math.inf, "Infinity"),
        ("float", -math.inf, "-Infinity"),
        ("bytes", b"\x00\xff", "\x00ÿ"),
        ("string", "日本", "日本"),
        (ENUM, "B", "B"),
        (FIXED, b"\x01\xfe", "\x01þ"),
        ({"type": "array", "items": "int"}, [1, 2, 3], [1, 2, 3]),
        ({"type": "array", "items": "int"}, [], []),
        ({"type": "map", "values": "bytes"}, {"a": b"b"}, {"a": "b"}),
        (["null", "string"], None, None),
        (["null", "string"], "s", {"string": "s"}),
        (["int"], 5, {"int": 5}),
        (["null", "int", "long"], Tagged("long", 5), {"long": 5}),
        ([POINT, ENUM], Tagged("n.P", {"x": 1, "y": 2}), {"n.P": {"x": 1, "y": 2}}),
        (POINT, {"x": 1, "y": 2}, {"x": 1, "y": 2}),
        (
            LINKED,
            {"value": 1, "next": {"value": 2, "next": None}},
            {"value": 1, "next": {"L": {"value": 2, "next": None}}},
        ),
        (USER, ALYSSA, {"name": "Alyssa", "favorite_number": {"int": 256}, "favorite_color": None}),
    ],
)
def test_bytes_and_json_are_two_ways_to_write_a_value(
    said: object, value: object, json: object
) -> None:
    schema = _schema(said)
    data = DatumWriter(schema).encode(value)
    read = DatumReader.of(schema).decode(data)
    assert read == value
    assert json_of(schema, read) == json
    assert DatumWriter(schema).encode(value_of_json_text(schema, json_text(schema, read))) == data


def test_what_is_no_number_is_written_as_text() -> None:
    schema = parse_avro('"double"')
    assert json_of(schema, math.nan) == "NaN"
    assert math.isnan(value_of_json(schema, "NaN"))


@pytest.mark.parametrize(
    ("said", "value", "fact"),
    [
        ("null", 0, "0 is no null"),
        ("boolean", 1, "1 is no boolean"),
        ("int", True, "True is no int"),
        ("int", 2**31, "is no int"),
        ("long", 2**63, "is no long"),
        ("float", 1e300, "is no float"),
        ("double", "1", "is no double"),
        ("double", 10**400, "is no double"),
        ("bytes", "a", "is no bytes"),
        ("string", b"a", "is no string"),
        ("string", "\ud800", "UTF-8"),
        (ENUM, "C", 'symbol of the enum "E"'),
        (FIXED, b"abc", 'fixed "F" of 2 bytes'),
        ({"type": "array", "items": "int"}, [1, "x"], "at 1 does not"),
        ({"type": "array", "items": "int"}, "ab", "is no array"),
        ({"type": "map", "values": "int"}, {"k": None}, "at k does not"),
        ({"type": "map", "values": "int"}, [], "is no map"),
        (["null", "int"], "x", "is no int"),
        (["int", "string"], b"x", "union of int, string"),
        (["int", "long"], Tagged("string", "x"), 'no branch "string"'),
        (POINT, 1, 'is no record "n.P"'),
        (POINT, {"x": 1, "z": 2}, 'no field "z"'),
        (USER, {"favorite_number": 1, "favorite_color": None}, "at name does not"),
        (LINKED, {"value": 1, "next": {"value": "x", "next": None}}, "at next.value"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_place(
    said: object, value: object, fact: str
) -> None:
    with pytest.raises(SchemaError, match="VALUE_ENCODE") as caught:
        DatumWriter(_schema(said)).encode(value)
    assert fact in caught.value.fact


def test_a_field_that_is_left_out_has_its_default() -> None:
    schema = parse_avro(POINT)
    assert DatumReader.of(schema).decode(DatumWriter(schema).encode({"x": 1})) == {"x": 1, "y": 7}
    assert value_of_json(schema, {"x": 1}) == {"x": 1, "y": 7}


@pytest.mark.parametrize(
    ("value", "branch"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "int"),
        (2**40, "long"),
        (0.5, "double"),
        ("A", "E"),
        ("x", "string"),
        (b"ab", "F"),
        (b"abc", "bytes"),
        ([1], "array"),
        ({"x": 1}, "n.P"),
        ({"other": 1}, "map"),
    ],
)
def test_a_value_without_a_branch_is_of_the_first_that_it_looks_like(
    value: object, branch: str
) -> None:
    union = [
        *("null", "boolean", "int", "long", "double", ENUM, "string", FIXED, "bytes", POINT),
        {"type": "array", "items": "int"},
        {"type": "map", "values": "int"},
    ]
    schema = parse_avro(union)
    read = DatumReader.of(schema).decode(DatumWriter(schema).encode(value))
    assert (read.branch if isinstance(read, Tagged) else "null") == branch


def test_a_whole_number_is_a_float_where_nothing_else_is_there() -> None:
    schema = parse_avro(["string", "double"])
    data = DatumWriter(schema).encode(3)
    assert DatumReader.of(schema).decode(data) == Tagged("double", 3.0)


@pytest.mark.parametrize(
    ("said", "json"),
    [
        ("int", "1"),
        ("int", True),
        ("int", 2**31),
        ("boolean", 1),
        ("double", "much"),
        ("double", True),
        ("bytes", "€"),
        ("string", 1),
        (ENUM, "C"),
        (FIXED, "abc"),
        ({"type": "array", "items": "int"}, {}),
        ({"type": "map", "values": "int"}, {"a": "b"}),
        (["null", "string"], "s"),
        (["null", "string"], {"int": 1}),
        (["null", "string"], {"string": "a", "null": None}),
        (["string"], None),
        (POINT, {"y": 1}),
        (POINT, {"x": 1, "z": 1}),
        (LINKED, {"value": 1, "next": {"L": {"value": None, "next": None}}}),
    ],
)
def test_json_that_is_no_value_is_refused(said: object, json: object) -> None:
    with pytest.raises(SchemaError, match="AVRO_JSON"):
        value_of_json(_schema(said), json)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="AVRO_JSON"):
        value_of_json_text(parse_avro('"int"'), text)


def test_a_value_whose_branch_is_not_told_has_no_json() -> None:
    with pytest.raises(SchemaError, match="VALUE_ENCODE"):
        json_of(parse_avro(["int", "long"]), 5)


def _read(writer: object, value: object, reader: object) -> Any:  # noqa: ANN401  # any value
    wrote = _schema(writer)
    return DatumReader.of(wrote, _schema(reader)).decode(DatumWriter(wrote).encode(value))


def _fields(**types: object) -> dict[str, Any]:
    fields = [{"name": name, "type": type_} for name, type_ in types.items()]
    return {"type": "record", "name": "R", "fields": fields}


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("null", None),
        ("string", "abc"),
        ("long", 2**40),
        (ENUM, "B"),
        (FIXED, b"ab"),
        ({"type": "array", "items": "int"}, [1, 2]),
        ({"type": "map", "values": "string"}, {"a": "b"}),
        (["null", "int"], 5),
        (POINT, {"x": 1, "y": 2}),
        (LINKED, {"value": 1, "next": {"value": 2, "next": None}}),
    ],
)
def test_a_field_that_nobody_asks_for_is_read_past(type_: object, value: object) -> None:
    writer = _fields(gone=type_, kept="int")
    assert _read(writer, {"gone": value, "kept": 9}, _fields(kept="int")) == {"kept": 9}


def test_a_reader_has_its_fields_in_its_own_order_and_its_own_defaults() -> None:
    reader = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "new", "type": {"type": "array", "items": "int"}, "default": [1]},
            {"name": "b", "type": "double"},
            {"name": "renamed", "type": "string", "aliases": ["a"]},
        ],
    }
    wrote = parse_avro(_fields(a="string", b="int"))
    read = DatumReader.of(wrote, _schema(reader))
    data = DatumWriter(wrote).encode({"a": "x", "b": 2})
    first = read.decode(data)
    assert list(first.items()) == [("new", [1]), ("b", 2.0), ("renamed", "x")]
    first["new"].append(2)
    assert read.decode(data)["new"] == [1]


@pytest.mark.parametrize(
    ("writer", "value", "reader"),
    [
        ("long", 1, "int"),
        (_fields(a="int"), {"a": 1}, _fields(b="int")),
        (ENUM, "B", {**ENUM, "symbols": ["A"]}),
        (["int", "string"], Tagged("string", "x"), "int"),
    ],
)
def test_what_a_reader_cannot_take_is_told(writer: object, value: object, reader: object) -> None:
    with pytest.raises(SchemaError, match="AVRO_READER"):
        _read(writer, value, reader)


def test_blocks_may_tell_their_size() -> None:
    schema = parse_avro({"type": "array", "items": "int"})
    assert DatumReader.of(schema).decode(b"\x03\x04\x02\x04\x02\x06\x00") == [1, 2, 3]
    with pytest.raises(SchemaError, match="end at byte"):
        DatumReader.of(schema).decode(b"\x01\x04\x02\x00")
    wrote = parse_avro(_fields(gone={"type": "array", "items": "int"}, kept="int"))
    read = DatumReader.of(wrote, parse_avro(_fields(kept="int")))
    assert read.decode(b"\x01\x02\x02\x00\x12") == {"kept": 9}


@pytest.mark.parametrize(
    ("said", "data"),
    [
        ({"type": "array", "items": "null"}, long_bytes(2**50) + b"\x00"),
        ({"type": "array", "items": "null"}, (long_bytes(-90_000) + b"\x00") * 5 + b"\x00"),
        ({"type": "array", "items": "int"}, long_bytes(-(2**63)) + b"\x00"),
        ({"type": "map", "values": "int"}, long_bytes(2**62)),
        ("string", long_bytes(2**62)),
        (ENUM, b"\x04"),
        (["null", "int"], b"\x04"),
        (["null", "int"], b"\x01"),
        (LINKED, b"\x02\x02" * 100_000),
        ({"type": "record", "name": "R", "fields": [{"name": "a", "type": "R"}]}, b""),
        (USER, b""),
        ("null", b"\x00"),
        ([], b"\x00"),
    ],
)
def test_hostile_bytes_are_refused(said: object, data: bytes) -> None:
    with pytest.raises(SchemaError, match="AVRO_BYTES"):
        DatumReader.of(_schema(said)).decode(data)


def test_records_without_bytes_do_not_fill_the_memory() -> None:
    types: list[object] = [{"type": "record", "name": "R0", "fields": []}]
    for n in range(1, 40):
        fields: list[object] = [{"name": side, "type": f"R{n - 1}"} for side in ("left", "right")]
        types.append({"type": "record", "name": f"R{n}", "fields": fields})
    schema = parse_avro(types)
    for reader in (schema, parse_avro([{"type": "record", "name": "R39", "fields": []}])):
        with pytest.raises(SchemaError, match="AVRO_BYTES"):
            DatumReader.of(schema, reader).decode(long_bytes(39))


def test_a_value_too_deep_to_be_written_is_refused() -> None:
    value: dict[str, Any] | None = None
    for _ in range(5_000):
        value = {"value": 1, "next": value}
    schema = parse_avro(LINKED)
    for write in (DatumWriter(schema).encode, lambda value: json_text(schema, value)):
        with pytest.raises(SchemaError, match="VALUE_ENCODE"):
            write(value)


def test_damaged_bytes_give_a_value_or_an_error() -> None:
    schema = parse_avro(_fields(user=USER, list={"type": "array", "items": ["null", "long", ENUM]}))
    data = DatumWriter(schema).encode({"user": ALYSSA, "list": [None, Tagged("E", "A")] * 3})
    read, chance = DatumReader.of(schema), random.Random(6)
    codes = set()
    for _ in range(2_000):
        damaged = bytearray(data[: chance.randrange(1, len(data) + 1)])
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            DatumWriter(schema).encode(read.decode(bytes(damaged)))
        except SchemaError as error:
            codes.add(error.code)
    assert codes == {"AVRO_BYTES"}


def test_fastavro_reads_what_we_write_and_we_what_it_writes() -> None:
    schema, theirs = parse_avro(USER), fastavro.parse_schema(dict(USER))
    data = DatumWriter(schema).encode(ALYSSA)
    assert fastavro.schemaless_reader(io.BytesIO(data), theirs) == ALYSSA
    out = io.BytesIO()
    fastavro.schemaless_writer(out, theirs, ALYSSA)
    assert DatumReader.of(schema).decode(out.getvalue()) == ALYSSA
