"""The type that several values have together: items of an array, branches of a CASE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation

from penstock.errors import SqlError
from penstock.front.sql.functions.typed import Typed, as_type
from penstock.front.sql.types import type_text
from penstock.model.expr import Cast, Expr, Literal, Resolved
from penstock.schema.types import (
    FLOAT64,
    INT32,
    INT64,
    STRING,
    Kind,
    Type,
    array_of,
    decimal_of,
    map_of,
)

MOST_DIGITS = 38
_DIGITS = {Kind.INT32: 10, Kind.INT64: 19}
_TIMES = (Kind.DATE, Kind.TIME, Kind.TIMESTAMP)
_PARTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_MADE = ("array", "map", "struct")
_YES_OR_NO = ("true", "yes", "false", "no")


def as_decimal(type_: Type) -> Type:
    """Give the decimal that holds every value of a type of whole numbers."""
    digits = _DIGITS.get(type_.kind)
    return type_ if digits is None else decimal_of(digits, 0)


def wider(one: Type, other: Type) -> Type:
    """Give the type of numbers that holds both: INTEGER, BIGINT, DECIMAL, DOUBLE."""
    kinds = (one.kind, other.kind)
    if Kind.FLOAT64 in kinds:
        return FLOAT64
    if Kind.DECIMAL in kinds:
        left, right = as_decimal(one), as_decimal(other)
        scale = max(left.scale, right.scale)
        whole = max(left.precision - left.scale, right.precision - right.scale)
        return decimal_of(min(whole + scale, MOST_DIGITS), scale)
    return INT64 if Kind.INT64 in kinds else INT32


def shared_type(one: Type, other: Type) -> Type:
    """Give the type of both; those that do not go together are refused."""
    if one == other:
        return one
    if one.numeric and other.numeric:
        return wider(one, other)
    if one.kind is other.kind:
        return _nested(one, other)
    raise mixed(one, other)


def mixed(one: Type, other: Type) -> SqlError:
    """Give the refusal of two types that do not go together."""
    return SqlError(
        "SQL_TYPES_MIXED",
        f"values are of types {type_text(one)} and {type_text(other)}",
        hint="Give them one type with CAST.",
    )


def _nested(one: Type, other: Type) -> Type:
    if one.kind is Kind.ARRAY and one.item is not None and other.item is not None:
        return array_of(shared_type(one.item, other.item))
    if one.kind is Kind.MAP and one.item is not None and other.item is not None:
        if one.key != other.key:
            raise mixed(one, other)
        return map_of(shared_type(one.item, other.item), one.key)
    # A field that one of them lacks is null there.
    fields = dict(one.fields)
    for name, part in other.fields:
        fields[name] = shared_type(fields[name], part) if name in fields else part
    return Type(Kind.STRUCT, fields=tuple(fields.items()))


def together(values: Sequence[Typed], *, texts: bool = True) -> Type | None:
    """Give the type of several values; NULL has any, and a text in quotes that of the others."""
    known = [value for value in values if value.type is not None]
    if texts and known and known[0].type == STRING:
        return _all_texts([value.type for value in known if value.type is not None])
    found: Type | None = None
    quoted = [value for value in known if texts and _has_text(value.expr)]
    for value in known:
        if value.type is not None and value not in quoted:
            found = value.type if found is None else shared_type(found, value.type)
    for value in quoted:
        if found is None:
            found = value.type
        elif found != value.type:
            _check_texts(value.expr, value.type or STRING, found)
    return found


def _all_texts(types: Sequence[Type]) -> Type:
    """Where the first value is a text the others become texts, as in ksqlDB."""
    for type_ in types:
        if type_.kind in _PARTED:
            raise mixed(STRING, type_)
    return STRING


def _has_text(expr: Expr) -> bool:
    """Whether a value is a text in quotes, or made of such."""
    if isinstance(expr, Resolved) and expr.function in _MADE:
        return any(_has_text(argument) for argument in expr.arguments)
    return isinstance(expr, Literal) and isinstance(expr.value, str)


def _check_texts(expr: Expr, type_: Type, wanted: Type) -> None:
    """Refuse texts in quotes that stand for values of another type and are none."""
    if isinstance(expr, Resolved) and expr.function in _MADE:
        if type_.kind is not wanted.kind:
            raise mixed(wanted, type_)
        for part, found, meant in _parts(expr, type_, wanted):
            _check_texts(part, found, meant)
    elif isinstance(expr, Literal) and isinstance(expr.value, str):
        _check_text(expr.value, wanted)
    elif expr != Cast(Literal(None), type_):
        shared_type(wanted, type_)


def _parts(expr: Resolved, type_: Type, wanted: Type) -> Iterator[tuple[Expr, Type, Type]]:
    if type_.kind is Kind.STRUCT:
        meant = dict(wanted.fields)
        for part, (name, found) in zip(expr.arguments, type_.fields, strict=True):
            yield part, found, meant.get(name, found)
    elif type_.kind is Kind.MAP:
        for part in expr.arguments[::2]:
            yield part, type_.key or STRING, wanted.key or STRING
        for part in expr.arguments[1::2]:
            yield part, type_.item or STRING, wanted.item or STRING
    else:
        for part in expr.arguments:
            yield part, type_.item or STRING, wanted.item or STRING


def _check_text(text: str, type_: Type) -> None:
    if type_.kind in (*_PARTED, Kind.BYTES):
        raise mixed(type_, STRING)
    if not _reads(text.strip(), type_):
        raise SqlError(
            "SQL_TEXT_VALUE",
            f"'{text}' is no {type_text(type_)}",
            hint="Write a value of that type, or cast the others to STRING.",
        )


def _reads(text: str, type_: Type) -> bool:
    try:
        match type_.kind:
            case Kind.BOOLEAN:
                return any(word.startswith(text.lower()) for word in _YES_OR_NO) and text != ""
            case Kind.INT32 | Kind.INT64:
                int(text)
            case Kind.FLOAT64 | Kind.DECIMAL:
                Decimal(text)
            case Kind.DATE:
                date.fromisoformat(text[:10])
            case Kind.TIME:
                time.fromisoformat(text)
            case Kind.TIMESTAMP:
                datetime.fromisoformat(text)
            case _:
                return True
    except (ValueError, InvalidOperation):
        return type_.kind in _TIMES
    return True


def unified(values: Sequence[Typed], type_: Type) -> list[Typed]:
    """Give values in the type that they share."""
    return [Typed(as_type(value, type_), type_) for value in values]
