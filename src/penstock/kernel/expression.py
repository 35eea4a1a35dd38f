"""Expressions as polars computes them.

The meaning of a `Call` is Spark's, which judges the tests; that of a `Resolved` is ksqlDB's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Argument, Lowering
from penstock.kernel.functions.arithmetic import ARITHMETIC
from penstock.kernel.functions.collection import COLLECTION
from penstock.kernel.functions.logic import LOGIC
from penstock.kernel.functions.moment import MOMENT
from penstock.kernel.functions.pattern import PATTERN
from penstock.kernel.functions.text import TEXT
from penstock.kernel.sql.lambdas import variable_column
from penstock.kernel.sql.library import LIBRARY
from penstock.kernel.sql.operators import ARITHMETIC_OPERATORS, OPERATORS
from penstock.kernel.sql.rows import of_columns
from penstock.kernel.user_calls import UserRows
from penstock.model.expr import Call, Cast, Column, Expr, Lambda, Literal, Resolved, Variable
from penstock.model.signature import constant_type, expr_type
from penstock.schema.schema import Schema

LOWERINGS: Mapping[str, Lowering] = {
    **ARITHMETIC,
    **LOGIC,
    **TEXT,
    **PATTERN,
    **MOMENT,
    **COLLECTION,
}


def lower(expr: Expr, schema: Schema) -> pl.Expr:
    """Give the polars expression that computes this one over frames with these columns."""
    match expr:
        case Column() | Variable():
            return pl.col(_column(expr))
        case Literal(value):
            return pl.lit(value, dtype=dtype_of(constant_type(value)))
        case Cast(operand, type_):
            return _argument(operand, schema).as_type(type_)
        case Lambda(_, body):
            return lower(body, schema)
        case Resolved():
            return _of_library(expr, schema)
        case Call(function, arguments):
            gives = expr_type(expr, schema)
            return LOWERINGS[function](tuple(_argument(a, schema) for a in arguments), gives)


def _of_library(expr: Resolved, schema: Schema) -> pl.Expr:
    if expr.user is None:
        arguments = tuple(_argument(item, schema) for item in expr.arguments)
        return LIBRARY[expr.function](arguments, expr.gives)
    rows = UserRows(expr.user, expr.gives)
    values = [lower(item, schema) for item in expr.arguments]
    return of_columns(rows.raised, values or [pl.lit(0)], dtype_of(expr.gives))


def _column(expr: Column | Variable) -> str:
    return expr.name if isinstance(expr, Column) else variable_column(expr.name)


def _argument(expr: Expr, schema: Schema) -> Argument:
    failures = tuple(_failures(expr.body, schema)) if isinstance(expr, Lambda) else ()
    return Argument(lower(expr, schema), expr_type(expr, schema), expr, failures)


def _failures(body: Expr, schema: Schema) -> Iterator[pl.Expr]:
    """Give where the body of a lambda cannot be computed: arithmetic with nulls, as in ksqlDB.

    A function takes what fails in its arguments for null, so these do not count.
    """
    if not isinstance(body, Resolved) or body.function not in OPERATORS:
        return
    for argument in body.arguments:
        if body.function in ARITHMETIC_OPERATORS:
            yield lower(argument, schema).is_null()
        yield from _failures(argument, schema)
