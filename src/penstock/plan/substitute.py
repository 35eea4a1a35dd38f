"""Expressions with columns replaced by what they were computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.model.expr import Call, Cast, Column, Expr, Lambda, Literal, Resolved, Variable


def substitute(expr: Expr, columns: Mapping[str, Expr]) -> Expr:
    """Give the expression over the inputs of a projection instead of its results."""
    match expr:
        case Column(name):
            return columns[name]
        case Literal() | Variable():
            return expr
        case Cast(operand, type_):
            return Cast(substitute(operand, columns), type_)
        case Lambda(parameters, body):
            return Lambda(parameters, substitute(body, columns))
        case Resolved(arguments=arguments):
            return replace(expr, arguments=tuple(substitute(item, columns) for item in arguments))
        case Call(function, arguments):
            return Call(function, tuple(substitute(item, columns) for item in arguments))
