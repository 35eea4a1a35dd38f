"""Leaving out what is null where a JSON Schema allows a property to be missing, but not null."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import SchemaError
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.json_schema.document import JsonSchemaDocument
from penstock.schema.json_schema.nodes import COMBINED, Node, node_of
from penstock.schema.json_schema.place import Place
from penstock.schema.schema import Schema

Inner: TypeAlias = Mapping[str, Any]
"""What to leave out inside of an object: by property, and in turn inside of each."""

_ITEMS = "\0items"
_MOST_SHAPES = 64
"""With more ways to lack something than this, rows are written one by one."""


@dataclass(frozen=True, slots=True)
class Omission:
    """Writes rows without the properties that a schema does not let be null."""

    schema: Schema
    optional: frozenset[str]
    needed: frozenset[str]
    inner: Inner
    codec: Format

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows as JSON objects, many at a time: those that lack the same together."""
        self._refuse_null(rows)
        lacking = [name for name in self.schema.names if name in self.optional]
        lacking = [name for name in lacking if rows.column(name).null_count]
        if not lacking:
            return self._written(rows, self.schema)
        nulls = [rows.column(name).is_null().to_numpy(zero_copy_only=False) for name in lacking]
        shapes, shape_of = np.unique(np.stack(nulls, axis=1), axis=0, return_inverse=True)
        if len(shapes) > _MOST_SHAPES:
            texts = self._written(rows, self.schema).to_pylist()
            rules: Inner = {name: (True, {}) for name in lacking}
            return pa.array([_rewritten(text, rules) for text in texts], pa.binary())
        places = [np.flatnonzero(shape_of.ravel() == number) for number in range(len(shapes))]
        written = [
            self._written(rows.take(pa.array(found)), self._without(lacking, shape))
            for found, shape in zip(places, shapes.tolist(), strict=True)
        ]
        back = np.argsort(np.concatenate(places))
        return pa.concat_arrays(written).take(pa.array(back))

    def _without(self, lacking: list[str], shape: list[bool]) -> Schema:
        gone = {name for name, null in zip(lacking, shape, strict=True) if null}
        return Schema(tuple(part for part in self.schema.fields if part.name not in gone))

    def _written(self, rows: pa.Table, schema: Schema) -> pa.Array:
        if not schema.fields:
            return pa.array([b"{}"] * rows.num_rows, pa.binary())
        texts = codec_of(self.codec, schema).encode(rows.select(schema.names))
        if not self.inner:
            return texts
        # Inside of a column every row has its own shape: they are looked at one by one.
        return pa.array([_pruned_text(text, self.inner) for text in texts.to_pylist()], pa.binary())

    def _refuse_null(self, rows: pa.Table) -> None:
        for name in self.schema.names:
            if name in self.needed and rows.column(name).null_count:
                row = pc.index(pc.is_null(rows.column(name)), value=True).as_py()
                raise SchemaError(
                    "VALUE_ENCODE",
                    f'row {row}, column "{name}" is null, and the JSON Schema requires a value',
                    hint="Give it a value before it is written, or let the schema allow null.",
                )


def omission_of(document: JsonSchemaDocument, columns: Schema, codec: Format) -> Omission:
    """Find out what may not be null."""
    always = objects_of(document.place)
    root = always or _in_branches(node_of(document.place))
    properties = {
        name: part for node in root for name, part in node.place.each("properties").items()
    }
    required = {name for node in always for name in _required(node)}
    strict = {name for name, part in properties.items() if not _may_be_null(part)}
    rules = _Rules()
    found = {name: rules.of(part) for name, part in properties.items() if name in columns.names}
    return Omission(
        columns,
        frozenset(strict - required),
        frozenset(strict & required),
        {name: inside for name, inside in found.items() if inside},
        codec,
    )


def objects_of(place: Place | Node) -> list[Node]:
    """Give what a schema says of objects, in as many parts as it says it."""
    node = node_of(place)
    if node.kind == "object":
        return [node]
    if node.kind == "all":
        return [found for part in node.parts for found in objects_of(part)]
    return []


def _in_branches(node: Node) -> list[Node]:
    return [found for part in node.parts for found in objects_of(part)]


@dataclass(frozen=True, slots=True)
class _Rules:
    """Finds what to leave out below a property: optional properties that may not be null."""

    known: dict[tuple[object, ...], Inner] = field(default_factory=dict)

    def of(self, part: Place | Node) -> Inner:
        node = node_of(part)
        if node.key not in self.known:
            # A schema inside of itself is left as it is: it has no columns.
            self.known[node.key] = {}
            self.known[node.key] = self._found(node)
        return self.known[node.key]

    def _found(self, node: Node) -> Inner:
        if node.kind == "array":
            every = node.place.at("items")
            inside = {} if every is None else self.of(every)
            return {_ITEMS: inside} if inside else {}
        if node.kind in COMBINED:
            return {name: rule for one in node.parts for name, rule in self.of(one).items()}
        return self._object(node) if node.kind == "object" else {}

    def _object(self, node: Node) -> Inner:
        found: dict[str, Any] = {}
        for name, part in node.place.each("properties").items():
            inside = self.of(part)
            drop = name not in _required(node) and not _may_be_null(part)
            if inside or drop:
                found[name] = (drop, inside)
        return found


def _required(node: Node) -> list[str]:
    said = node.said.get("required")
    return said if isinstance(said, list) else []


def _may_be_null(part: Place | Node) -> bool:
    node = node_of(part)
    match node.kind:
        case "any" | "one":
            return any(_may_be_null(one) for one in node.parts)
        case "all":
            return all(_may_be_null(one) for one in node.parts)
        case "enum":
            return None in node.said.get("enum", [node.said.get("const")])
        case kind:
            return kind in ("null", "anything", "not", "condition")


def _pruned_text(text: bytes, rules: Inner) -> bytes:
    return _rewritten(text, {name: (False, inside) for name, inside in rules.items()})


def _rewritten(text: bytes, rules: Inner) -> bytes:
    """Write one object again without what is left out; numbers keep every digit."""
    if b"null" not in text:
        return text
    found = json.loads(text, parse_float=_as_it_stands, parse_int=_as_it_stands)
    _prune(found, rules)
    return orjson.dumps(found)


def _as_it_stands(digits: str) -> orjson.Fragment:
    return orjson.Fragment(digits)


def _prune(value: Any, rules: Inner) -> None:  # noqa: ANN401  # JSON
    if isinstance(value, list) and _ITEMS in rules:
        for item in value:
            _prune(item, rules[_ITEMS])
    elif isinstance(value, dict):
        for name, (drop, inside) in rules.items():
            if name in value and value[name] is None and drop:
                del value[name]
            elif name in value:
                _prune(value[name], inside)
