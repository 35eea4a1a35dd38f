"""Expressions over the columns of one row: what they mean, not how they are computed.

The meaning is Spark's. `plan.capability` says where each function can run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

from penstock.schema.types import Type

Constant: TypeAlias = bool | int | float | str | bytes | datetime | date | Decimal | None


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a column."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """The same value in every row."""

    value: Constant


@dataclass(frozen=True, slots=True)
class Cast:
    """A value turned into another type."""

    operand: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Call:
    """A function of values; operators are functions too (`add`, `eq`, `and`)."""

    function: str
    arguments: tuple[Expr, ...]


Expr: TypeAlias = Column | Literal | Cast | Call


def columns_of(expr: Expr) -> Iterator[str]:
    """Give the columns an expression reads, repeated as often as it reads them."""
    match expr:
        case Column(name):
            yield name
        case Literal():
            return
        case Cast(operand, _):
            yield from columns_of(operand)
        case Call(_, arguments):
            for argument in arguments:
                yield from columns_of(argument)
