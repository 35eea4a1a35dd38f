"""Comparisons, conditions and nulls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.model.expr import Literal
from penstock.schema.types import BOOLEAN, FLOAT64, INT64, Kind, Type, decimal_of


def common_type(one: Type, other: Type) -> Type:
    """Give the type in which two values are compared."""
    kinds = {one.kind, other.kind}
    if one.numeric and other.numeric:
        if Kind.FLOAT64 in kinds:
            return FLOAT64
        if Kind.DECIMAL in kinds:
            return decimal_of(38, max(one.scale, other.scale))
        return one if one == other else INT64
    return one


_Compare: TypeAlias = Callable[[pl.Expr, pl.Expr], pl.Expr]


def _comparison(compare: _Compare, mirrored: _Compare) -> Lowering:
    def lowered(arguments: Arguments, _: Type) -> pl.Expr:
        one, other = arguments
        if Literal(None) in (one.expr, other.expr):
            return pl.lit(None, dtype=pl.Boolean)
        shared = common_type(one.type, other.type)
        left, right = one.as_type(shared), other.as_type(shared)
        # A constant compared with a column of nulls only gives polars one value, not a column;
        # and == would be turned round by Python where one side is a `when`.
        constant = not left.meta.root_names() and right.meta.root_names()
        return mirrored(right, left) if constant else compare(left, right)

    return lowered


def _and(arguments: Arguments, _: Type) -> pl.Expr:
    result = arguments[0].as_type(BOOLEAN)
    for argument in arguments[1:]:
        result = result & argument.as_type(BOOLEAN)
    return result


def _or(arguments: Arguments, _: Type) -> pl.Expr:
    result = arguments[0].as_type(BOOLEAN)
    for argument in arguments[1:]:
        result = result | argument.as_type(BOOLEAN)
    return result


def _not(arguments: Arguments, _: Type) -> pl.Expr:
    return ~arguments[0].as_type(BOOLEAN)


def _is_null(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.is_null()


def _is_not_null(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.is_not_null()


def _is_nan(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(FLOAT64).is_nan().fill_null(value=False)


def _coalesce(arguments: Arguments, gives: Type) -> pl.Expr:
    return pl.coalesce([argument.as_type(gives) for argument in arguments])


def _if(arguments: Arguments, gives: Type) -> pl.Expr:
    result = arguments[-1].as_type(gives)
    for place in range(len(arguments) - 3, -1, -2):
        condition, value = arguments[place], arguments[place + 1]
        result = pl.when(condition.as_type(BOOLEAN)).then(value.as_type(gives)).otherwise(result)
    return result


def _nullif(arguments: Arguments, gives: Type) -> pl.Expr:
    same = LOGIC["eq"](arguments, BOOLEAN)
    return pl.when(same.fill_null(value=False)).then(None).otherwise(arguments[0].as_type(gives))


LOGIC: Mapping[str, Lowering] = {
    "eq": _comparison(pl.Expr.eq, pl.Expr.eq),
    "ne": _comparison(pl.Expr.ne, pl.Expr.ne),
    "lt": _comparison(pl.Expr.lt, pl.Expr.gt),
    "le": _comparison(pl.Expr.le, pl.Expr.ge),
    "gt": _comparison(pl.Expr.gt, pl.Expr.lt),
    "ge": _comparison(pl.Expr.ge, pl.Expr.le),
    "and": _and,
    "or": _or,
    "not": _not,
    "is_null": _is_null,
    "is_not_null": _is_not_null,
    "is_nan": _is_nan,
    "coalesce": _coalesce,
    "if": _if,
    "nullif": _nullif,
}
