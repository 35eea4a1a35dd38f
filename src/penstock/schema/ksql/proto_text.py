"""The Protobuf message of columns, as ksqlDB writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type

_MESSAGE = "ConnectDefault1"
_PLAIN: Mapping[Kind, tuple[str, str]] = {
    Kind.BOOLEAN: ("bool", "BoolValue"),
    Kind.INT32: ("int32", "Int32Value"),
    Kind.INT64: ("int64", "Int64Value"),
    Kind.FLOAT64: ("double", "DoubleValue"),
    Kind.STRING: ("string", "StringValue"),
    Kind.BYTES: ("bytes", "BytesValue"),
}
_TIMESTAMP = "google.protobuf.Timestamp"


def protobuf_holds(type_: Type) -> bool:
    """Whether a message has a field for a type: not for lists of lists, decimals and dates."""
    if type_.kind in (Kind.ARRAY, Kind.MAP) and type_.item is not None:
        return type_.item.kind not in (Kind.ARRAY, Kind.MAP) and protobuf_holds(type_.item)
    if type_.kind is Kind.STRUCT:
        return all(protobuf_holds(part) for _, part in type_.fields)
    return type_.kind in _PLAIN or type_.kind is Kind.TIMESTAMP


def proto_of(schema: Schema, full_name: str = "", nulls: str = "") -> str:
    """Give the file of a message with these columns.

    `nulls` is `OPTIONAL` or `WRAPPER` where fields show that they are null; without, one that is
    null is read as 0 or an empty text.
    """
    package, _, name = (full_name or _MESSAGE).rpartition(".")
    named = tuple((item.name, item.type) for item in schema.fields)
    writing = _Writing(nulls.upper())
    body = list(writing.message(name, named, ""))
    head = ['syntax = "proto3";', *([f"package {package};"] if package else [])]
    return "\n".join([*head, *sorted(writing.imports), *body, ""])


@dataclass(slots=True)
class _Writing:
    nulls: str
    imports: set[str] = field(default_factory=set)

    def message(self, name: str, named: tuple[tuple[str, Type], ...], pad: str) -> Iterator[str]:
        """Write a message, those inside of it first."""
        yield f"{pad}message {name} {{"
        inner = f"{pad}  "
        for part, type_ in named:
            struct = type_ if type_.item is None else type_.item
            if struct.kind is Kind.STRUCT:
                yield from self.message(_inner_name(part), struct.fields, inner)
        for number, (part, type_) in enumerate(named, 1):
            yield f"{inner}{self._field(part, type_)} {part} = {number};"
        yield f"{pad}}}"

    def _field(self, name: str, type_: Type) -> str:
        if type_.kind is Kind.ARRAY and type_.item is not None:
            return f"repeated {self._plain(name, type_.item)}"
        if type_.kind is Kind.MAP and type_.item is not None:
            return f"map<string, {self._plain(name, type_.item)}>"
        if type_.kind in _PLAIN and self.nulls == "WRAPPER":
            self.imports.add('import "google/protobuf/wrappers.proto";')
            return f"google.protobuf.{_PLAIN[type_.kind][1]}"
        optional = "optional " if type_.kind in _PLAIN and self.nulls == "OPTIONAL" else ""
        return f"{optional}{self._plain(name, type_)}"

    def _plain(self, name: str, type_: Type) -> str:
        if type_.kind is Kind.STRUCT:
            return _inner_name(name)
        if type_.kind is Kind.TIMESTAMP:
            self.imports.add('import "google/protobuf/timestamp.proto";')
            return _TIMESTAMP
        return _PLAIN[type_.kind][0]


def _inner_name(field_name: str) -> str:
    return f"{field_name}_Message"
