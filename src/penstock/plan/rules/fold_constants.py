"""What is the same for every row is computed once, now."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

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
from penstock.model.relation import Relation
from penstock.model.signature import expr_type
from penstock.model.stateless import Expect, Filter, Named, Project
from penstock.schema.schema import Schema

# Only what no library can see differently: whole numbers, texts and truth. The result must have
# the type the expression had, so that an overflow is left to the one who computes the rows.
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_CALCULATE: Mapping[str, Callable[[Any, Any], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}
_TRUE, _FALSE = Literal(value=True), Literal(value=False)


def fold_constants(relation: Relation) -> Relation:
    """Compute expressions of constants, and truths that one side decides alone."""
    if isinstance(relation, Filter | Expect):
        condition = fold(relation.condition, relation.source.schema)
        return (
            relation if condition is relation.condition else replace(relation, condition=condition)
        )
    if isinstance(relation, Project):
        known = relation.source.schema
        columns = tuple(_folded(column, known) for column in relation.columns)
        same = all(new is old for new, old in zip(columns, relation.columns, strict=True))
        return relation if same else replace(relation, columns=columns)
    return relation


def fold(expr: Expr, schema: Schema) -> Expr:
    """Give the expression with its constant parts computed; itself where there are none."""
    match expr:
        case Column() | Literal() | Resolved() | Variable() | Lambda():
            return expr
        case Cast(operand, type_):
            inner = fold(operand, schema)
            return expr if inner is operand else Cast(inner, type_)
        case Call(function, arguments):
            inner_arguments = tuple(fold(item, schema) for item in arguments)
            changed = any(a is not b for a, b in zip(inner_arguments, arguments, strict=True))
            call = Call(function, inner_arguments) if changed else expr
            result = _computed(function, inner_arguments)
            if result is None or expr_type(result, schema) != expr_type(expr, schema):
                return call
            return result


def _folded(column: Named, schema: Schema) -> Named:
    expr = fold(column.expr, schema)
    return column if expr is column.expr else Named(column.name, expr)


def _computed(function: str, arguments: tuple[Expr, ...]) -> Expr | None:
    if function in ("and", "or"):
        return _decided(function, arguments)
    if not all(isinstance(item, Literal) for item in arguments):
        return None
    values = [item.value for item in arguments if isinstance(item, Literal)]
    if function == "not" and isinstance(values[0], bool):
        return Literal(not values[0])
    return _of_two(function, *values) if len(values) == len(("left", "right")) else None


def _decided(function: str, arguments: tuple[Expr, ...]) -> Expr | None:
    """True decides an `or` and false an `and`, whatever the other is, null too."""
    deciding, neutral = (_FALSE, _TRUE) if function == "and" else (_TRUE, _FALSE)
    if any(_is(item, deciding) for item in arguments):
        return deciding
    left = tuple(item for item in arguments if not _is(item, neutral))
    if len(left) == len(arguments):
        return None
    if len(left) > 1:
        return Call(function, left)
    return left[0] if left else neutral


def _is(expr: Expr, wanted: Literal) -> bool:
    return isinstance(expr, Literal) and expr.value is wanted.value


def _of_two(function: str, left: Constant, right: Constant) -> Expr | None:
    if isinstance(left, str) and isinstance(right, str) and function in _COMPARE:
        return Literal(_COMPARE[function](left, right))
    if not _whole(left) or not _whole(right):
        return None
    if function in _COMPARE:
        return Literal(_COMPARE[function](left, right))
    return Literal(_CALCULATE[function](left, right)) if function in _CALCULATE else None


def _whole(value: Constant) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
