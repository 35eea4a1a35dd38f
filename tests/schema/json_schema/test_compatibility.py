"""The rules of Confluent's registry, each with a case of our own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.errors import SchemaError
from penstock.schema.json_schema.compatibility import breaking_changes, differences
from penstock.schema.json_schema.document import json_schema_document
from penstock.schema.json_schema.language import JSON_SCHEMA
from penstock.schema.json_schema.matching import largest_matching
from penstock.schema.language import SchemaSource

STRING, NUMBER, INTEGER, NULL = ({"type": name} for name in ("string", "number", "integer", "null"))
TRUE, FALSE = True, False
CLOSED = {"additionalProperties": False}
TEXTS = {"additionalProperties": STRING}


def text(**words: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": "string", **words}


def record(properties: dict[str, Any] | None = None, **words: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": "object", "properties": properties or {}, **words}


def items(*listed: Any, **words: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": "array", "items": list(listed), **words}


def document(schema: Any) -> Any:  # noqa: ANN401
    return json_schema_document(SchemaSource(json.dumps(schema)))


COMPATIBLE = [
    (record(), {}),
    (record(), TRUE),
    ({"title": "a", "type": "string"}, {"title": "b", "type": "string", "default": "x"}),
    (text(minLength=3), text(minLength=2)),
    (text(maxLength=3), text(maxLength=4)),
    (text(minLength=3, maxLength=9, pattern="a"), text()),
    ({"type": "number", "minimum": 2}, {"type": "number", "minimum": 1}),
    ({"type": "number", "exclusiveMaximum": 2}, {"type": "number", "exclusiveMaximum": 3}),
    ({"type": "number", "multipleOf": 10}, {"type": "number", "multipleOf": 2.5}),
    (INTEGER, NUMBER),
    ({"not": NUMBER}, {"not": INTEGER}),
    (text(enum=["a"]), text()),
    (text(enum=["a"]), text(enum=["b", "a"])),
    ({"const": 1}, {"enum": [1, 2]}),
    ({"type": ["string"]}, {"type": ["string", "null"]}),
    (STRING, {"type": ["null", "string"]}),
    (STRING, {"oneOf": [NUMBER, STRING]}),
    (text(maxLength=3), {"anyOf": [NULL, STRING]}),
    ({"oneOf": [STRING]}, {"oneOf": [NUMBER, STRING]}),
    ({"oneOf": [STRING]}, {"anyOf": [NUMBER, STRING]}),
    ({"oneOf": [STRING]}, {"allOf": [STRING]}),
    ({"anyOf": [STRING]}, {"oneOf": [STRING, NUMBER]}),
    ({"anyOf": [STRING]}, STRING),
    ({"allOf": [STRING, {"enum": ["a"]}]}, {"allOf": [STRING]}),
    ({"allOf": [STRING, {"enum": ["a"]}]}, STRING),
    ({"allOf": [STRING, STRING]}, {"allOf": [STRING]}),
    (record({"a": STRING}), record()),
    (record({"a": STRING}, **CLOSED), record({"a": STRING, "b": NUMBER}, **CLOSED)),
    (
        record({"a": STRING}, **CLOSED),
        record({"a": STRING, "b": text(default="x")}, required=["b"], **CLOSED),
    ),
    (record({"a": STRING}, **TEXTS), record({"a": STRING, "b": STRING}, **TEXTS)),
    (record({"a": STRING, "b": STRING}, **CLOSED), record({"a": STRING}, **TEXTS)),
    (record({"a": STRING, "b": False}, **CLOSED), record({"a": STRING}, **CLOSED)),
    (record(), record({"a": True})),
    (
        record({}, patternProperties={"^n_": INTEGER}, **CLOSED),
        record({"n_1": NUMBER}, patternProperties={"^n_": INTEGER}, **CLOSED),
    ),
    (
        record({"n_1": INTEGER}, **CLOSED),
        record({}, patternProperties={"^n_": NUMBER}, **CLOSED),
    ),
    (record({"a": STRING}, required=["a"]), record({"a": STRING})),
    (record({"a": STRING}), record({"a": text(default="")}, required=["a"])),
    (record({}, minProperties=2, maxProperties=3), record({}, minProperties=1, maxProperties=4)),
    (record({}, dependencies={"a": ["b", "c"]}), record({}, dependencies={"a": ["b"]})),
    (record({}, dependencies={"a": STRING}), record()),
    (record({}, **CLOSED), record()),
    (record({}, **TEXTS), record()),
    ({"type": "array", "items": STRING}, {"type": "array"}),
    (items(STRING, NUMBER), {"type": "array"}),
    (items(STRING), items(STRING, TRUE)),
    (items(STRING, additionalItems=False), items(STRING, NUMBER, additionalItems=False)),
    (items(STRING, additionalItems=STRING), items(STRING, STRING, additionalItems=STRING)),
    (items(STRING, NUMBER, additionalItems=False), items(STRING, additionalItems=NUMBER)),
    (items(STRING, FALSE, additionalItems=False), items(STRING, additionalItems=False)),
    ({"type": "array", "uniqueItems": True, "minItems": 2}, {"type": "array"}),
    (STRING, {"$ref": "#/definitions/x", "definitions": {"x": STRING}}),
    (False, STRING),
]

# One line a case, however long.
# ruff: noqa: E501
INCOMPATIBLE = [
    (record(), {"type": "array"}, "#: object became array"),
    (text(minLength=2), text(minLength=3), "#/minLength: minLength went from 2 to 3"),
    (text(), text(maxLength=3), "#/maxLength: maxLength 3 is new"),
    (text(pattern="a"), text(pattern="b"), "#/pattern: the pattern a became b"),
    (text(), text(pattern="b"), "#/pattern: the pattern b is new"),
    (NUMBER, INTEGER, "#: number became integer"),
    (
        {"type": "number", "multipleOf": 10},
        {"type": "number", "multipleOf": 20},
        "#/multipleOf: multipleOf went from 10 to 20",
    ),
    (NUMBER, {"type": "number", "multipleOf": 3}, "#/multipleOf: multipleOf 3 is new"),
    ({"not": INTEGER}, {"not": NUMBER}, "#/not: more is forbidden than before"),
    (text(enum=["a", "b"]), text(enum=["a"]), '#/enum: the values "b" are not allowed any more'),
    (text(), text(enum=["a"]), "#: string became enum and string"),
    (text(enum=["a"]), text(enum=["a"], **{"not": {"const": 1}}), "#: not is asked for besides"),
    ({"type": ["string", "null"]}, STRING, "#: string or null became string"),
    ({"oneOf": [NUMBER, STRING]}, {"oneOf": [STRING]}, "#: oneOf had 2 and has 1 branch"),
    (
        {"oneOf": [STRING]},
        {"oneOf": [NUMBER]},
        "#: no branch of the new oneOf takes branch 0 (string)",
    ),
    ({"anyOf": [NUMBER, STRING]}, {"oneOf": [STRING]}, "#: anyOf became oneOf"),
    ({"oneOf": [STRING]}, {"allOf": [STRING, NUMBER]}, "#: oneOf became allOf"),
    ({"allOf": [STRING]}, {"allOf": [STRING, NULL]}, "#: allOf had 1 and has 2 branches"),
    (
        record(),
        record({"a": STRING}),
        '#/properties/a: property "a" is new, and earlier data may have it with any other value,'
        " since any property was allowed",
    ),
    (
        record({}, **CLOSED),
        record({"a": STRING}, required=["a"], **CLOSED),
        '#/properties/a: property "a" is new and required, and earlier data lacks it',
    ),
    (
        record({"a": STRING}, **CLOSED),
        record({}, **CLOSED),
        '#/properties/a: property "a" is gone, and no other property is allowed',
    ),
    (record({}, **TEXTS), record({"a": NUMBER}, **TEXTS), "#/properties/a: string became number"),
    (
        record({"a": NUMBER}, **CLOSED),
        record({}, **TEXTS),
        '#/properties/a: property "a" is gone, and what may be there instead takes other values',
    ),
    (
        record({"a": STRING}),
        record({"a": STRING}, required=["a"]),
        '#/required/a: property "a" is required now, and earlier data may lack it',
    ),
    (
        record(),
        record({}, dependencies={"a": ["b"]}),
        '#/dependencies/a: with property "a", b must be there too',
    ),
    (
        record(),
        record({}, dependencies={"a": STRING}),
        '#/dependencies/a: property "a" asks for another schema too',
    ),
    (record(), record({}, **CLOSED), "#/additionalProperties: other properties are not allowed any more"),
    (record(), record({}, **TEXTS), "#/additionalProperties: other properties must fit a schema now"),
    (record({}, minProperties=1), record({}, minProperties=2), "#/minProperties: minProperties went from 1 to 2"),
    (
        {"type": "array"},
        {"type": "array", "items": STRING},
        "#/items: a schema is asked for where any value was right",
    ),
    (items(STRING), items(NUMBER), "#/items/0: string became number"),
    (
        items(STRING),
        items(STRING, NUMBER),
        "#/items/1: the item is new, and earlier data may have any value there",
    ),
    (
        items(STRING, NUMBER, additionalItems=False),
        items(STRING, additionalItems=False),
        "#/items/1: the item is gone, and no other item is allowed",
    ),
    (
        items(TRUE, additionalItems=STRING),
        items(TRUE, NUMBER, additionalItems=STRING),
        "#/items/1: the item is new, and earlier data may have another value there",
    ),
    (items(TRUE), items(TRUE, additionalItems=False), "#/additionalItems: other items are not allowed any more"),
    (items(TRUE), items(TRUE, additionalItems=STRING), "#/additionalItems: other items must fit a schema now"),
    ({"type": "array"}, {"type": "array", "uniqueItems": True}, "#/uniqueItems: no item may be there twice now"),
    (STRING, False, "#: string became nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), COMPATIBLE)
def test_what_readers_can_bear(before: Any, after: Any) -> None:  # noqa: ANN401
    assert breaking_changes(document(before), document(after)) == ()


@pytest.mark.parametrize(("before", "after", "why"), INCOMPATIBLE)
def test_what_breaks_readers_and_why(before: Any, after: Any, why: str) -> None:  # noqa: ANN401
    assert why in breaking_changes(document(before), document(after))


def test_a_difference_that_breaks_nothing_is_still_told() -> None:
    found = differences(document(record({"a": INTEGER})), document(record({"a": NUMBER})))
    assert [(one.place, one.words, one.breaking) for one in found] == [
        ("#/properties/a", "integer became number", False)
    ]


def test_a_new_draft_says_the_same_with_other_words() -> None:
    latest = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array"}
    closed = {**latest, "prefixItems": [STRING], "items": False}
    wider = {**latest, "prefixItems": [STRING, NUMBER], "items": False}
    assert breaking_changes(document(closed), document(wider)) == ()
    assert breaking_changes(document(wider), document(closed)) != ()
    needs = {"$schema": latest["$schema"], "dependentRequired": {"a": ["b"]}}
    assert breaking_changes(document({**needs, "dependentRequired": {}}), document(needs)) != ()


def test_a_schema_that_holds_itself_is_compared_to_the_end() -> None:
    def tree(value: Any) -> Any:  # noqa: ANN401
        return record({"value": value, "next": {"$ref": "#"}, "all": {"anyOf": [{"$ref": "#"}]}})

    assert breaking_changes(document(tree(STRING)), document(tree(STRING))) == ()
    assert breaking_changes(document(tree(STRING)), document(tree(NUMBER))) == (
        "#/properties/value: string became number",
    )


def entangled(count: int, value: Any) -> SchemaSource:  # noqa: ANN401
    names = [f"d{n}" for n in range(count)]
    branches = [{"$ref": f"#/definitions/{name}"} for name in names]
    parts = {part: {"oneOf": branches} for part in names}
    definitions = {name: record({**parts, f"own_{name}": value}) for name in names}
    return SchemaSource(json.dumps({"oneOf": branches, "definitions": definitions}))


def test_definitions_that_name_one_another_are_compared_or_refused_in_no_time() -> None:
    one, other = entangled(3, STRING), entangled(3, NUMBER)
    assert JSON_SCHEMA.incompatibilities(one, one) == ()
    assert JSON_SCHEMA.incompatibilities(other, one) != ()
    one, other = entangled(14, STRING), entangled(14, NUMBER)
    assert JSON_SCHEMA.incompatibilities(one, one) == ()
    try:
        assert JSON_SCHEMA.incompatibilities(other, one) != ()
    except SchemaError as refused:
        # How deep Python may go is not ours to say.
        assert refused.code == "SCHEMA_TEXT"  # noqa: PT017


def test_pairs_are_as_many_as_there_can_be() -> None:
    assert largest_matching(3, [(0, 0), (0, 1), (1, 0), (2, 1), (2, 2)]) == {0: 1, 1: 0, 2: 2}
    assert largest_matching(2, []) == {}
