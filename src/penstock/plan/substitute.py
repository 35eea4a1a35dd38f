"""Expressions with columns replaced by what they were computed from."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model.expr import Call, Cast, Column, Expr, Literal


def substitute(expr: Expr, columns: Mapping[str, Expr]) -> Expr:
    """Give the expression over the inputs of a projection instead of its results."""
    match expr:
        case Column(name):
            return columns[name]
        case Literal():
            return expr
        case Cast(operand, type_):
            return Cast(substitute(operand, columns), type_)
        case Call(function, arguments):
            return Call(function, tuple(substitute(item, columns) for item in arguments))
