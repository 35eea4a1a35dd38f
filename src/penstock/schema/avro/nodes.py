"""Avro schemas as values: what the parser gives, and everything else works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

PrimitiveName: TypeAlias = Literal[
    "null", "boolean", "int", "long", "float", "double", "bytes", "string"
]


@dataclass(frozen=True, slots=True)
class Logical:
    """What a type means beyond its bytes: `timestamp-millis`, `decimal` and the like.

    One that the specification does not know, or that does not suit its type, is not here: it
    is read as its plain type.
    """

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parts."""

    name: PrimitiveName
    logical: Logical | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """A list of items."""

    items: Node


@dataclass(frozen=True, slots=True)
class Map:
    """A map from strings to values."""

    values: Node


@dataclass(frozen=True, slots=True)
class Union:
    """One of several branches; a value says which."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """So many bytes, under a full name."""

    name: str
    size: int
    aliases: tuple[str, ...] = ()
    logical: Logical | None = None


@dataclass(frozen=True, slots=True)
class Enum:
    """One of some symbols, under a full name."""

    name: str
    symbols: tuple[str, ...]
    default: str | None = None
    aliases: tuple[str, ...] = ()


class Absent:
    """Stands for a default that is not given; null is one that is."""


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of a record; its default is as JSON says it."""

    name: str
    type: Node
    default: Any = ABSENT
    aliases: tuple[str, ...] = ()
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """Fields in order, under a full name. `error` is how protocols call theirs."""

    name: str
    fields: tuple[RecordField, ...]
    aliases: tuple[str, ...] = ()
    doc: str = field(default="", compare=False)
    error: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A type that is defined elsewhere in the schema, by its full name."""

    name: str


Node: TypeAlias = Primitive | Array | Map | Union | Fixed | Enum | Record | Named


@dataclass(frozen=True, slots=True)
class AvroSchema:
    """A parsed schema: its root, and every named type by full name."""

    root: Node
    types: dict[str, Record | Enum | Fixed] = field(compare=False)

    def follow(self, node: Node) -> Primitive | Array | Map | Union | Fixed | Enum | Record:
        """Give the definition a name stands for, or the node itself."""
        return self.types[node.name] if isinstance(node, Named) else node
