"""SQL's types by their names, and names of types as SQL writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import ArrayType, MapType, NamedType, SqlType, StructType
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

_NAMED: Mapping[str, Type] = {
    "BOOLEAN": BOOLEAN,
    "INT": INT32,
    "INTEGER": INT32,
    "BIGINT": INT64,
    "DOUBLE": FLOAT64,
    "STRING": STRING,
    "VARCHAR": STRING,
    "BYTES": BYTES,
    "DATE": DATE,
    "TIME": TIME,
    "TIMESTAMP": TIMESTAMP,
}
_DECIMALS = ("DECIMAL", "DEC", "NUMERIC")
_WORDS: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INT32: "INTEGER",
    Kind.INT64: "BIGINT",
    Kind.FLOAT64: "DOUBLE",
    Kind.STRING: "STRING",
    Kind.BYTES: "BYTES",
    Kind.DATE: "DATE",
    Kind.TIME: "TIME",
    Kind.TIMESTAMP: "TIMESTAMP",
}
MOST_DIGITS = 38


def sql_type(said: SqlType, own: Mapping[str, Type], source: SourceText) -> Type:
    """Give the type that a text names; `own` are the user's types."""
    match said:
        case ArrayType(item):
            return array_of(sql_type(item, own, source))
        case MapType(key, item):
            keys = sql_type(key, own, source)
            return map_of(sql_type(item, own, source), None if keys == STRING else keys)
        case StructType(fields):
            names = [field.name.text for field in fields]
            for place, name in enumerate(names):
                if name in names[:place]:
                    raise SqlError(
                        "SQL_TYPE",
                        source.shown(f'a struct has two fields "{name}"', fields[place].span),
                        hint="Give one of them another name.",
                    )
            parts = (sql_type(field.type, own, source) for field in fields)
            return Type(Kind.STRUCT, fields=tuple(zip(names, parts, strict=True)))
        case NamedType():
            return _named(said, own, source)


def _named(said: NamedType, own: Mapping[str, Type], source: SourceText) -> Type:
    name = said.name.text
    if name in own:
        return own[name]
    upper = name.upper()
    if upper in _DECIMALS:
        return _decimal(said, source)
    if upper in _NAMED:
        return _NAMED[upper]
    raise SqlError(
        "SQL_TYPE",
        source.shown(f'type "{name}" does not exist', said.span),
        hint=did_you_mean(upper, [*_NAMED, "DECIMAL", *own])
        or "Use a built-in type, or make one with CREATE TYPE.",
    )


def _decimal(said: NamedType, source: SourceText) -> Type:
    given = [part for part in said.parameters if isinstance(part, int)]
    if len(given) not in (1, 2) or len(given) != len(said.parameters):
        raise SqlError(
            "SQL_TYPE",
            source.shown("a decimal has no precision and scale", said.span),
            hint="Write DECIMAL(10, 2).",
        )
    precision, scale = given[0], given[1] if len(given) > 1 else 0
    if not 1 <= precision <= MOST_DIGITS or not 0 <= scale <= precision:
        raise SqlError(
            "SQL_TYPE",
            source.shown(f"DECIMAL({precision}, {scale}) cannot be", said.span),
            hint=f"Give a precision from 1 to {MOST_DIGITS}, and a scale from 0 to the precision.",
        )
    return decimal_of(precision, scale)


def type_text(type_: Type | None) -> str:
    """Write a type as SQL does; none is the type of NULL."""
    if type_ is None:
        return "NULL"
    nested: Mapping[Kind, Callable[[], str]] = {
        Kind.ARRAY: lambda: f"ARRAY<{type_text(type_.item)}>",
        Kind.MAP: lambda: f"MAP<{type_text(type_.key or STRING)}, {type_text(type_.item)}>",
        Kind.DECIMAL: lambda: f"DECIMAL({type_.precision}, {type_.scale})",
        Kind.STRUCT: lambda: f"STRUCT<{_fields_text(type_)}>",
    }
    return nested[type_.kind]() if type_.kind in nested else _WORDS[type_.kind]


def _fields_text(type_: Type) -> str:
    return ", ".join(f"{_quoted(name)} {type_text(part)}" for name, part in type_.fields)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
