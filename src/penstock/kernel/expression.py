"""Expressions as polars computes them; the meaning is Spark's, which judges the tests."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Argument, Lowering
from penstock.kernel.functions.arithmetic import ARITHMETIC
from penstock.kernel.functions.collection import COLLECTION
from penstock.kernel.functions.logic import LOGIC
from penstock.kernel.functions.moment import MOMENT
from penstock.kernel.functions.pattern import PATTERN
from penstock.kernel.functions.text import TEXT
from penstock.model.expr import Call, Cast, Column, Expr, Literal
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
        case Column(name):
            return pl.col(name)
        case Literal(value):
            return pl.lit(value, dtype=dtype_of(constant_type(value)))
        case Cast(operand, type_):
            return _argument(operand, schema).as_type(type_)
        case Call(function, arguments):
            gives = expr_type(expr, schema)
            return LOWERINGS[function](tuple(_argument(a, schema) for a in arguments), gives)


def _argument(expr: Expr, schema: Schema) -> Argument:
    return Argument(lower(expr, schema), expr_type(expr, schema), expr)
