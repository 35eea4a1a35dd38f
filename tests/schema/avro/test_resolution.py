from __future__ import annotations

import json

import pytest

from penstock.schema.avro.nodes import AvroSchema, Primitive, Record
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.resolution import (
    Action,
    Again,
    Choose,
    Fail,
    Promote,
    Read,
    ReadArray,
    ReadEnum,
    ReadMap,
    ReadRecord,
    ReadUnion,
    Resolution,
    Skip,
    describe,
    resolve,
)
from tests.schema.avro.judges.cases import Json


def schema(text: Json) -> AvroSchema:
    return parse_avro(json.dumps(text))


def root(writer: Json, reader: Json) -> Action:
    return resolve(schema(writer), schema(reader)).root


def record(*fields: Json, name: str = "R", **more: Json) -> Json:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def enum(*symbols: str, name: str = "E", **more: Json) -> Json:
    return {"type": "enum", "name": name, "symbols": list(symbols), **more}


def fixed(size: int, name: str = "F", **more: Json) -> Json:
    return {"type": "fixed", "name": name, "size": size, **more}


@pytest.mark.parametrize(
    "name", ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
)
def test_a_primitive_is_read_as_itself(name: str) -> None:
    assert isinstance(root(name, name), Read)


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        ("int", "long"),
        ("int", "float"),
        ("int", "double"),
        ("long", "float"),
        ("long", "double"),
        ("float", "double"),
        ("string", "bytes"),
        ("bytes", "string"),
    ],
)
def test_a_wider_type_reads_a_narrower(writer: str, reader: str) -> None:
    assert isinstance(root(writer, reader), Promote)


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        ("long", "int"),
        ("double", "float"),
        ("float", "long"),
        ("boolean", "int"),
        ("int", "string"),
        ("null", "int"),
        ({"type": "array", "items": "int"}, {"type": "map", "values": "int"}),
        (enum("A"), "string"),
        (fixed(4), "bytes"),
        (fixed(4), fixed(4, "G")),
        (enum("A"), enum("A", name="Other")),
        (record(), record(name="Other")),
    ],
)
def test_what_does_not_match_fails_where_it_is_met(writer: Json, reader: Json) -> None:
    assert isinstance(root(writer, reader), Fail)


def test_items_and_values_are_resolved_inside() -> None:
    items = root({"type": "array", "items": "int"}, {"type": "array", "items": "long"})
    values = root({"type": "map", "values": "int"}, {"type": "map", "values": "string"})
    assert isinstance(items, ReadArray)
    assert isinstance(items.items, Promote)
    assert isinstance(values, ReadMap)
    assert isinstance(values.values, Fail)


def test_fixed_of_another_size_fails() -> None:
    found = root(fixed(4), fixed(8))
    assert found == Fail("F has 4 bytes where the reader has 8")


def test_decimals_match_by_their_scale() -> None:
    def decimal(precision: int, scale: int) -> Json:
        digits = {"precision": precision, "scale": scale}
        return {"type": "bytes", "logicalType": "decimal", **digits}

    assert isinstance(root(decimal(9, 2), decimal(12, 2)), Read)
    assert isinstance(root(decimal(9, 2), decimal(9, 3)), Fail)
    assert isinstance(root(decimal(9, 2), "bytes"), Read)


def test_symbols_are_the_readers_by_name() -> None:
    found = root(enum("A", "B", "C"), enum("C", "A", "Z"))
    assert isinstance(found, ReadEnum)
    assert found.symbols == ("A", None, "C")


def test_the_readers_default_stands_for_symbols_it_lacks() -> None:
    found = root(enum("A", "B", default="B"), enum("Z", "A", default="Z"))
    assert isinstance(found, ReadEnum)
    assert found.symbols == ("A", "Z")


def test_fields_are_read_in_the_writers_order_and_placed_as_the_readers() -> None:
    found = root(
        record(*({"name": name, "type": "int"} for name in "abc")),
        record(
            {"name": "c", "type": "long"},
            {"name": "n", "type": "int", "default": 5},
            {"name": "a", "type": "int"},
        ),
    )
    assert isinstance(found, ReadRecord)
    assert [step.place for step in found.steps] == [2, None, 0]
    assert [type(step.action) for step in found.steps] == [Read, Skip, Promote]
    assert found.defaults == (1,)


def test_a_field_without_default_that_nobody_wrote_fails_the_record() -> None:
    found = root(record(), record({"name": "n", "type": ["null", "int"]}))
    assert found == Fail('missing required field "n" of R')


def test_a_field_is_found_by_its_alias_but_first_by_its_name() -> None:
    reader = record(
        {"name": "b", "type": "int", "default": 0, "aliases": ["a"]},
        {"name": "c", "type": "int", "default": 0, "aliases": ["a", "b"]},
    )
    found = root(record({"name": "a", "type": "int"}, {"name": "b", "type": "int"}), reader)
    assert isinstance(found, ReadRecord)
    assert [step.place for step in found.steps] == [1, 0]


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        (record(name="a.R"), record(name="b.R")),
        (record(name="a.R"), record(name="b.Other", aliases=["a.R"])),
        (record(name="a.R"), record(name="a.Other", aliases=["R"])),
        (enum("A", name="Old"), enum("A", name="New", aliases=["Old"])),
        (fixed(2, "Old"), fixed(2, "New", aliases=["Old"])),
    ],
)
def test_named_types_match_by_last_name_or_alias(writer: Json, reader: Json) -> None:
    assert not isinstance(root(writer, reader), Fail)


def test_each_branch_of_a_writers_union_has_an_action() -> None:
    found = root(["null", "int", "string"], "long")
    assert isinstance(found, ReadUnion)
    assert [type(branch) for branch in found.branches] == [Fail, Promote, Fail]


def test_an_exact_branch_wins_over_an_earlier_one_that_is_wider() -> None:
    found = root("long", ["float", "long"])
    assert isinstance(found, Choose)
    assert found.branch == 1


def test_the_first_branch_that_is_wider_is_chosen_where_none_is_exact() -> None:
    found = root("int", ["string", "double", "long"])
    assert isinstance(found, Choose)
    assert found.branch == 1


def test_a_branch_of_the_same_full_name_wins_over_one_of_the_same_last_name() -> None:
    reader = ["null", record(name="a.R"), record(name="b.R")]
    by_full_name = root(record(name="b.R"), reader)
    by_last_name = root(record(name="c.R"), reader)
    assert isinstance(by_full_name, Choose)
    assert by_full_name.branch == 2
    assert isinstance(by_last_name, Choose)
    assert by_last_name.branch == 1


def test_no_branch_that_matches_is_a_failure() -> None:
    found = root("string", ["null", "int"])
    assert found == Fail("no branch of the reader's union can hold string")


def test_two_unions_are_matched_branch_by_branch() -> None:
    found = root(["null", "int", "string"], ["string", "null", "long"])
    assert isinstance(found, ReadUnion)
    places = [branch.branch for branch in found.branches if isinstance(branch, Choose)]
    assert places == [1, 2, 0]


def linked(kind: str) -> Json:
    fields = [{"name": "value", "type": kind}, {"name": "next", "type": ["null", "List"]}]
    return {"type": "record", "name": "List", "fields": fields}


def test_a_record_that_holds_itself_refers_to_its_own_action() -> None:
    found: Resolution = resolve(schema(linked("int")), schema(linked("long")))
    assert isinstance(found.root, ReadRecord)
    union = found.root.steps[1].action
    assert isinstance(union, ReadUnion)
    choose = union.branches[1]
    assert isinstance(choose, Choose)
    assert choose.action == Again("List", "List")
    assert found.follow(choose.action) is found.root


def test_an_action_that_stands_for_itself_is_given_as_it_is() -> None:
    found = resolve(schema("int"), schema("int"))
    assert found.follow(found.root) is found.root


def test_types_are_told_by_their_names() -> None:
    nodes = [schema(one).root for one in ({"type": "array", "items": "int"}, ["int"], record())]
    assert [describe(node) for node in nodes] == ["array", "union", "R"]
    assert describe(schema({"type": "map", "values": "int"}).root) == "map"
    assert describe(Primitive("int")) == "int"
    assert isinstance(nodes[2], Record)
