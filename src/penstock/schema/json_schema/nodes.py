"""What a place in a JSON Schema says, taken apart into kinds that can be compared.

A schema that says several things at once, such as `type` and `enum`, is all of them: a
combination whose parts each say one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from penstock.schema.json_schema.place import Place
from penstock.schema.json_schema.refusal import refused

Kind: TypeAlias = Literal[
    "anything", "nothing", "null", "boolean", "string", "number", "object", "array",
    "enum", "not", "condition", "all", "any", "one",
]  # fmt: skip

COMBINED = ("all", "any", "one")
_WORDS: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "prefixItems", "additionalItems", "unevaluatedItems", "minItems",
              "maxItems", "uniqueItems", "contains"),
    "object": ("properties", "required", "minProperties", "maxProperties", "dependencies",
               "dependentRequired", "dependentSchemas", "patternProperties",
               "additionalProperties", "unevaluatedProperties", "propertyNames"),
}  # fmt: skip
_COMBINATIONS: Mapping[str, Kind] = {"allOf": "all", "anyOf": "any", "oneOf": "one"}
_TYPES: Mapping[str, Kind] = {
    "null": "null", "boolean": "boolean", "string": "string", "integer": "number",
    "number": "number", "object": "object", "array": "array",
}  # fmt: skip
_BESIDES = ("$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "title",
            "description", "default", "examples", "$vocabulary")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that a schema says; a combination has parts, made of one schema or of several."""

    kind: Kind
    place: Place
    parts: tuple[Place | Node, ...] = ()
    integer: bool = False
    made: bool = False

    @property
    def said(self) -> Mapping[str, Any]:
        """The keywords."""
        return self.place.raw if isinstance(self.place.raw, dict) else {}

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from other nodes of its document."""
        return id(self.place.raw), self.kind, self.integer, self.made

    @property
    def name(self) -> str:
        """What it is, in a word of JSON Schema."""
        if self.kind in COMBINED:
            return "type" if self.made else f"{self.kind}Of"
        return "integer" if self.integer else self.kind


def node_of(part: Place | Node) -> Node:
    """Say what stands at a place; references are followed."""
    if isinstance(part, Node):
        return part
    seen: list[str] = []
    while part.reference is not None and _stands_alone(part):
        if part.reference in seen:
            raise refused(f'the reference "{part.reference}" leads back to itself')
        seen.append(part.reference)
        part = part.followed()
    if part.raw is False:
        return Node("nothing", part)
    if part.raw is True:
        return Node("anything", part)
    pieces = _pieces(part)
    if not pieces:
        return Node("anything", part)
    return pieces[0] if len(pieces) == 1 else Node("all", part, tuple(pieces), made=True)


def _stands_alone(place: Place) -> bool:
    words = set(place.raw) - set(_BESIDES) - {"$ref", "$dynamicRef", "$recursiveRef"}
    return place.draft.reference_alone or not words


def _pieces(place: Place) -> list[Node]:
    raw = place.raw
    found: list[Node] = []
    if place.reference is not None:
        found.append(node_of(place.followed()))
    if "enum" in raw or "const" in raw:
        found.append(Node("enum", place))
    found.extend(
        Node(kind, place, tuple(place.listed(word)))
        for word, kind in _COMBINATIONS.items()
        if word in raw
    )
    if place.at("not") is not None:
        found.append(Node("not", place))
    if "type" in raw:
        found.append(_typed(place, raw["type"]))
    else:
        kinds = (kind for kind, words in _WORDS.items() if any(word in raw for word in words))
        found.extend(Node(_TYPES[kind], place) for kind in kinds)
    if "if" in raw:
        found.append(Node("condition", place))
    return found


def _typed(place: Place, said: Any) -> Node:  # noqa: ANN401  # a text or a list of texts
    if isinstance(said, str):
        return Node(_TYPES[said], place, integer=said == "integer")
    parts = tuple(Node(_TYPES[word], place, integer=word == "integer") for word in said)
    return Node("any", place, parts, made=True)
