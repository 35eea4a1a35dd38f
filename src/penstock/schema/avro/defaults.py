"""Defaults of fields: JSON that must fit the field's type, and the values it says."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.errors import SchemaError
from penstock.schema.avro.binary import narrowed
from penstock.schema.avro.logical import whole
from penstock.schema.avro.nodes import (
    ABSENT,
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Union,
)
from penstock.schema.avro.unions import branch_value

MOST_PARTS = 100_000
"""So many parts a default has at most, with the defaults inside of it."""


def check_defaults(schema: AvroSchema) -> None:
    """Refuse the first field whose default does not fit its type."""
    for place, node in definitions(schema.root):
        if not isinstance(node, Record):
            continue
        for index, field in enumerate(node.fields):
            if field.default is ABSENT or default_fits(schema, field.type, field.default):
                continue
            raise SchemaError(
                "AVRO_SCHEMA",
                f'the default {json.dumps(field.default)} of field "{field.name}" does not fit '
                f"its type, at {place}/fields/{index}/default",
                hint="Give a value of its type; in a union, of one of its branches.",
            )


def definitions(node: Node, place: str = "") -> Iterator[tuple[str, Node]]:
    """Give a node and all inside of it, each with its place; names are not followed."""
    yield place, node
    match node:
        case Array():
            yield from definitions(node.items, f"{place}/items")
        case Map():
            yield from definitions(node.values, f"{place}/values")
        case Union():
            for index, branch in enumerate(node.branches):
                yield from definitions(branch, f"{place}/{index}")
        case Record():
            for index, field in enumerate(node.fields):
                yield from definitions(field.type, f"{place}/fields/{index}/type")
        case Primitive() | Fixed() | Enum() | Named():
            return


def default_fits(schema: AvroSchema, node: Node, value: Any) -> bool:  # noqa: ANN401
    """Whether JSON says a value of a type, as defaults say one."""
    return 0 < _Fitting(schema, {}).parts(node, value) <= MOST_PARTS


def default_branch(schema: AvroSchema, union: Union, value: Any) -> int:  # noqa: ANN401
    """Give the place of the first branch that a default of a union fits."""
    work = _Fitting(schema, {})
    return next(i for i, branch in enumerate(union.branches) if work.parts(branch, value))


@dataclass(frozen=True, slots=True)
class _Fitting:
    """Counts the parts of a value that fits a type: none where it does not fit.

    Each pair of value and type is tried once, since unions of records could have it try without
    end, and defaults of defaults could make a few words a value of any size.
    """

    schema: AvroSchema
    known: dict[tuple[int, int], int]

    def parts(self, node: Node, value: Any) -> int:  # noqa: ANN401
        definition = self.schema.follow(node)
        pair = (id(definition), id(value))
        if pair not in self.known:
            # A default that holds itself has no end, so what is being tried does not fit.
            self.known[pair] = 0
            self.known[pair] = self._tried(definition, value)
        return self.known[pair]

    def _tried(self, node: Node, value: Any) -> int:  # noqa: ANN401, PLR0911  # one a kind
        match node:
            case Primitive(name=name):
                return int(primitive_fits(name, value))
            case Fixed(size=size):
                return int(_is_bytes(value) and len(value) == size)
            case Enum(symbols=symbols):
                return int(isinstance(value, str) and value in symbols)
            case Array(items=items):
                is_list = isinstance(value, list)
                return self._all([(items, item) for item in value]) if is_list else 0
            case Map(values=values):
                is_map = isinstance(value, dict)
                return self._all([(values, item) for item in value.values()]) if is_map else 0
            case Union(branches=branches):
                return next(filter(None, (self.parts(branch, value) for branch in branches)), 0)
            case Record(fields=fields):
                is_map = isinstance(value, dict)
                pairs = [(f.type, value.get(f.name, f.default)) for f in fields] if is_map else []
                return self._all(pairs) if is_map else 0
            case Named():
                return self.parts(node, value)

    def _all(self, pairs: list[tuple[Node, Any]]) -> int:
        counts = [self.parts(node, value) for node, value in pairs]
        return 1 + sum(counts) if all(counts) else 0


def primitive_fits(name: str, value: Any) -> bool:  # noqa: ANN401, PLR0911  # one a kind
    """Whether JSON says a value of a primitive type."""
    match name:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int":
            return whole(value) and -(2**31) <= value < 2**31
        case "long":
            return whole(value) and -(2**63) <= value < 2**63
        case "float" | "double":
            return (whole(value) or isinstance(value, float)) and _is_finite(value)
        case "bytes":
            return _is_bytes(value)
        case _:
            return isinstance(value, str)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_bytes(value: object) -> bool:
    """Whether JSON says bytes: a string whose characters are numbers up to 255."""
    return isinstance(value, str) and all(ord(character) <= 255 for character in value)  # noqa: PLR2004


def default_value(schema: AvroSchema, node: Node, value: Any) -> Any:  # noqa: ANN401, PLR0911
    """Give the value that a default says: bytes for their text, a branch of a union, and so on."""
    found = schema.follow(node)
    match found:
        case Primitive(name="bytes") | Fixed():
            return value.encode("latin-1")
        case Primitive(name="float"):
            return narrowed(value)
        case Primitive(name="double"):
            return float(value)
        case Primitive() | Enum():
            return value
        case Array():
            return [default_value(schema, found.items, item) for item in value]
        case Map():
            return {key: default_value(schema, found.values, item) for key, item in value.items()}
        case Union():
            branch = found.branches[default_branch(schema, found, value)]
            return branch_value(found, branch, default_value(schema, branch, value))
        case Record():
            return {
                item.name: default_value(schema, item.type, value.get(item.name, item.default))
                for item in found.fields
            }
