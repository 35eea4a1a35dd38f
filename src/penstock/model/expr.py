"""Expressions over the columns of one row: what they mean, not how they are computed.

The meaning is Spark's. `plan.capability` says where each function can run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import TypeAlias

from penstock.model.user_code import Trial, UserCode
from penstock.schema.types import Type

Constant: TypeAlias = bool | int | float | str | bytes | datetime | date | time | Decimal | None


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


@dataclass(frozen=True, slots=True)
class Resolved:
    """A function of the SQL library, whose meaning is ksqlDB's; what it gives is settled already.

    `front.sql.functions` chooses it by the types of its arguments, so nothing checks it again.
    One of the user's own is `user`, which the plan carries.
    """

    function: str
    arguments: tuple[Expr, ...]
    gives: Type
    user: UserCode | Trial | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter of a lambda, inside of its body."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function without a name, as an argument of another; it sees the row's columns too."""

    parameters: tuple[Variable, ...]
    body: Expr


Expr: TypeAlias = Column | Literal | Cast | Call | Resolved | Variable | Lambda


def columns_of(expr: Expr) -> Iterator[str]:
    """Give the columns an expression reads, repeated as often as it reads them."""
    match expr:
        case Column(name):
            yield name
        case Literal() | Variable():
            return
        case Cast(operand, _) | Lambda(_, operand):
            yield from columns_of(operand)
        case Call(_, arguments) | Resolved(_, arguments, _):
            for argument in arguments:
                yield from columns_of(argument)
