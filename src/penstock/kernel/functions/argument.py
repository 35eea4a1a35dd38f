"""What a function is given when it is lowered: a value, its type, and whether it is constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from penstock.errors import PlanError
from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.conversion import converted
from penstock.model.expr import Expr, Literal
from penstock.schema.types import Type


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call."""

    value: pl.Expr
    type: Type
    expr: Expr

    def as_type(self, wanted: Type) -> pl.Expr:
        """Give the value as another type; a null is a null of any type."""
        if self.expr == Literal(None):
            return pl.lit(None, dtype=dtype_of(wanted))
        return converted(self.value, self.type, wanted)


Arguments: TypeAlias = tuple[Argument, ...]
Lowering: TypeAlias = Callable[[Arguments, Type], pl.Expr]
"""Takes the arguments of a call and the type it gives."""


def constant_text(function: str, argument: Argument) -> str:
    """Give a text that must be the same in every row, or refuse."""
    if isinstance(argument.expr, Literal) and isinstance(argument.expr.value, str):
        return argument.expr.value
    raise _not_constant(function, "a constant text")


def constant_int(function: str, argument: Argument) -> int:
    """Give a number that must be the same in every row, or refuse."""
    if isinstance(argument.expr, Literal) and isinstance(argument.expr.value, int):
        return argument.expr.value
    raise _not_constant(function, "a constant whole number")


def _not_constant(function: str, what: str) -> PlanError:
    return PlanError(
        "EXPRESSION_CONSTANT",
        f'function "{function}" is given a column where it needs {what}',
        hint="Write the value itself; only Spark's own operators can take it from a column.",
    )
