"""Operators of SQL as ksqlDB computes them.

A comparison with null is false, not unknown. Whole numbers wrap around and are divided towards
zero; what cannot be computed is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Argument, Arguments, Lowering
from penstock.kernel.functions.arithmetic import ARITHMETIC
from penstock.kernel.functions.logic import LOGIC
from penstock.kernel.sql import decimals
from penstock.kernel.sql.rows import called
from penstock.model.expr import Literal
from penstock.schema.types import BOOLEAN, STRING, Kind, Type

_Binary: TypeAlias = Callable[[pl.Expr, pl.Expr], pl.Expr]
_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_WITH_ESCAPE = 3


def _arithmetic(plain: _Binary, exact: Lowering) -> Lowering:
    def lowered(arguments: Arguments, gives: Type) -> pl.Expr:
        if gives.kind is Kind.DECIMAL:
            return exact(arguments, gives)
        one, other = (as_column(argument, gives) for argument in arguments)
        return plain(one, other)

    return lowered


def as_column(argument: Argument, type_: Type) -> pl.Expr:
    """Give a number in the type of the result."""
    if argument.type == type_:
        return argument.value
    return argument.as_type(type_)


def _quotient(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    size = one.abs() // pl.when(other != 0).then(other.abs())
    return pl.when((one < 0) != (other < 0)).then(-size).otherwise(size)


def _divide(arguments: Arguments, gives: Type) -> pl.Expr:
    if gives.kind is Kind.DECIMAL:
        return decimals.divide(arguments, gives)
    one, other = (as_column(argument, gives) for argument in arguments)
    if gives.kind is Kind.FLOAT64:
        # Added to zeros a constant divisor becomes a column: polars would multiply by its inverse.
        return one / (other + one.is_null().cast(pl.Float64))
    return _quotient(one, other)


def _modulo(arguments: Arguments, gives: Type) -> pl.Expr:
    if gives.kind is Kind.DECIMAL:
        return decimals.modulo(arguments, gives)
    rest = ARITHMETIC["mod"](arguments, gives)
    if gives.kind is not Kind.FLOAT64:
        return rest
    known = arguments[0].value.is_not_null() & arguments[1].value.is_not_null()
    return pl.when(known).then(rest.fill_null(float("nan")))


def _negate(arguments: Arguments, _: Type) -> pl.Expr:
    return -arguments[0].value


def _join_texts(arguments: Arguments, _: Type) -> pl.Expr:
    return pl.concat_str([argument.as_type(STRING) for argument in arguments])


def _join_bytes(arguments: Arguments, gives: Type) -> pl.Expr:
    return called(lambda one, other: one + other, [item.value for item in arguments], gives)


def _comparison(compare: _Binary, mirrored: _Binary) -> Lowering:
    def lowered(arguments: Arguments, _: Type) -> pl.Expr:
        left, right = (argument.value for argument in arguments)
        constant = not left.meta.root_names() and right.meta.root_names()
        found = mirrored(right, left) if constant else compare(left, right)
        if arguments[0].type.kind is Kind.FLOAT64:
            # To polars NaN equals itself, to Java nothing is true of it but that it differs.
            found = found & ~left.is_nan() & ~right.is_nan()
        return found.fill_null(value=False)

    return lowered


def _equal(arguments: Arguments, gives: Type) -> pl.Expr:
    if arguments[0].type.kind in _NESTED:
        values = [argument.value for argument in arguments]
        return called(lambda one, other: one == other, values, gives).fill_null(value=False)
    return _comparison(pl.Expr.eq, pl.Expr.eq)(arguments, gives)


def _unequal(arguments: Arguments, gives: Type) -> pl.Expr:
    known = arguments[0].value.is_not_null() & arguments[1].value.is_not_null()
    return known & ~_equal(arguments, gives)


def _distinct(arguments: Arguments, gives: Type) -> pl.Expr:
    one, other = (argument.value.is_null() for argument in arguments)
    return pl.when(one | other).then(one != other).otherwise(~_equal(arguments, gives))


def _case(arguments: Arguments, gives: Type) -> pl.Expr:
    dtype = dtype_of(gives)
    result = arguments[-1].value.cast(dtype)
    for place in range(len(arguments) - 3, -1, -2):
        condition, value = arguments[place].as_type(BOOLEAN), arguments[place + 1].value
        result = pl.when(condition).then(value.cast(dtype)).otherwise(result)
    return result


def _like(arguments: Arguments, gives: Type) -> pl.Expr:
    text, pattern = arguments[0].value, arguments[1]
    escape = arguments[2].expr.value if len(arguments) == _WITH_ESCAPE else None  # type: ignore[union-attr]
    if isinstance(pattern.expr, Literal) and isinstance(pattern.expr.value, str):
        return text.str.contains(_like_regex(pattern.expr.value, str(escape or "")))
    return called(
        lambda value, like: re.search(_like_regex(like, str(escape or "")), value) is not None,
        [text, pattern.value],
        gives,
    )


@lru_cache(maxsize=1024)
def _like_regex(pattern: str, escape: str) -> str:
    """Write a pattern of LIKE as a regular expression that both Python and polars read."""
    parts, taken = [], False
    for letter in pattern:
        if taken or letter not in ("%", "_", escape):
            parts.append(re.escape(letter))
            taken = False
        elif letter == escape:
            taken = True
        else:
            parts.append(".*" if letter == "%" else ".")
    return rf"(?s)^(?:{''.join(parts)})$"


ARITHMETIC_OPERATORS: Mapping[str, Lowering] = {
    "add": _arithmetic(lambda one, other: one + other, decimals.add),
    "subtract": _arithmetic(lambda one, other: one - other, decimals.subtract),
    "multiply": _arithmetic(lambda one, other: one * other, decimals.multiply),
    "divide": _divide,
    "modulo": _modulo,
    "negate": _negate,
}

OPERATORS: Mapping[str, Lowering] = {
    **ARITHMETIC_OPERATORS,
    "join_texts": _join_texts,
    "join_bytes": _join_bytes,
    "eq": _equal,
    "ne": _unequal,
    "lt": _comparison(pl.Expr.lt, pl.Expr.gt),
    "le": _comparison(pl.Expr.le, pl.Expr.ge),
    "gt": _comparison(pl.Expr.gt, pl.Expr.lt),
    "ge": _comparison(pl.Expr.ge, pl.Expr.le),
    "is_distinct": _distinct,
    **{name: LOGIC[name] for name in ("and", "or", "not", "is_null")},
    "case": _case,
    "like": _like,
}
"""What the signs and words of an expression lower to; numbers come in the type of the result."""
