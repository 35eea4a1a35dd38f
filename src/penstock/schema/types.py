"""The types a column can have, free of any library's own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override


class Kind(StrEnum):
    """What the values of a column are."""

    BOOLEAN = "boolean"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT64 = "float64"
    STRING = "string"
    BYTES = "bytes"
    TIMESTAMP = "timestamp"
    DATE = "date"
    TIME = "time"
    DECIMAL = "decimal"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a column; `TIMESTAMP` counts milliseconds since 1970 in UTC, `TIME` of a day."""

    kind: Kind
    item: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()
    precision: int = 0
    scale: int = 0
    key: Type | None = None
    """Of a map whose keys are not strings: what they are."""

    @property
    def numeric(self) -> bool:
        """Whether one can calculate with it."""
        return self.kind in (Kind.INT32, Kind.INT64, Kind.FLOAT64, Kind.DECIMAL)

    @property
    def integral(self) -> bool:
        """Whether it holds whole numbers only."""
        return self.kind in (Kind.INT32, Kind.INT64)

    def holds(self, kind: Kind) -> bool:
        """Whether it, or something inside of it, is of a kind."""
        inner = [part for _, part in self.fields]
        if self.item is not None:
            inner.append(self.item)
        return self.kind is kind or any(part.holds(kind) for part in inner)

    @override
    def __str__(self) -> str:
        if self.kind is Kind.DECIMAL:
            return f"decimal({self.precision}, {self.scale})"
        if self.kind is Kind.STRUCT:
            parts = (f"{quoted_name(name)}: {kind}" for name, kind in self.fields)
            return f"struct<{', '.join(parts)}>"
        if self.key is not None:
            return f"map<{self.key}, {self.item}>"
        return self.kind.value if self.item is None else f"{self.kind.value}<{self.item}>"


def quoted_name(name: str) -> str:
    """Give a field's name as text holds it: between backquotes where it is no plain word."""
    plain = name.isascii() and name.isidentifier()
    return name if plain else f"`{name.replace('`', '``')}`"


BOOLEAN = Type(Kind.BOOLEAN)
INT32 = Type(Kind.INT32)
INT64 = Type(Kind.INT64)
FLOAT64 = Type(Kind.FLOAT64)
STRING = Type(Kind.STRING)
BYTES = Type(Kind.BYTES)
TIMESTAMP = Type(Kind.TIMESTAMP)
DATE = Type(Kind.DATE)
TIME = Type(Kind.TIME)


def array_of(item: Type) -> Type:
    """Give the type of a list of such items."""
    return Type(Kind.ARRAY, item)


def map_of(item: Type, key: Type | None = None) -> Type:
    """Give the type of a map from keys, mostly strings, to such items."""
    return Type(Kind.MAP, item, key=None if key == STRING else key)


def struct_of(**fields: Type) -> Type:
    """Give the type of a value with named parts."""
    return Type(Kind.STRUCT, fields=tuple(fields.items()))


def decimal_of(precision: int, scale: int) -> Type:
    """Give the type of an exact decimal number."""
    return Type(Kind.DECIMAL, precision=precision, scale=scale)
