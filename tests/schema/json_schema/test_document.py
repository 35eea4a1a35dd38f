from __future__ import annotations

import json

import pytest

from penstock.errors import SchemaError
from penstock.schema.json_schema.document import json_schema_document
from penstock.schema.json_schema.language import JSON_SCHEMA
from penstock.schema.json_schema.nodes import node_of
from penstock.schema.language import SchemaSource

DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_draft_is_read(draft: str) -> None:
    text = json.dumps({"$schema": draft, "type": "object", "properties": {"a": {"minimum": 1}}})
    assert node_of(json_schema_document(SchemaSource(text)).place).kind == "object"


def test_the_draft_decides_what_a_keyword_means() -> None:
    old = {"$schema": DRAFTS[0], "type": "number", "minimum": 1, "exclusiveMinimum": True}
    new = {"$schema": DRAFTS[2], "type": "number", "exclusiveMinimum": 1}
    here, there = (SchemaSource(json.dumps(schema)) for schema in (old, new))
    assert JSON_SCHEMA.incompatibilities(there, here) == ()
    with pytest.raises(SchemaError, match="exclusiveMinimum"):
        json_schema_document(SchemaSource(json.dumps({**old, "$schema": DRAFTS[2]})))


def test_references_are_found_in_the_schema_and_among_those_given() -> None:
    text = json.dumps(
        {
            "$schema": DRAFTS[4],
            "$id": "https://shop.example/order.json",
            "$defs": {"inner": {"$id": "/inner", "type": "string"}},
            "properties": {
                "a": {"$ref": "/inner", "title": "beside it"},
                "b": {"$ref": "address.json#/definitions/zip"},
                "c": {"$ref": "#/$defs/inner"},
            },
        }
    )
    address = ("address.json", '{"definitions": {"zip": {"type": "integer"}}}')
    place = json_schema_document(SchemaSource(text, (address,))).place
    kinds = {name: node_of(part).name for name, part in place.each("properties").items()}
    assert kinds == {"a": "string", "b": "integer", "c": "string"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is no JSON"),
        ("[]", "neither an object nor true or false"),
        ('{"minimum": NaN}', "NaN is no number of JSON"),
        ('{"type": "strng"}', "at #/type"),
        ('{"properties": {"a": {"pattern": "("}}}', "at #/properties/a/pattern"),
        ('{"$ref": "#/definitions/none"}', 'refers to "#/definitions/none"'),
        ('{"$ref": "other.json"}', "among its references"),
        ('{"items": {"$ref": "http://example.org/x"}}', "among its references"),
        ('{"properties": {"a": {"$ref": "#/required/0"}}, "required": ["a"]}', "no schema is"),
        ('{"$ref": "#"}', "leads back to itself"),
        ('{"$schema": "http://json-schema.org/draft-03/schema#"}', "none of the drafts"),
        ('{"not":' * 5000 + "1" + "}" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_place(text: str, why: str) -> None:
    with pytest.raises(SchemaError) as caught:
        JSON_SCHEMA.canonical(SchemaSource(text))
    assert caught.value.code == "SCHEMA_TEXT"
    assert why in caught.value.fact


def test_a_reference_that_is_no_schema_is_named() -> None:
    with pytest.raises(SchemaError, match=r'reference "a\.json"'):
        json_schema_document(SchemaSource("{}", (("a.json", "{"),)))


def test_white_space_does_not_make_another_schema_but_order_does_until_normalized() -> None:
    one = SchemaSource('{ "type": "object",\n "title": "é" }')
    other = SchemaSource('{"title":"é","type":"object"}')
    assert JSON_SCHEMA.canonical(one) == '{"type":"object","title":"é"}'
    assert JSON_SCHEMA.canonical(one) != JSON_SCHEMA.canonical(other)
    assert JSON_SCHEMA.normalized(one) == JSON_SCHEMA.normalized(other)
    assert JSON_SCHEMA.formatted(one, "whatever") == JSON_SCHEMA.canonical(one)
    assert JSON_SCHEMA.type == "JSON"
