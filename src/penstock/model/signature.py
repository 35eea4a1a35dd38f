"""The types of expressions: which functions there are, and what each gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import TypeAlias

from penstock.errors import ModelError, did_you_mean
from penstock.model.constant_argument import check_constants
from penstock.model.conversion import check_cast
from penstock.model.expr import (
    Call,
    Cast,
    Column,
    Constant,
    Expr,
    Lambda,
    Literal,
    Resolved,
    Variable,
)
from penstock.model.parameters import check_arguments
from penstock.schema.schema import Schema
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
)

Rule: TypeAlias = Callable[[tuple[Type, ...]], Type]

# A datetime is a date and a boolean a number, so the narrower class comes first.
_CONSTANTS: tuple[tuple[type, Type], ...] = (
    (bool, BOOLEAN),
    (float, FLOAT64),
    (str, STRING),
    (bytes, BYTES),
    (datetime, TIMESTAMP),
    (date, DATE),
    (time, TIME),
    (type(None), BOOLEAN),
)


def expr_type(expr: Expr, schema: Schema, site: str = "") -> Type:
    """Give the type of an expression over these columns; what does not exist is named."""
    match expr:
        case Column(name):
            return schema.field(name, site=site).type
        case Literal(value):
            return constant_type(value)
        case Cast(operand, type_):
            if operand != Literal(None):
                check_cast(expr_type(operand, schema, site), type_, site)
            return type_
        case Resolved(gives=type_) | Variable(type=type_):
            return type_
        case Lambda(_, body):
            return expr_type(body, schema, site)
        case Call(function, arguments):
            rule = _rule(function, site)
            types = _argument_types(arguments, schema, site)
            check_arguments(function, types, site)
            check_constants(function, arguments, site)
            return rule(types)


def constant_type(value: Constant) -> Type:
    """Give the type of a constant; null alone counts as a boolean."""
    if isinstance(value, int) and not isinstance(value, bool):
        return INT32 if -(2**31) <= value < 2**31 else INT64
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        digits = len(value.as_tuple().digits)
        scale = -exponent if isinstance(exponent, int) and exponent < 0 else 0
        return decimal_of(max(digits, scale), scale)
    return next(type_ for kind, type_ in _CONSTANTS if isinstance(value, kind))


def _argument_types(arguments: tuple[Expr, ...], schema: Schema, site: str) -> tuple[Type, ...]:
    """Give the types of arguments; null takes that of the last one that is not null."""
    types = [
        None if argument == Literal(None) else expr_type(argument, schema, site)
        for argument in arguments
    ]
    last = next((found for found in reversed(types) if found is not None), BOOLEAN)
    return tuple(found or last for found in types)


def _rule(function: str, site: str) -> Rule:
    if function in FUNCTIONS:
        return FUNCTIONS[function]
    place = f" ({site})" if site else ""
    raise ModelError(
        "FUNCTION_MISSING",
        f'function "{function}" does not exist{place}',
        hint=did_you_mean(function, FUNCTIONS) or "docs/functions.md lists those there are.",
    )


def _wider(types: tuple[Type, ...]) -> Type:
    order = (Kind.FLOAT64, Kind.DECIMAL, Kind.INT64, Kind.INT32)
    for kind in order:
        for type_ in types:
            if type_.kind is kind:
                return type_
    return types[0]


def _first(types: tuple[Type, ...]) -> Type:
    return types[0]


def _branches(types: tuple[Type, ...]) -> Type:
    return _wider(types[1:])


def _item(types: tuple[Type, ...]) -> Type:
    return types[0].item or STRING


def _always(type_: Type) -> Rule:
    return lambda _: type_


def _names(text: str) -> list[str]:
    return text.split()


FUNCTIONS: Mapping[str, Rule] = {
    **dict.fromkeys(_names("add subtract multiply mod coalesce greatest least"), _wider),
    **dict.fromkeys(_names("abs negate reverse round nullif"), _first),
    **dict.fromkeys(_names("divide sqrt exp ln power"), _always(FLOAT64)),
    **dict.fromkeys(_names("floor ceil millis"), _always(INT64)),
    **dict.fromkeys(_names("eq ne lt le gt ge and or not"), _always(BOOLEAN)),
    **dict.fromkeys(_names("is_null is_not_null is_nan array_contains"), _always(BOOLEAN)),
    **dict.fromkeys(_names("contains starts_with ends_with like regexp_like"), _always(BOOLEAN)),
    **dict.fromkeys(_names("lower upper trim concat substring replace"), _always(STRING)),
    **dict.fromkeys(_names("regexp_replace regexp_extract lpad rpad"), _always(STRING)),
    **dict.fromkeys(_names("length array_size"), _always(INT32)),
    **dict.fromkeys(_names("year month day hour minute second"), _always(INT32)),
    **dict.fromkeys(_names("split regexp_extract_all"), _always(array_of(STRING))),
    "element_at": _item,
    "if": _branches,
    **dict.fromkeys(_names("date_trunc from_millis"), _always(TIMESTAMP)),
    "to_date": _always(DATE),
}
"""What each function gives; `parameters.PARAMETERS` says what it takes."""
