"""What a function is given when it is lowered: a value, its type, and whether it is constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.conversion import converted
from penstock.model.expr import Constant, Expr, Literal
from penstock.schema.types import Type


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call."""

    value: pl.Expr
    type: Type
    expr: Expr
    failures: tuple[pl.Expr, ...] = ()
    """Of a lambda: where its body cannot be computed."""

    def as_type(self, wanted: Type) -> pl.Expr:
        """Give the value as another type; a null is a null of any type."""
        if self.expr == Literal(None):
            return pl.lit(None, dtype=dtype_of(wanted))
        return converted(self.value, self.type, wanted)


Arguments: TypeAlias = tuple[Argument, ...]
Lowering: TypeAlias = Callable[[Arguments, Type], pl.Expr]
"""Takes the arguments of a call and the type it gives."""


def constant_text(arguments: Arguments, place: int, default: str = "") -> str:
    """Give a text that is the same in every row, as the model made sure; or the default."""
    value = _constant(arguments, place)
    return value if isinstance(value, str) else default


def constant_int(arguments: Arguments, place: int, default: int = 0) -> int:
    """Give a number that is the same in every row, as the model made sure; or the default."""
    value = _constant(arguments, place)
    return value if isinstance(value, int) else default


def _constant(arguments: Arguments, place: int) -> Constant:
    if place >= len(arguments):
        return None
    expr = arguments[place].expr
    assert isinstance(expr, Literal), "the model lets only constants through"
    return expr.value
