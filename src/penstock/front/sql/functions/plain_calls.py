"""Operators of SQL as calls of the model, where only these are understood.

The condition of a pattern looks at several rows, and is computed by few functions.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.model.expr import Call, Cast, Expr, Lambda, Resolved
from penstock.schema.types import Kind, Type

_ALIKE = frozenset(
    {
        *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "is_null"),
        *("add", "subtract", "multiply", "negate", "coalesce", "nullif", "abs"),
    }
)
"""Functions that the model has by the same name, and that mean the same in a condition."""
_NUMBERS = (Kind.INT32, Kind.INT64, Kind.FLOAT64)


def plain_calls(expr: Expr) -> Expr:
    """Give the expression with calls of the model, as far as they mean the same."""
    match expr:
        case Cast(operand, type_):
            return Cast(plain_calls(operand), type_)
        case Lambda(parameters, body):
            return Lambda(parameters, plain_calls(body))
        case Call(function, arguments):
            return Call(function, tuple(plain_calls(item) for item in arguments))
        case Resolved(user=user, arguments=arguments) if user is not None:
            return replace(expr, arguments=tuple(plain_calls(item) for item in arguments))
        case Resolved(function, arguments, gives):
            return _plain(function, tuple(plain_calls(item) for item in arguments), gives)
        case _:
            return expr


def _plain(function: str, arguments: tuple[Expr, ...], gives: Type) -> Expr:
    if function in _ALIKE and gives.kind is not Kind.DECIMAL:
        return Call(function, arguments)
    if function == "cast" and gives.kind in _NUMBERS:
        return Cast(arguments[0], gives)
    return Resolved(function, arguments, gives)
