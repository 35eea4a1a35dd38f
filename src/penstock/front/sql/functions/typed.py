"""What functions are given: values with their types, lambdas, and units of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from penstock.model.expr import Cast, Expr, Literal, Resolved
from penstock.schema.types import Type


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression and its type; NULL by itself has none."""

    expr: Expr
    type: Type | None


@dataclass(frozen=True, slots=True)
class LambdaArgument:
    """A lambda whose body is resolved once the types of its parameters are known."""

    parameters: tuple[str, ...]
    resolve: Callable[[tuple[Typed, ...]], Typed]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of time, such as HOURS."""

    name: str


Argument: TypeAlias = Typed | LambdaArgument | Unit


def typed_call(function: str, arguments: tuple[Expr, ...], gives: Type) -> Typed:
    """Give a call of the library."""
    return Typed(Resolved(function, arguments, gives), gives)


def as_type(value: Typed, type_: Type) -> Expr:
    """Give a value in a type that it can be cast to; NULL is a null of any."""
    if value.type is None:
        return Cast(Literal(None), type_)
    return value.expr if value.type == type_ else Resolved("cast", (value.expr,), type_)
