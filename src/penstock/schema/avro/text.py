"""Avro schemas as text: in full, in the canonical form, and as fingerprints of that."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeAlias

from penstock.schema.avro.nodes import (
    ABSENT,
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Logical,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    RecordField,
    Union,
)

Algorithm: TypeAlias = Literal["CRC-64-AVRO", "MD5", "SHA-256"]

_EMPTY = 0xC15D213AA4D7A795
_BYTE = 0xFF


def schema_text(schema: AvroSchema) -> str:
    """Give a schema as JSON, with all that it says; parsing it gives the same schema."""
    return json.dumps(schema_json(schema))


def schema_json(schema: AvroSchema) -> Any:  # noqa: ANN401  # JSON
    """Give a schema as what its JSON says."""
    return _Writer(schema, canonical=False).node(schema.root)


def canonical_form(schema: AvroSchema) -> str:
    """Give the parsing canonical form: equal for schemas that read bytes alike."""
    form = _Writer(schema, canonical=True).node(schema.root)
    return json.dumps(form, separators=(",", ":"), ensure_ascii=False)


def fingerprint(schema: AvroSchema, algorithm: Algorithm = "CRC-64-AVRO") -> bytes:
    """Give the fingerprint of the canonical form; CRC-64-AVRO with its lowest byte first."""
    form = canonical_form(schema).encode()
    match algorithm:
        case "CRC-64-AVRO":
            return rabin(form).to_bytes(8, "little")
        case "MD5":
            return hashlib.md5(form, usedforsecurity=False).digest()
        case "SHA-256":
            return hashlib.sha256(form).digest()


def rabin(data: bytes) -> int:
    """Give the 64-bit Rabin fingerprint of the specification."""
    table, result = _rabin_table(), _EMPTY
    for byte in data:
        result = (result >> 8) ^ table[(result ^ byte) & _BYTE]
    return result


@cache
def _rabin_table() -> tuple[int, ...]:
    def entry(value: int) -> int:
        for _ in range(8):
            value = (value >> 1) ^ (_EMPTY & -(value & 1))
        return value

    return tuple(entry(index) for index in range(256))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes nodes; a type is defined where it first stands, and named afterwards."""

    schema: AvroSchema
    canonical: bool
    written: set[str] = field(default_factory=set)

    def node(self, node: Node) -> Any:  # noqa: ANN401, PLR0911  # JSON, one a kind
        match node:
            case Primitive(name=name, logical=logical):
                more = self._logical(logical)
                return {"type": name, **more} if more else name
            case Array(items=items):
                return {"type": "array", "items": self.node(items)}
            case Map(values=values):
                return {"type": "map", "values": self.node(values)}
            case Union(branches=branches):
                return [self.node(branch) for branch in branches]
            case Named(name=name) if name in self.written:
                return name
            case Named():
                # A type of another schema, which this text has to say in full.
                return self.node(self.schema.follow(node))
            case Record() | Enum() | Fixed():
                return self._named(node)

    def _named(self, node: Record | Enum | Fixed) -> Any:  # noqa: ANN401  # JSON
        if node.name in self.written:
            return node.name
        self.written.add(node.name)
        match node:
            case Record():
                kind = "error" if node.error and not self.canonical else "record"
                body: dict[str, Any] = {"fields": [self._field(item) for item in node.fields]}
                more = {"doc": node.doc} if node.doc else {}
            case Enum():
                kind, body = "enum", {"symbols": list(node.symbols)}
                more = {"default": node.default} if node.default is not None else {}
            case Fixed():
                kind, body = "fixed", {"size": node.size}
                more = self._logical(node.logical)
        if self.canonical:
            return {"name": node.name, "type": kind, **body}
        aliases = {"aliases": list(node.aliases)} if node.aliases else {}
        return {"type": kind, **_split(node.name), **aliases, **more, **body}

    def _field(self, item: RecordField) -> dict[str, Any]:
        said = {"name": item.name, "type": self.node(item.type)}
        if self.canonical:
            return said
        if item.default is not ABSENT:
            said["default"] = item.default
        if item.aliases:
            said["aliases"] = list(item.aliases)
        if item.doc:
            said["doc"] = item.doc
        return said

    def _logical(self, logical: Logical | None) -> dict[str, Any]:
        if logical is None or self.canonical:
            return {}
        digits = {"precision": logical.precision, "scale": logical.scale}
        return {"logicalType": logical.name, **(digits if logical.name == "decimal" else {})}


def _split(name: str) -> dict[str, str]:
    # Where a type has no namespace, its text must say so: else that of the outer one counts.
    namespace, _, last = name.rpartition(".")
    return {"name": last, "namespace": namespace}
