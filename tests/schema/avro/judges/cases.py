"""Random Avro schemas, values of them, and what each value is in our columns."""

from __future__ import annotations

import string
import struct
import uuid
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

from penstock.schema.avro.columns import branch_columns
from penstock.schema.avro.nodes import (
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Logical,
    Map,
    Node,
    Primitive,
    Record,
    Union,
)
from penstock.schema.avro.unions import NULL, Tagged, branch_name, only_branch

Json: TypeAlias = Any
"""What JSON says, or a value as our own writer takes it."""

PRIMITIVES = ("boolean", "int", "long", "float", "double", "bytes", "string")
LOGICAL = (
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "time-micros"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "long", "logicalType": "timestamp-nanos"},
    {"type": "long", "logicalType": "local-timestamp-millis"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10},
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PER_SECOND = {"millis": 10**3, "micros": 10**6, "nanos": 10**9}


class Schemas:
    """Makes schemas as JSON; names are numbered, so that none is defined twice."""

    def __init__(self, random: Random, *, depth: int = 3) -> None:
        self.random = random
        self.depth = depth
        self.names: list[str] = []

    def record(self, depth: int | None = None) -> dict[str, Any]:
        depth = self.depth if depth is None else depth
        name = self._name("R")
        fields = [
            {"name": f"f{at}", "type": self.type(depth - 1)}
            for at in range(self.random.randint(0 if depth < self.depth else 1, 5))
        ]
        return {"type": "record", "name": name, "fields": fields}

    def type(self, depth: int) -> Json:
        kinds = ["primitive"] * 5 + ["logical", "enum", "fixed", "optional", "optional"]
        if depth > 0:
            kinds += ["record", "array", "map", "union"]
        return self.of(self.random.choice(kinds), depth)

    def of(self, kind: str, depth: int) -> Json:  # noqa: PLR0911  # one a kind
        match kind:
            case "primitive":
                return self.random.choice(PRIMITIVES)
            case "logical":
                return dict(self.random.choice(LOGICAL))
            case "enum":
                symbols = [f"S{at}" for at in range(self.random.randint(1, 4))]
                return {"type": "enum", "name": self._name("E"), "symbols": symbols}
            case "fixed":
                return self._fixed()
            case "array":
                return {"type": "array", "items": self.type(depth - 1)}
            case "map":
                return {"type": "map", "values": self.type(depth - 1)}
            case "optional":
                branch = self._no_union(depth - 1)
                return self.random.choice([["null", branch], [branch, "null"]])
            case "union":
                return self._union(depth)
            case _:
                return self.record(depth)

    def _fixed(self) -> Json:
        found: dict[str, Any] = {"type": "fixed", "name": self._name("F")}
        match self.random.randrange(4):
            case 0:
                return found | {"size": 16, "logicalType": "uuid"}
            case 1:
                size = self.random.choice([5, 8, 12, 20])
                digits = {"precision": 9, "scale": 3}
                return found | {"size": size, "logicalType": "decimal", **digits}
            case _:
                return found | {"size": self.random.randint(1, 20)}

    def _no_union(self, depth: int) -> Json:
        while True:
            found = self.type(depth)
            if not isinstance(found, list) and found != "null":
                return found

    def _union(self, depth: int) -> Json:
        branches: dict[str, Any] = {}
        for _ in range(self.random.randint(2, 4)):
            found = "null" if self.random.random() < 0.3 else self._no_union(depth - 1)
            key = found if isinstance(found, str) else found.get("name", found["type"])
            branches.setdefault(key, found)
        return list(branches.values())

    def _name(self, kind: str) -> str:
        name = f"{kind}{len(self.names)}"
        self.names.append(name)
        return name if self.random.random() < 0.7 else f"space.{name}"


class Values:
    """Makes values of a schema, as `DatumWriter` takes them."""

    def __init__(self, random: Random, schema: AvroSchema) -> None:
        self.random = random
        self.schema = schema

    def rows(self, count: int) -> list[Any]:
        return [self.value(self.schema.root) for _ in range(count)]

    def value(self, node: Node) -> Json:  # noqa: PLR0911  # one a kind
        found = self.schema.follow(node)
        match found:
            case Primitive():
                return self._primitive(found)
            case Fixed():
                return self._fixed(found)
            case Enum():
                return self.random.choice(found.symbols)
            case Array():
                return [self.value(found.items) for _ in range(self._length())]
            case Map():
                return {self._text(): self.value(found.values) for _ in range(self._length())}
            case Union():
                branch = self.random.choice(found.branches)
                value = self.value(branch)
                plain = branch == NULL or only_branch(found) is not None
                return value if plain else Tagged(branch_name(branch), value)
            case Record():
                return {item.name: self.value(item.type) for item in found.fields}

    def _length(self) -> int:
        return self.random.choice([0, 0, 1, 1, 2, 3, 5, 9])

    def _text(self) -> str:
        letters = string.ascii_letters + "äß€😀 "
        size = self.random.choice([0, 1, 3, 8, 13, 40, 70])
        return "".join(self.random.choice(letters) for _ in range(size))

    def _fixed(self, node: Fixed) -> bytes:
        if node.logical is not None and node.logical.name == "decimal":
            return self._digits(node.logical).to_bytes(node.size, "big", signed=True)
        return self.random.randbytes(node.size)

    def _digits(self, logical: Logical) -> int:
        most = int(10 ** self.random.randint(1, logical.precision) - 1)
        return self.random.choice([0, 1, -1, most, -most, self.random.randint(-most, most)])

    def _primitive(self, node: Primitive) -> Json:  # noqa: PLR0911  # one a kind
        if node.logical is not None:
            return self._meant(node.logical)
        match node.name:
            case "null":
                return None
            case "boolean":
                return self.random.random() < 0.5
            case "int":
                return self._whole(31)
            case "long":
                return self._whole(63)
            case "float":
                return struct.unpack("<f", struct.pack("<f", self.random.uniform(-1e9, 1e9)))[0]
            case "double":
                return self.random.choice([0.0, -0.0, 1.5, float("inf"), self.random.gauss(0, 1e9)])
            case "bytes":
                return self.random.randbytes(self.random.choice([0, 1, 5, 13, 64]))
            case _:
                return self._text()

    def _whole(self, bits: int) -> int:
        most = 1 << self.random.randint(1, bits)
        return self.random.choice([0, -1, most - 1, -most, self.random.randint(-most, most - 1)])

    def _meant(self, logical: Logical) -> Json:
        unit = _PER_SECOND.get(logical.name.rpartition("-")[2], 0) // 1000
        match logical.name:
            case "date":
                return self.random.randint(-50_000, 50_000)
            case "uuid":
                return str(uuid.UUID(int=self.random.getrandbits(128)))
            case "decimal":
                value = self._digits(logical)
                size = (value + (value < 0)).bit_length() // 8 + 1
                return value.to_bytes(size, "big", signed=True)
            case "time-millis" | "time-micros":
                return self.random.randrange(86_400_000) * unit
            case _:
                # Whole milliseconds, since a column has no more.
                return self.random.randint(-(10**12), 4 * 10**12) * unit


def column_value(schema: AvroSchema, node: Node, value: Json) -> Json:
    """Give what a value is in our columns."""
    found = schema.follow(node)
    match found:
        case Primitive() | Fixed():
            return _meaning(found, value)
        case Enum():
            return value
        case Array():
            return [column_value(schema, found.items, item) for item in value]
        case Map():
            return [(key, column_value(schema, found.values, v)) for key, v in value.items()]
        case Union():
            return _branch_value(schema, found, value)
        case Record():
            return {f.name: column_value(schema, f.type, value[f.name]) for f in found.fields}


def row_of(schema: AvroSchema, value: Json) -> dict[str, Any]:
    """Give the row of columns that a value is."""
    root = schema.follow(schema.root)
    found = column_value(schema, root, value)
    row: dict[str, Any] = found if isinstance(root, Record) else {"value": found}
    return row


def _branch_value(schema: AvroSchema, union: Union, value: Json) -> Json:
    if value is None:
        return None
    only = only_branch(union)
    if only is not None:
        return column_value(schema, only, value)
    names = branch_columns(union)
    row: dict[str, Any] = {name: None for name in names if name is not None}
    for name, branch in zip(names, union.branches, strict=True):
        if name is not None and branch_name(branch) == value.branch:
            row[name] = column_value(schema, branch, value.value)
    return row


def _meaning(node: Primitive | Fixed, value: Json) -> Json:
    if node.logical is None or node.logical.name == "duration":
        return value
    name = node.logical.name
    if name == "decimal":
        whole = int.from_bytes(value, "big", signed=True)
        return Decimal(f"{whole}E-{node.logical.scale}")
    if name == "uuid":
        return str(uuid.UUID(bytes=value)) if isinstance(value, bytes) else value
    if name == "date":
        return date(1970, 1, 1) + timedelta(days=value)
    milliseconds = value * 1000 // _PER_SECOND[name.rpartition("-")[2]]
    if name.startswith("time-"):
        return (_EPOCH + timedelta(milliseconds=milliseconds)).time()
    return _EPOCH + timedelta(milliseconds=milliseconds)


def bits(value: Json) -> Json:
    """Give a value in which floats are equal only if their bits are."""
    match value:
        case float():
            return ("float", struct.pack("<d", value))
        case dict():
            return {key: bits(item) for key, item in value.items()}
        case list():
            return [bits(item) for item in value]
        case tuple():
            return tuple(bits(item) for item in value)
        case _:
            return value
