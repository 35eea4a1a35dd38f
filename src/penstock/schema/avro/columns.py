"""Avro schemas as columns, and columns as Avro schemas."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import SchemaError
from penstock.schema.avro.depth import deep_schema, depth_guarded
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
from penstock.schema.avro.parse import is_name
from penstock.schema.avro.unions import NULL, branch_name, only_branch
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    Kind,
    Type,
    array_of,
    decimal_of,
    map_of,
)

VALUE = "value"
"""The one column of a schema whose root is no record."""

MOST_DIGITS = 38
"""A decimal with more digits than Arrow's is read as its bytes."""

MOST_PARTS = 20_000
"""So many columns and parts of columns at most: named types can stand in for any number."""

_PLAIN = {
    # A column that can only be null is of the type that everything can be read as.
    "null": STRING,
    "boolean": BOOLEAN,
    "int": INT32,
    "long": INT64,
    "float": FLOAT64,
    "double": FLOAT64,
    "bytes": BYTES,
    "string": STRING,
}
_LOGICAL = {"date": DATE, "time-millis": TIME, "time-micros": TIME, "uuid": STRING}


def columns_of(schema: AvroSchema) -> Schema:
    """Give the columns that values of a schema are read as."""
    reading = _Reading(schema)
    root = schema.follow(schema.root)
    with depth_guarded(deep_schema):
        if not isinstance(root, Record):
            return Schema((reading.column(VALUE, root),))
        opened = reading.opened(root)
        return Schema(tuple(opened.column(item.name, item.type) for item in root.fields))


def branch_columns(union: Union) -> tuple[str | None, ...]:
    """Give the name of each branch's part in a union's column; none for null."""
    full = [branch_name(branch) for branch in union.branches]
    short = [name.rpartition(".")[2] for name in full]
    seen = Counter(short)
    return tuple(
        None if name == "null" else last if seen[last] == 1 else name.replace(".", "_")
        for name, last in zip(full, short, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads types; `inside` are the records that are being read."""

    schema: AvroSchema
    inside: frozenset[str] = frozenset()
    known: dict[str, tuple[Type, int]] = field(default_factory=dict)
    parts: list[int] = field(default_factory=lambda: [0])

    def opened(self, record: Record) -> _Reading:
        return _Reading(self.schema, self.inside | {record.name}, self.known, self.parts)

    def column(self, name: str, node: Node) -> Field:
        found = self.schema.follow(node)
        nullable = found == NULL or (isinstance(found, Union) and NULL in found.branches)
        return Field(name, self.type(node), nullable)

    def type(self, node: Node) -> Type:  # noqa: PLR0911  # one a kind of type
        self._count(1)
        match self.schema.follow(node):
            case Primitive(name=name, logical=logical):
                return _with_meaning(_PLAIN[name], logical)
            case Fixed(logical=logical):
                return _with_meaning(BYTES, logical)
            case Enum():
                return STRING
            case Array(items=items):
                return array_of(self.type(items))
            case Map(values=values):
                return map_of(self.type(values))
            case Union() as union:
                return self._union(union)
            case Record() as record:
                return self._record(record)

    def _union(self, union: Union) -> Type:
        only = only_branch(union)
        if only is not None:
            return self.type(only)
        if all(branch == NULL for branch in union.branches):
            return STRING
        named = zip(branch_columns(union), union.branches, strict=True)
        fields = tuple((name, self.type(branch)) for name, branch in named if name is not None)
        return Type(Kind.STRUCT, fields=fields)

    def _record(self, record: Record) -> Type:
        if record.name in self.inside:
            raise SchemaError(
                "AVRO_RECURSIVE",
                f'the record "{record.name}" holds itself, so it has no end of columns',
                hint="Read the topic as bytes, or use a schema that does not hold itself.",
            )
        if record.name not in self.known:
            before = self.parts[0]
            opened = self.opened(record)
            fields = tuple((item.name, opened.type(item.type)) for item in record.fields)
            type_ = Type(Kind.STRUCT, fields=fields)
            self.known[record.name] = (type_, self.parts[0] - before)
        else:
            self._count(self.known[record.name][1])
        return self.known[record.name][0]

    def _count(self, parts: int) -> None:
        self.parts[0] += parts
        if self.parts[0] > MOST_PARTS:
            raise SchemaError(
                "AVRO_WIDE",
                f"the schema has more than {MOST_PARTS} columns and parts of columns",
                hint="Read the topic as bytes, or use a schema with fewer fields.",
            )


def _with_meaning(plain: Type, logical: Logical | None) -> Type:
    if logical is None:
        return plain
    if logical.name == "decimal":
        fits = logical.precision <= MOST_DIGITS
        return decimal_of(logical.precision, logical.scale) if fits else plain
    if "timestamp" in logical.name:
        return TIMESTAMP
    return _LOGICAL.get(logical.name, plain)


_WRITTEN: dict[Kind, Any] = {
    Kind.BOOLEAN: "boolean",
    Kind.INT32: "int",
    Kind.INT64: "long",
    Kind.FLOAT64: "double",
    Kind.STRING: "string",
    Kind.BYTES: "bytes",
    Kind.TIMESTAMP: {"type": "long", "logicalType": "timestamp-millis"},
    Kind.DATE: {"type": "int", "logicalType": "date"},
    Kind.TIME: {"type": "int", "logicalType": "time-millis"},
}


def avro_of(columns: Schema, name: str) -> str:
    """Give the text of an Avro record with these columns; what may be null has null as default."""
    for part in name.split("."):
        _allowed(part, f'the record "{name}"')
    writing = _Writing({name.rpartition(".")[2]})
    fields = [
        writing.field(item.name, item.type, name.rpartition(".")[2], nullable=item.nullable)
        for item in columns.fields
    ]
    return json.dumps({"type": "record", "name": name, "fields": fields})


@dataclass(frozen=True, slots=True)
class _Writing:
    """Writes types; `taken` are the names of records that are given away."""

    taken: set[str]

    def field(self, name: str, type_: Type, inside: str, *, nullable: bool = True) -> Any:  # noqa: ANN401
        _allowed(name, f'the column "{name}"')
        written = self._type(type_, f"{inside}_{name}")
        if not nullable:
            return {"name": name, "type": written}
        return {"name": name, "type": ["null", written], "default": None}

    def _type(self, type_: Type, name: str) -> Any:  # noqa: ANN401  # JSON
        if type_.kind is Kind.DECIMAL:
            digits = {"precision": type_.precision, "scale": type_.scale}
            return {"type": "bytes", "logicalType": "decimal", **digits}
        # What is inside of a column may always be null, as our types say no more.
        if type_.kind is Kind.ARRAY and type_.item is not None:
            return {"type": "array", "items": ["null", self._type(type_.item, name)]}
        if type_.kind is Kind.MAP and type_.item is not None:
            return {"type": "map", "values": ["null", self._type(type_.item, name)]}
        if type_.kind is Kind.STRUCT:
            own = self._new(name)
            fields = [self.field(part, inner, own) for part, inner in type_.fields]
            return {"type": "record", "name": own, "fields": fields}
        return _WRITTEN[type_.kind]

    def _new(self, name: str) -> str:
        tries = (name if n == 1 else f"{name}_{n}" for n in range(1, len(self.taken) + 2))
        found = next(one for one in tries if one not in self.taken)
        self.taken.add(found)
        return found


def _allowed(name: str, whose: str) -> None:
    if not is_name(name):
        raise SchemaError(
            "AVRO_NAME",
            f"{whose} has a name that Avro does not allow",
            hint="Rename it: letters, digits and _, not beginning with a digit.",
        )
