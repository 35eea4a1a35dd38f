"""The columns that values of a JSON Schema are read as.

A value that may be of several types is read as text: that of its JSON. So is one of which the
schema says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.errors import SchemaError
from penstock.schema.json_schema.document import JsonSchemaDocument
from penstock.schema.json_schema.nodes import Node, node_of
from penstock.schema.json_schema.place import Place
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
    array_of,
    map_of,
)

VALUE = "value"
"""The one column of a schema whose root is no object."""

MOST_PARTS = 20_000
"""So many columns and parts of columns at most: references can stand in for any number."""

_FORMATS = {"date-time": TIMESTAMP, "date": DATE}
_SMALL = ("int8", "int16", "int32")
_NUMBERS = (INT32, INT64, FLOAT64)


class Found(NamedTuple):
    """A type, none where nothing but null or a condition is said; and whether null is allowed."""

    type: Type | None
    nullable: bool


def columns_of(document: JsonSchemaDocument) -> Schema:
    """Give the columns; a schema that holds itself has none."""
    reading = _Reading()
    root = reading.found(document.place)
    if root.type is None or root.type.kind is not Kind.STRUCT:
        return Schema((Field(VALUE, root.type or STRING, root.nullable),))
    needed = _needed(node_of(document.place))
    return Schema(
        tuple(
            Field(name, kind, name not in needed or reading.may_be_null(document.place, name))
            for name, kind in root.type.fields
        )
    )


@dataclass(slots=True)
class _Reading:
    """Reads types; `inside` are the schemas of objects and arrays that are being read."""

    inside: set[tuple[object, ...]] = field(default_factory=set)
    parts: int = 0

    def found(self, part: Place | Node) -> Found:
        node = node_of(part)
        self._count()
        match node.kind:
            case "object" | "array" | "all" | "any" | "one":
                return self._entered(node)
            case "string":
                return Found(_text(node), nullable=False)
            case "number":
                return Found(_number(node), nullable=False)
            case "boolean":
                return Found(BOOLEAN, nullable=False)
            case "enum":
                return _listed(node)
            case _:
                # Of what else is said, nothing tells a type, and nothing forbids null.
                return Found(None, nullable=True)

    def may_be_null(self, place: Place, name: str) -> bool:
        """Say whether a property of the root may hold null."""
        parts = [node_of(place), *map(node_of, node_of(place).parts)]
        named = [node.place.each("properties").get(name) for node in parts]
        return all(self.found(part).nullable for part in named if part is not None)

    def _entered(self, node: Node) -> Found:
        if node.key in self.inside:
            raise SchemaError(
                "SCHEMA_RECURSIVE",
                "the schema holds itself, so it has no end of columns",
                hint="Read the topic as bytes, or use a schema that does not hold itself.",
            )
        self.inside.add(node.key)
        try:
            if node.kind == "object":
                return Found(self._object(node), nullable=False)
            if node.kind == "array":
                return Found(self._array(node), nullable=False)
            return self._combined(node)
        finally:
            self.inside.discard(node.key)

    def _object(self, node: Node) -> Type:
        properties = node.place.each("properties")
        if properties:
            fields = ((name, self._type(part)) for name, part in properties.items())
            return Type(Kind.STRUCT, fields=tuple(fields))
        others = [*node.place.each("patternProperties").values()]
        said = node.place.at("additionalProperties")
        if said is not None and isinstance(said.raw, dict):
            others.append(said)
        return map_of(_unified(map(self._type, others)) or STRING)

    def _array(self, node: Node) -> Type:
        listed = node.place.listed("prefixItems") or node.place.listed("items")
        every = node.place.at("items")
        parts = [*listed, *([every] if every is not None and every.raw is not False else [])]
        return array_of(_unified(map(self._type, parts)) or STRING)

    def _combined(self, node: Node) -> Found:
        found = [self.found(part) for part in node.parts]
        if node.kind == "all":
            said = [one for one in found if one.type is not None]
            nullable = all(one.nullable for one in found)
            return Found(_merged([one.type for one in said]), nullable)
        nullable = any(one.nullable for one in found)
        types = [one.type for one, part in zip(found, node.parts, strict=True) if not _null(part)]
        if None in types:
            return Found(None, nullable)
        return Found(_unified(type_ for type_ in types if type_ is not None), nullable)

    def _type(self, part: Place | Node) -> Type:
        return self.found(part).type or STRING

    def _count(self) -> None:
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise SchemaError(
                "SCHEMA_WIDE",
                f"the schema has more than {MOST_PARTS} columns and parts of columns",
                hint="Read the topic as bytes, or use a schema with fewer fields.",
            )


def _null(part: Place | Node) -> bool:
    return node_of(part).kind == "null"


def _text(node: Node) -> Type:
    if node.said.get("contentEncoding") == "base64":
        return BYTES
    return _FORMATS.get(str(node.said.get("format")), STRING)


def _number(node: Node) -> Type:
    if not node.integer:
        return FLOAT64
    return INT32 if node.said.get("connect.type") in _SMALL else INT64


def _listed(node: Node) -> Found:
    values = node.said.get("enum", [node.said.get("const")])
    nullable = None in values
    kinds = {type(value) for value in values if value is not None}
    types: Mapping[type, Type] = {str: STRING, bool: BOOLEAN, int: INT64, float: FLOAT64}
    if not kinds:
        return Found(None, nullable)
    return Found(_unified(types.get(kind, STRING) for kind in kinds), nullable)


def _unified(types: Iterable[Type]) -> Type | None:
    """Give the type that can hold values of any of these; text where nothing else can."""
    result: Type | None = None
    for type_ in types:
        result = type_ if result is None else _joined(result, type_)
    return result


def _joined(one: Type, other: Type) -> Type:
    if one == other:
        return one
    if one in _NUMBERS and other in _NUMBERS:
        return max(one, other, key=_NUMBERS.index)
    if one.kind is other.kind is Kind.STRUCT:
        return _merged_structs(one, other)
    if one.kind is other.kind is Kind.ARRAY and one.item is not None and other.item is not None:
        return array_of(_joined(one.item, other.item))
    return STRING


def _merged(types: Iterable[Type | None]) -> Type | None:
    """Give the type of values that are all of these at once: the narrowest one."""
    result: Type | None = None
    for type_ in types:
        if type_ is None or result == type_:
            continue
        if result is None:
            result = type_
        elif result.kind is type_.kind is Kind.STRUCT:
            result = _merged_structs(result, type_)
        elif result in _NUMBERS and type_ in _NUMBERS:
            result = min(result, type_, key=_NUMBERS.index)
        elif type_.kind is Kind.STRUCT or result == STRING:
            # An open object says less than one with properties, and a list of texts no more
            # than that they are texts.
            result = type_
    return result


def _merged_structs(one: Type, other: Type) -> Type:
    fields = dict(one.fields)
    for name, kind in other.fields:
        fields[name] = _joined(fields[name], kind) if name in fields else kind
    return Type(Kind.STRUCT, fields=tuple(fields.items()))


def _needed(node: Node) -> set[str]:
    """The properties that are always there."""
    own = node.said.get("required") if node.kind == "object" else None
    found = set(own) if isinstance(own, list) else set()
    if node.kind == "all":
        for part in node.parts:
            found |= _needed(node_of(part))
    return found
