"""The columns that a Protobuf message is read as.

An enum is text: its symbol. A message is a struct, a timestamp and the wrappers of single values
what they stand for, `Struct`, `Value` and `ListValue` the text of their JSON. A message without
fields is true where it is set. The branches of a oneof are columns of which at most one is not
null. Keys of maps are text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from penstock.errors import SchemaError
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
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

TIMESTAMP_NAME = "google.protobuf.Timestamp"
JSON_NAMES = ("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue")
WRAPPERS = {
    f"google.protobuf.{word}Value": type_
    for word, type_ in {
        "Double": FLOAT64, "Float": FLOAT64, "Int64": INT64, "UInt64": INT64, "Int32": INT32,
        "UInt32": INT64, "Bool": BOOLEAN, "String": STRING, "Bytes": BYTES,
    }.items()
}  # fmt: skip

MOST_PARTS = 20_000
"""So many columns and parts of columns at most: messages can stand in for any number."""

_SCALARS = {
    FieldDescriptor.TYPE_DOUBLE: FLOAT64, FieldDescriptor.TYPE_FLOAT: FLOAT64,
    FieldDescriptor.TYPE_INT64: INT64, FieldDescriptor.TYPE_UINT64: INT64,
    FieldDescriptor.TYPE_INT32: INT32, FieldDescriptor.TYPE_FIXED64: INT64,
    FieldDescriptor.TYPE_FIXED32: INT64, FieldDescriptor.TYPE_BOOL: BOOLEAN,
    FieldDescriptor.TYPE_STRING: STRING, FieldDescriptor.TYPE_BYTES: BYTES,
    FieldDescriptor.TYPE_UINT32: INT64, FieldDescriptor.TYPE_ENUM: STRING,
    FieldDescriptor.TYPE_SFIXED32: INT32, FieldDescriptor.TYPE_SFIXED64: INT64,
    FieldDescriptor.TYPE_SINT32: INT32, FieldDescriptor.TYPE_SINT64: INT64,
}  # fmt: skip


def columns_of(message: Descriptor) -> Schema:
    """Give the columns; a message that holds itself has none."""
    reading = _Reading(frozenset({message.full_name}))
    if not message.fields:
        raise SchemaError(
            "SCHEMA_EMPTY",
            f'the message "{message.full_name}" has no fields, and so no columns',
            hint="Name another message of the schema, or read the topic as bytes.",
        )
    return Schema(
        tuple(
            Field(part.name, reading.field_type(part), bool(part.has_presence))
            for part in message.fields
        )
    )


def is_map(part: FieldDescriptor) -> bool:
    """Say whether a field is a map."""
    return part.message_type is not None and bool(part.message_type.GetOptions().map_entry)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads types; `inside` are the messages that are being read."""

    inside: frozenset[str]
    parts: list[int] = field(default_factory=lambda: [0])

    def field_type(self, part: FieldDescriptor) -> Type:
        if is_map(part):
            return map_of(self.value_type(part.message_type.fields_by_name["value"]))
        found = self.value_type(part)
        return array_of(found) if part.is_repeated else found

    def value_type(self, part: FieldDescriptor) -> Type:
        self._count()
        message = part.message_type
        if message is None:
            return _SCALARS[part.type]
        if message.full_name == TIMESTAMP_NAME:
            return TIMESTAMP
        if message.full_name in JSON_NAMES:
            return STRING
        if message.full_name in WRAPPERS:
            return WRAPPERS[message.full_name]
        return self._struct(message) if message.fields else BOOLEAN

    def _struct(self, message: Descriptor) -> Type:
        if message.full_name in self.inside:
            raise SchemaError(
                "SCHEMA_RECURSIVE",
                f'the message "{message.full_name}" holds itself, so it has no end of columns',
                hint="Read the topic as bytes, or use a schema that does not hold itself.",
            )
        inner = _Reading(self.inside | {message.full_name}, self.parts)
        fields = ((part.name, inner.field_type(part)) for part in message.fields)
        return Type(Kind.STRUCT, fields=tuple(fields))

    def _count(self) -> None:
        self.parts[0] += 1
        if self.parts[0] > MOST_PARTS:
            raise SchemaError(
                "SCHEMA_WIDE",
                f"the schema has more than {MOST_PARTS} columns and parts of columns",
                hint="Read the topic as bytes, or use a schema with fewer fields.",
            )
