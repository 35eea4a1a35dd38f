"""Expressions as the user writes them: columns, constants and operators between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import NoReturn, TypeAlias

from typing_extensions import override

from penstock.errors import ModelError
from penstock.front.dsl.place import placed
from penstock.model.expr import Call, Cast, Column, Constant, Expr, Literal
from penstock.model.expr_text import expr_text
from penstock.schema.annotation import type_of


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A value computed from each row; operators make new ones and compute nothing yet."""

    node: Expr
    name: str | None = None

    @placed
    def alias(self, name: str) -> Expression:
        """Give the same value under another name."""
        return Expression(self.node, name)

    @placed
    def cast(self, kind: object) -> Expression:
        """Turn it into another type: a Python type, or text such as "int64"."""
        return Expression(Cast(self.node, type_of(kind)), self.name)

    def is_null(self) -> Expression:
        """Whether there is no value."""
        return call("is_null", self)

    def is_not_null(self) -> Expression:
        """Whether there is a value."""
        return call("is_not_null", self)

    def is_in(self, *values: Operand) -> Expression:
        """Whether it equals one of these values."""
        options = [call("eq", self, value) for value in values]
        return _any_of(options) if options else Expression(Literal(value=False))

    def between(self, low: Operand, high: Operand) -> Expression:
        """Whether it lies from `low` to `high`, both included."""
        return call("and", call("ge", self, low), call("le", self, high))

    def __add__(self, other: Operand) -> Expression:
        return call("add", self, other)

    def __radd__(self, other: Operand) -> Expression:
        return call("add", other, self)

    def __sub__(self, other: Operand) -> Expression:
        return call("subtract", self, other)

    def __rsub__(self, other: Operand) -> Expression:
        return call("subtract", other, self)

    def __mul__(self, other: Operand) -> Expression:
        return call("multiply", self, other)

    def __rmul__(self, other: Operand) -> Expression:
        return call("multiply", other, self)

    def __truediv__(self, other: Operand) -> Expression:
        return call("divide", self, other)

    def __rtruediv__(self, other: Operand) -> Expression:
        return call("divide", other, self)

    def __mod__(self, other: Operand) -> Expression:
        return call("mod", self, other)

    def __rmod__(self, other: Operand) -> Expression:
        return call("mod", other, self)

    def __neg__(self) -> Expression:
        return call("negate", self)

    @override
    def __eq__(self, other: Operand) -> Expression:  # type: ignore[override]
        return call("eq", self, other)

    @override
    def __ne__(self, other: Operand) -> Expression:  # type: ignore[override]
        return call("ne", self, other)

    def __lt__(self, other: Operand) -> Expression:
        return call("lt", self, other)

    def __le__(self, other: Operand) -> Expression:
        return call("le", self, other)

    def __gt__(self, other: Operand) -> Expression:
        return call("gt", self, other)

    def __ge__(self, other: Operand) -> Expression:
        return call("ge", self, other)

    def __and__(self, other: Operand) -> Expression:
        return call("and", self, other)

    def __rand__(self, other: Operand) -> Expression:
        return call("and", other, self)

    def __or__(self, other: Operand) -> Expression:
        return call("or", self, other)

    def __ror__(self, other: Operand) -> Expression:
        return call("or", other, self)

    def __invert__(self) -> Expression:
        return call("not", self)

    __hash__ = None  # type: ignore[assignment]  # what equals gives an expression has no hash

    @placed
    def __bool__(self) -> NoReturn:
        raise ModelError(
            "EXPRESSION_TRUTH",
            f"{self} has a value in each row, and is neither true nor false by itself",
            hint="Join conditions by & | ~ with parentheses, not by and, or, not, in or a < b < c.",
        )

    @override
    def __repr__(self) -> str:
        return expr_text(self.node)

    @override
    def __str__(self) -> str:
        return expr_text(self.node)


Operand: TypeAlias = Expression | Constant
"""An expression, or a constant that is the same in every row."""
Subject: TypeAlias = Expression | str
"""An expression, or the name of a column."""


def col(name: str) -> Expression:
    """Give the value of a column."""
    return Expression(Column(name), name)


@placed
def lit(value: Constant) -> Expression:
    """Give a constant: text where a column is expected, or null."""
    return Expression(_constant(value))


def call(function: str, *arguments: Operand) -> Expression:
    """Give a function of expressions and constants."""
    return Expression(Call(function, tuple(node_of(argument) for argument in arguments)))


@placed
def node_of(operand: Operand) -> Expr:
    """Give what an operand means: text is a constant here."""
    return operand.node if isinstance(operand, Expression) else _constant(operand)


def subject_of(subject: Subject) -> Expr:
    """Give what a subject means: text names a column here."""
    return Column(subject) if isinstance(subject, str) else node_of(subject)


def subject(value: Subject) -> Expression:
    """Give the expression of a subject: text names a column here."""
    return col(value) if isinstance(value, str) else value


def _constant(value: object) -> Literal:
    if value is None or isinstance(value, _CONSTANTS):
        return Literal(value)
    raise ModelError(
        "EXPRESSION_CONSTANT",
        f"{value!r} is no value of a column",
        hint="Use a boolean, number, text, bytes, date or datetime, or col(...) for a column.",
    )


_CONSTANTS = (bool, int, float, str, bytes, datetime, date, Decimal)


def _any_of(options: Sequence[Expression]) -> Expression:
    """Join conditions by "or" as a flat tree, since a long list would nest too deeply."""
    if len(options) == 1:
        return options[0]
    half = len(options) // 2
    return call("or", _any_of(options[:half]), _any_of(options[half:]))


class When:
    """A condition that waits for its value: `when(...).then(...)`."""

    __slots__ = ("_cases", "_condition")

    def __init__(self, condition: Subject, cases: tuple[tuple[Expr, Expr], ...] = ()) -> None:
        self._condition = condition
        self._cases = cases

    def then(self, value: Operand) -> Cases:
        """Say the value where the condition holds."""
        return Cases((*self._cases, (subject_of(self._condition), node_of(value))))


@dataclass(frozen=True, slots=True)
class Cases:
    """Conditions with their values; the first that holds counts."""

    cases: tuple[tuple[Expr, Expr], ...]

    def when(self, condition: Subject) -> When:
        """Add a condition for rows where none before it holds."""
        return When(condition, self.cases)

    def otherwise(self, value: Operand) -> Expression:
        """Say the value where no condition holds."""
        found = node_of(value)
        for condition, chosen in reversed(self.cases):
            found = Call("if", (condition, chosen, found))
        return Expression(found)


def when(condition: Subject) -> When:
    """Begin a choice: `when(a > 0).then("plus").otherwise("minus")`."""
    return When(condition)
