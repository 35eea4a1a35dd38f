from __future__ import annotations

import json

from penstock.schema.language import SchemaSource
from penstock.schema.registry.avro_language import AVRO


def canonical(schema: object) -> str:
    return AVRO.canonical(SchemaSource(json.dumps(schema)))


def test_primitives_are_written_shortly_unless_something_was_added() -> None:
    assert canonical({"type": "string"}) == '"string"'
    text = canonical({"avro.java.string": "String", "type": "string"})
    assert text == '{"type":"string","avro.java.string":"String"}'


def test_words_stand_in_javas_order_and_what_was_added_is_kept() -> None:
    schema = {
        "fields": [
            {"default": 1, "type": {"type": "int"}, "name": "a", "doc": "d", "order": "ignore"},
            {"type": {"logicalType": "date", "type": "int"}, "name": "b", "aliases": ["c"]},
        ],
        "x": [1, {"y": 2}],
        "aliases": ["Old"],
        "doc": "words",
        "namespace": "shop",
        "name": "Order",
        "type": "record",
    }
    assert canonical(schema) == (
        '{"type":"record","name":"Order","namespace":"shop","doc":"words","fields":['
        '{"name":"a","type":"int","doc":"d","default":1,"order":"ignore"},'
        '{"name":"b","type":{"type":"int","logicalType":"date"},"aliases":["c"]}],'
        '"x":[1,{"y":2}],"aliases":["Old"]}'
    )


def test_a_namespace_is_said_only_where_it_changes() -> None:
    schema = {
        "type": "record",
        "name": "a.Outer",
        "fields": [
            {"name": "x", "type": {"type": "fixed", "name": "a.Inner", "size": 2}},
            {
                "name": "y",
                "type": {"type": "enum", "name": "b.E", "symbols": ["S"]},
            },
            {"name": "z", "type": ["null", "a.Inner", "b.E"]},
        ],
    }
    assert canonical(schema) == (
        '{"type":"record","name":"Outer","namespace":"a","fields":['
        '{"name":"x","type":{"type":"fixed","name":"Inner","size":2}},'
        '{"name":"y","type":{"type":"enum","name":"E","namespace":"b","symbols":["S"]}},'
        '{"name":"z","type":["null","Inner","b.E"]}]}'
    )


def test_a_written_schema_is_written_the_same_again() -> None:
    schema = {"type": "map", "values": {"type": "array", "items": ["null", "long"]}, "k": 1}
    once = canonical(schema)
    assert AVRO.canonical(SchemaSource(once)) == once


def test_references_are_put_in_where_they_are_first_named() -> None:
    address = '{"type":"record","name":"Address","namespace":"n","fields":[]}'
    main = {
        "type": "record",
        "name": "n.Person",
        "fields": [{"name": "a", "type": "Address"}, {"name": "b", "type": ["null", "n.Address"]}],
    }
    source = SchemaSource(json.dumps(main), (("n.Address", address),))
    assert AVRO.formatted(source, "resolved") == (
        '{"type":"record","name":"Person","namespace":"n","fields":['
        '{"name":"a","type":{"type":"record","name":"Address","fields":[]}},'
        '{"name":"b","type":["null","Address"]}]}'
    )
    assert AVRO.formatted(source, "") == AVRO.canonical(source)
