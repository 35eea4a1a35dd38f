"""The types of expressions: which functions there are, and what each gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

from penstock.errors import ModelError, did_you_mean
from penstock.model.expr import Call, Cast, Column, Constant, Expr, Literal
from penstock.schema.schema import Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    Kind,
    Type,
    array_of,
    decimal_of,
)

Rule: TypeAlias = Callable[[tuple[Type, ...]], Type]


def expr_type(expr: Expr, schema: Schema, site: str = "") -> Type:
    """Give the type of an expression over these columns; what does not exist is named."""
    match expr:
        case Column(name):
            return schema.field(name, site=site).type
        case Literal(value):
            return constant_type(value)
        case Cast(operand, type_):
            expr_type(operand, schema, site)
            return type_
        case Call(function, arguments):
            types = tuple(expr_type(argument, schema, site) for argument in arguments)
            return _rule(function, site)(types)


def constant_type(value: Constant) -> Type:
    """Give the type of a constant."""
    match value:
        case None | bool():
            return BOOLEAN
        case int():
            return INT32 if -(2**31) <= value < 2**31 else INT64
        case float():
            return FLOAT64
        case str():
            return STRING
        case bytes():
            return BYTES
        case datetime():
            return TIMESTAMP
        case date():
            return DATE
        case Decimal():
            exponent = value.as_tuple().exponent
            digits = len(value.as_tuple().digits)
            scale = -exponent if isinstance(exponent, int) and exponent < 0 else 0
            return decimal_of(max(digits, scale), scale)


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


def _last(types: tuple[Type, ...]) -> Type:
    return types[-1]


def _item(types: tuple[Type, ...]) -> Type:
    return types[0].item or STRING


def _always(type_: Type) -> Rule:
    return lambda _: type_


FUNCTIONS: Mapping[str, Rule] = {
    **dict.fromkeys(
        ("add", "subtract", "multiply", "mod", "coalesce", "greatest", "least"), _wider
    ),
    **dict.fromkeys(("abs", "negate", "reverse"), _first),
    **dict.fromkeys(("divide", "sqrt", "exp", "ln", "power"), _always(FLOAT64)),
    **dict.fromkeys(("floor", "ceil"), _always(INT64)),
    "round": _first,
    **dict.fromkeys(
        (
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "and",
            "or",
            "not",
            "is_null",
            "is_not_null",
            "is_nan",
            "contains",
            "starts_with",
            "ends_with",
            "like",
            "regexp_like",
            "array_contains",
        ),
        _always(BOOLEAN),
    ),  # fmt: skip
    **dict.fromkeys(
        (
            "lower",
            "upper",
            "trim",
            "concat",
            "substring",
            "replace",
            "regexp_replace",
            "regexp_extract",
            "lpad",
            "rpad",
        ),
        _always(STRING),
    ),  # fmt: skip
    **dict.fromkeys(
        ("length", "array_size", "year", "month", "day", "hour", "minute", "second"), _always(INT32)
    ),  # fmt: skip
    **dict.fromkeys(("split", "regexp_extract_all"), _always(array_of(STRING))),
    "element_at": _item,
    "if": _last,
    "nullif": _first,
    "date_trunc": _always(TIMESTAMP),
    "millis": _always(INT64),
    "from_millis": _always(TIMESTAMP),
    "to_date": _always(DATE),
}
