"""A schema as a list of its fields, each with a few words: what two of them can be compared by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

    from penstock.schema.avro.nodes import AvroSchema, Node
    from penstock.schema.codec.schemas import SchemaType
    from penstock.schema.json_schema.nodes import Node as JsonNode
    from penstock.schema.json_schema.place import Place
    from penstock.schema.language import SchemaSource


@dataclass(frozen=True, slots=True)
class Entry:
    """A field: what it is in words, and the names it had before."""

    words: str
    before: tuple[str, ...] = ()


def outline(type_: SchemaType, source: SchemaSource) -> dict[str, Entry]:
    """Give the fields of a schema by their way from the root, in order."""
    if type_ == "AVRO":
        from penstock.schema.registry.avro_language import parsed  # noqa: PLC0415

        schema = parsed(source)
        return dict(_avro(schema, schema.root, "", frozenset()))
    if type_ == "JSON":
        from penstock.schema.json_schema.document import json_schema_document  # noqa: PLC0415

        return dict(_json(json_schema_document(source).place, "", frozenset()))
    from penstock.schema.protobuf.file import protobuf_file  # noqa: PLC0415

    return dict(_protobuf(protobuf_file(source).messages()))


def _avro(
    schema: AvroSchema, node: Node, before: str, inside: frozenset[str]
) -> Iterator[tuple[str, Entry]]:
    from penstock.schema.avro.nodes import ABSENT, Array, Map, Record, Union  # noqa: PLC0415

    found = schema.follow(node)
    if isinstance(found, Union):
        for branch in found.branches:
            yield from _avro(schema, branch, before, inside)
    elif isinstance(found, Array):
        yield from _avro(schema, found.items, f"{before}[]" if before else "[]", inside)
    elif isinstance(found, Map):
        yield from _avro(schema, found.values, f"{before}{{}}" if before else "{}", inside)
    elif isinstance(found, Record) and found.name not in inside:
        for item in found.fields:
            name = f"{before}.{item.name}" if before else item.name
            words = avro_words(schema, item.type)
            if item.default is not ABSENT:
                words += f", default {json.dumps(item.default, ensure_ascii=False)}"
            yield name, Entry(words, tuple(_sibling(name, alias) for alias in item.aliases))
            yield from _avro(schema, item.type, name, inside | {found.name})
    elif not before:
        yield "value", Entry(avro_words(schema, node))


def _sibling(name: str, alias: str) -> str:
    parent = name.rpartition(".")[0]
    return f"{parent}.{alias}" if parent else alias


def avro_words(schema: AvroSchema, node: Node) -> str:
    """Say in words what an Avro type is."""
    from penstock.schema.avro.nodes import (  # noqa: PLC0415
        Array,
        Enum,
        Fixed,
        Map,
        Primitive,
        Record,
        Union,
    )

    found = schema.follow(node)
    match found:
        case Primitive() | Fixed():
            kind = "fixed" if isinstance(found, Fixed) else found.name
            size = f" of {found.size} bytes" if isinstance(found, Fixed) else ""
            logical = found.logical
            digits = (
                f"({logical.precision}, {logical.scale})" if logical and logical.precision else ""
            )
            return f"{logical.name}{digits} ({kind}{size})" if logical else f"{kind}{size}"
        case Array():
            words = f"array of {avro_words(schema, found.items)}"
        case Map():
            words = f"map of {avro_words(schema, found.values)}"
        case Union():
            words = " or ".join(avro_words(schema, branch) for branch in found.branches)
        case Enum():
            words = f"enum {found.name} ({', '.join(found.symbols)})"
        case Record():
            words = f"record {found.name}"
    return words


def _json(
    place: Place | JsonNode, before: str, inside: frozenset[object]
) -> Iterator[tuple[str, Entry]]:
    from penstock.schema.json_schema.nodes import COMBINED, node_of  # noqa: PLC0415

    node = node_of(place)
    if node.key in inside:
        return
    deeper = inside | {node.key}
    if node.kind == "object":
        for name, part in node.place.each("properties").items():
            way = f"{before}.{name}" if before else name
            needed = "required" if name in node.said.get("required", []) else "may be missing"
            yield way, Entry(f"{_json_words(part)}, {needed}")
            yield from _json(part, way, deeper)
    elif node.kind in COMBINED:
        for branch in node.parts:
            yield from _json(branch, before, deeper)
    elif node.kind == "array" and (items := node.place.at("items")) is not None:
        yield from _json(items, f"{before}[]", deeper)


def _json_words(place: Place | JsonNode) -> str:
    from penstock.schema.json_schema.nodes import COMBINED, node_of  # noqa: PLC0415

    node = node_of(place)
    if node.kind == "enum":
        values = node.said.get("enum", [node.said.get("const")])
        return f"one of {', '.join(json.dumps(value, ensure_ascii=False) for value in values)}"
    if node.kind in COMBINED:
        word = " and " if node.kind == "all" else " or "
        return word.join(dict.fromkeys(_json_words(part) for part in node.parts))
    if node.kind == "array":
        items = node.place.at("items")
        inner = "" if items is None else f" of {node_of(items).name}"
        return f"array{inner}"
    said = node.said.get("format")
    return f"{node.name} ({said})" if node.kind == "string" and said else node.name


def _protobuf(messages: tuple[Descriptor, ...]) -> Iterator[tuple[str, Entry]]:
    for message in messages:
        package = message.file.package
        name = message.full_name.removeprefix(f"{package}.") if package else message.full_name
        for part in message.fields:
            yield f"{name}.{part.name}", Entry(_protobuf_words(part))
        for enum in message.enum_types:
            for value in enum.values:
                yield f"{name}.{enum.name}.{value.name}", Entry(f"symbol = {value.number}")
        nested = (inner for inner in message.nested_types if not inner.GetOptions().map_entry)
        yield from _protobuf(tuple(nested))


def _protobuf_words(part: FieldDescriptor) -> str:
    from penstock.schema.protobuf.compatibility import type_text  # noqa: PLC0415

    words = f"{type_text(part)} = {part.number}"
    oneof = part.containing_oneof
    if part.is_required:
        return f"required {words}"
    return f"{words} of oneof {oneof.name}" if oneof and len(oneof.fields) > 1 else words
