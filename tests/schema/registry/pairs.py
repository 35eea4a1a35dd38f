"""Thirty changes to a schema, with what Avro says about each.

An older schema, a newer one, and whether the newer reads the older's data (backward), the older
the newer's (forward), both or neither.
"""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple


class Change(NamedTuple):
    """A change, and which way data can be read across it."""

    name: str
    old: Any
    new: Any
    read: Literal["both", "backward", "forward", "neither"]

    @property
    def backward(self) -> bool:
        """Whether the newer schema reads the older's data."""
        return self.read in {"both", "backward"}

    @property
    def forward(self) -> bool:
        """Whether the older schema reads the newer's data."""
        return self.read in {"both", "forward"}

    @property
    def texts(self) -> tuple[str, str]:
        """The two schemas as JSON."""
        return json.dumps(self.old), json.dumps(self.new)


def field(name: str, type_: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """A field of a record."""
    return {"name": name, "type": type_, **more}


def record(*fields: dict[str, Any], name: str = "R", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """A record."""
    return {"type": "record", "name": name, "fields": list(fields), **more}


def enum(*symbols: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """An enum."""
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def fixed(size: int, name: str = "F") -> dict[str, Any]:
    """A fixed."""
    return {"type": "fixed", "name": name, "size": size}


A, B = field("a", "string"), field("b", "string")
B_DEFAULT = field("b", "string", default="x")
NULLABLE = ["null", "string"]
INNER, INNER_MORE = record(B, name="I"), record(B, field("c", "int"), name="I")
INNER_DEFAULT = record(B, field("c", "int", default=0), name="I")

CHANGES = (
    Change("nothing", record(A), record(A), "both"),
    Change("a field without a default is added", record(A), record(A, B), "forward"),
    Change("a field with a default is added", record(A), record(A, B_DEFAULT), "both"),
    Change("a field without a default is removed", record(A, B), record(A), "backward"),
    Change("a field with a default is removed", record(A, B_DEFAULT), record(A), "both"),
    Change("fields change their order", record(A, B), record(B, A), "both"),
    Change("a field is renamed", record(A), record(field("z", "string")), "neither"),
    Change(
        "a field is renamed and its old name an alias",
        record(A),
        record(field("z", "string", aliases=["a"])),
        "backward",
    ),
    Change("a record is renamed", record(A), record(A, name="S"), "neither"),
    Change(
        "a record is renamed and its old name an alias",
        record(A),
        record(A, name="S", aliases=["R"]),
        "backward",
    ),
    Change("int becomes long", record(field("a", "int")), record(field("a", "long")), "backward"),
    Change("long becomes int", record(field("a", "long")), record(field("a", "int")), "forward"),
    Change("int becomes double", "int", "double", "backward"),
    Change("long becomes float", "long", "float", "backward"),
    Change("string becomes bytes", "string", "bytes", "both"),
    Change("string becomes int", "string", "int", "neither"),
    Change("boolean becomes int", "boolean", "int", "neither"),
    Change("a type becomes nullable", record(A), record(field("a", NULLABLE)), "backward"),
    Change("a type stops being nullable", record(field("a", NULLABLE)), record(A), "forward"),
    Change("a union gets a branch", NULLABLE, [*NULLABLE, "int"], "backward"),
    Change("a union loses a branch", [*NULLABLE, "int"], NULLABLE, "forward"),
    Change("a union changes its order", ["null", "string"], ["string", "null"], "both"),
    Change("an enum gets a symbol", enum("A"), enum("A", "B"), "backward"),
    Change("an enum loses a symbol", enum("A", "B"), enum("A"), "forward"),
    Change("an enum with default loses a symbol", enum("A", "B"), enum("A", default="A"), "both"),
    Change("a fixed changes its size", fixed(4), fixed(8), "neither"),
    Change("a fixed changes its name", fixed(4), fixed(4, "G"), "neither"),
    Change(
        "items of an array are promoted",
        {"type": "array", "items": "int"},
        {"type": "array", "items": "long"},
        "backward",
    ),
    Change(
        "values of a map become strings",
        {"type": "map", "values": "int"},
        {"type": "map", "values": "string"},
        "neither",
    ),
    Change(
        "a record inside gets a field without a default",
        record(field("a", INNER)),
        record(field("a", INNER_MORE)),
        "forward",
    ),
    Change(
        "a record inside gets a field with a default",
        record(field("a", INNER)),
        record(field("a", INNER_DEFAULT)),
        "both",
    ),
)
