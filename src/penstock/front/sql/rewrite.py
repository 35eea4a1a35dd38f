"""Expressions over rows become expressions over groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.front.sql.source import WINDOW_END, WINDOW_START
from penstock.model.expr import Call, Cast, Expr, Lambda, Resolved, columns_of

GROUP, MEASURE = "_g", "_m"
"""How the columns of groups and of aggregates begin, with a number after it."""


def replaced(expr: Expr, by: Mapping[Expr, Expr]) -> Expr:
    """Put others in the place of some parts of an expression, the greatest first."""
    if expr in by:
        return by[expr]
    match expr:
        case Cast(operand):
            return replace(expr, operand=replaced(operand, by))
        case Call(arguments=arguments) | Resolved(arguments=arguments):
            return replace(expr, arguments=tuple(replaced(item, by) for item in arguments))
        case Lambda(body=body):
            return replace(expr, body=replaced(body, by))
        case _:
            return expr


def unknown_columns(expr: Expr) -> list[str]:
    """Give the columns of rows that an expression still reads."""
    return [
        name
        for name in columns_of(expr)
        if not name.startswith((GROUP, MEASURE)) and name not in (WINDOW_START, WINDOW_END)
    ]
