"""Types as text: `int64`, `array<string>`, `decimal(10, 2)`, `struct<a: int64, b: date>`."""

from __future__ import annotations

import re

from penstock.errors import SchemaError, did_you_mean
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
    Type,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)

_PLAIN = {
    "boolean": BOOLEAN, "bool": BOOLEAN,
    "int32": INT32, "int": INT32, "integer": INT32, "smallint": INT32, "tinyint": INT32,
    "int64": INT64, "bigint": INT64, "long": INT64,
    "float64": FLOAT64, "double": FLOAT64, "float": FLOAT64, "real": FLOAT64,
    "string": STRING, "str": STRING, "text": STRING, "varchar": STRING,
    "bytes": BYTES, "binary": BYTES,
    "timestamp": TIMESTAMP, "datetime": TIMESTAMP,
    "date": DATE,
    "time": TIME,
}  # fmt: skip
_NESTED = ("array", "decimal", "map", "struct")
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|`(?:[^`]|``)+`|\d+|[<>(),:])")
_LARGEST = 38


def parse_type(text: str) -> Type:
    """Read a type as `str(type)` writes it, or by its SQL name."""
    reader = _Reader(text)
    found = reader.type()
    reader.expect("")
    return found


class _Reader:
    """Reads one type from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0

    def type(self) -> Type:
        name = self._take().lower()
        if name in _PLAIN:
            return _PLAIN[name]
        if name not in _NESTED:
            known = [*_PLAIN, *_NESTED]
            hint = did_you_mean(name, known) or f"The types: {', '.join(known)}."
            raise self._refused(f'type "{name}" does not exist', hint)
        return self._decimal() if name == "decimal" else self._nested(name)

    def expect(self, sign: str) -> None:
        if self._take() != sign:
            raise self._refused(f'"{sign}" is expected' if sign else "it should end")

    def _nested(self, name: str) -> Type:
        self.expect("<")
        if name == "struct":
            found = struct_of(**self._fields())
        elif name == "array":
            found = array_of(self.type())
        else:
            found = self._map()
        self.expect(">")
        return found

    def _map(self) -> Type:
        first = self.type()
        if self._peek() != ",":
            return map_of(first)
        if first != STRING:
            raise self._refused(f"the keys of a map are strings, not {first}")
        self.expect(",")
        return map_of(self.type())

    def _fields(self) -> dict[str, Type]:
        found: dict[str, Type] = {}
        while True:
            name = self._name()
            # SQL puts nothing between a field's name and its type.
            if self._peek() == ":":
                self.expect(":")
            found[name] = self.type()
            if self._peek() != ",":
                return found
            self.expect(",")

    def _name(self) -> str:
        name = self._take()
        if name.startswith("`"):
            return name[1:-1].replace("``", "`")
        if not name.isidentifier():
            raise self._refused("a name is expected")
        return name

    def _decimal(self) -> Type:
        self.expect("(")
        precision = self._number()
        self.expect(",")
        scale = self._number()
        self.expect(")")
        if not (0 < precision <= _LARGEST and scale <= precision):
            raise self._refused(f"a decimal has 1 to {_LARGEST} digits")
        return decimal_of(precision, scale)

    def _number(self) -> int:
        found = self._take()
        if not found.isdecimal():
            raise self._refused("a number is expected")
        return int(found)

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        found = self._peek()
        self._at += 1
        return found

    def _refused(self, why: str, hint: str = "") -> SchemaError:
        return SchemaError(
            "TYPE_TEXT",
            f'type text "{self._text}": {why}',
            hint=hint or 'Write it as "int64", "array<string>" or "decimal(10, 2)".',
        )


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        # What is no token stands for itself and is refused where it turns up.
        found.append(match.group(1) if match else text[at:])
        at = match.end() if match else len(text)
    return found
