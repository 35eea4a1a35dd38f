"""Schemas as Python says them: dictionaries, dataclasses and other annotated classes.

Every column may be null, since nothing holds a topic to a class: `expect` asks for more.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from inspect import isclass
from typing import Annotated, Any, ClassVar, Literal, NotRequired, Required, TypeAlias, Union

from penstock.errors import SchemaError
from penstock.schema.schema import Field, Schema
from penstock.schema.text import parse_type
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
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

SchemaLike: TypeAlias = Schema | Mapping[str, Any] | type[Any] | object
"""A `Schema`, a dictionary of names and types, an annotated class, or an Arrow schema."""

_PLAIN: Mapping[object, Type] = {
    bool: BOOLEAN,
    int: INT64,
    float: FLOAT64,
    str: STRING,
    bytes: BYTES,
    datetime: TIMESTAMP,
    date: DATE,
    time: TIME,
    Decimal: decimal_of(38, 18),
}
_MAP_PARTS = 2


def schema_of(value: SchemaLike) -> Schema:
    """Read a schema from whatever describes one."""
    if isinstance(value, Schema):
        return value
    if isinstance(value, Mapping):
        return Schema(tuple(Field(str(name), type_of(kind)) for name, kind in value.items()))
    if isclass(value) and value not in _PLAIN and (hints := _hints(value)):
        return Schema(tuple(Field(name, type_of(hint)) for name, hint in hints.items()))
    if hasattr(value, "__arrow_c_schema__"):
        return _from_arrow(value)
    raise SchemaError(
        "SCHEMA_FORM",
        f"a schema is given as {_named(value)}",
        hint="Give a dictionary of names and types, an annotated class, or an Arrow schema.",
    )


def type_of(hint: object) -> Type:
    """Read a type from an annotation, its text, or a type of our own."""
    hint = _without_null(hint)
    if isinstance(hint, Type):
        return hint
    if isinstance(hint, str):
        return parse_type(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    found = _generic(hint) or _class(hint)
    if found is None:
        raise SchemaError(
            "TYPE_ANNOTATION",
            f"the annotation {_named(hint)} has no type of a column",
            hint='Use a Python type, list[...], dict[str, ...], or text such as "int32".',
        )
    return found


def result_of(function: Callable[..., Any], *, many: bool = False) -> Schema | None:
    """Read the schema of a function's rows from its return annotation, if it says one."""
    try:
        hint = typing.get_type_hints(function, include_extras=True).get("return")
    except (NameError, TypeError):
        return None
    if many:
        hint = next(iter(typing.get_args(hint)), None)
    hint = _without_null(hint)
    if not isclass(hint) or hint in _PLAIN or typing.get_origin(hint) is not None:
        return None
    return schema_of(hint) if hint is not dict and _hints(hint) else None


def _without_null(hint: object) -> object:
    """Give what is annotated besides null; a text among extras says the type."""
    origin = typing.get_origin(hint)
    if origin is Annotated:
        inner, *extras = typing.get_args(hint)
        said = next((extra for extra in extras if isinstance(extra, (str, Type))), None)
        return said or _without_null(inner)
    if origin in (Union, types.UnionType):
        rest = [part for part in typing.get_args(hint) if part is not type(None)]
        return _without_null(rest[0]) if len(rest) == 1 else hint
    if origin in (Required, NotRequired):
        return _without_null(typing.get_args(hint)[0])
    # What NewType makes is no class, but knows the one it stands for.
    return getattr(hint, "__supertype__", hint)


def _generic(hint: object) -> Type | None:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        kinds = {type(part) for part in parts}
        return type_of(kinds.pop()) if len(kinds) == 1 else None
    if not isclass(origin) or not parts:
        return None
    if issubclass(origin, Mapping) and len(parts) == _MAP_PARTS and parts[0] is str:
        return map_of(type_of(parts[1]))
    alike = len({part for part in parts if part is not ...}) == 1
    if issubclass(origin, (Collection, Iterable)) and alike:
        return array_of(type_of(parts[0]))
    return None


def _class(hint: object) -> Type | None:
    if not isclass(hint):
        return None
    plain = next(
        (mine for kind, mine in _PLAIN.items() if issubclass(hint, typing.cast(type, kind))), None
    )
    if plain is not None and not hasattr(hint, "_fields"):
        return plain
    hints = _hints(hint)
    return struct_of(**{name: type_of(kind) for name, kind in hints.items()}) if hints else None


def _hints(kind: type) -> dict[str, object]:
    try:
        found = typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise SchemaError(
            "SCHEMA_HINT",
            f"an annotation of {kind.__name__} names {error.name}, which is not there",
            hint="Define it at the top of its module, or give the schema as a dictionary.",
        ) from None
    return {
        name: hint
        for name, hint in found.items()
        if not name.startswith("_") and typing.get_origin(hint) is not ClassVar
    }


def _from_arrow(value: object) -> Schema:
    # Arrow is loaded only for those who come with it.
    import pyarrow as pa  # noqa: PLC0415

    from penstock.schema.arrow import from_arrow  # noqa: PLC0415

    return from_arrow(pa.schema(value))


def _named(value: object) -> str:
    return value.__name__ if isclass(value) else repr(value)
