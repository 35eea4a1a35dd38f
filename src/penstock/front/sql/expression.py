"""Expressions of the tree become typed expressions of the model, names and types resolved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, time
from typing import Any, TypeAlias

from penstock.errors import SqlError
from penstock.front.sql import tree_expression as tree
from penstock.front.sql.functions import operators
from penstock.front.sql.functions.registry import (
    is_aggregate,
    is_table_function,
    resolve_call,
    takes_unit,
)
from penstock.front.sql.functions.typed import LambdaArgument, Typed, Unit
from penstock.front.sql.moment_text import moment_millis
from penstock.front.sql.scope import Scope
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START
from penstock.front.sql.tree import Name
from penstock.front.sql.types import sql_type
from penstock.model.expr import Column, Literal
from penstock.schema.types import BOOLEAN, FLOAT64, INT32, INT64, STRING, Kind, Type, decimal_of

_TIMES = (ROW_TIME, WINDOW_START, WINDOW_END)
CallHook: TypeAlias = Callable[[tree.Call], Typed | None]
Argument: TypeAlias = Typed | LambdaArgument | Unit


class Resolver:
    """Resolves expressions in one scope.

    `hook` is asked first about every call: aggregates and table functions are a query's to place.
    """

    def __init__(
        self, scope: Scope, types: Mapping[str, Type] | None = None, hook: CallHook | None = None
    ) -> None:
        self.scope = scope
        self._types = types or {}
        self._hook = hook
        self._variables: dict[str, Typed] = {}

    def typed(self, expression: tree.Expression) -> Typed:
        """Resolve an expression; what is wrong with it is shown where it stands."""
        try:
            return _RESOLVE[type(expression)](self, expression)
        except SqlError as error:
            if "\n" in error.fact:
                raise
            shown = self.scope.text.shown(error.fact, expression.span)
            raise type(error)(error.code, shown, hint=error.hint) from error

    def condition(self, expression: tree.Expression, clause: str) -> Typed:
        """Resolve what must be true or false."""
        found = self.typed(expression)
        if found.type not in (BOOLEAN, None):
            raise SqlError(
                "SQL_CONDITION", self.scope.text.shown(f"{clause} is not BOOLEAN", expression.span)
            )
        return found

    def column(self, column: tree.Column) -> Typed:
        """Resolve a column, a variable of a lambda, or a field by a point."""
        if column.source is None and column.name.text in self._variables:
            return self._variables[column.name.text]
        found = self.scope.find(column)
        if found is not None:
            return Typed(Column(found.held), found.type)
        if column.source is not None:
            base = tree.Column(column.source, span=column.span)
            if column.source.text in self._variables or self.scope.find(base) is not None:
                return operators.field(self.typed(base), column.name.text)
        raise self.scope.missing(column)

    def call(self, call: tree.Call) -> Typed:
        """Resolve a function of arguments."""
        found = None if self._hook is None else self._hook(call)
        if found is not None:
            return found
        name = call.function.text
        if is_aggregate(name) or is_table_function(name):
            kind = "an aggregate" if is_aggregate(name) else "a table function"
            raise SqlError(
                "SQL_FUNCTION_PLACE",
                self.scope.text.shown(f"{name} is {kind}, which cannot stand here", call.span),
            )
        return resolve_call(name, [self.argument(name, item) for item in call.arguments])

    def argument(self, function: str, argument: tree.Expression | tree.Lambda) -> Argument:
        """Resolve an argument: a value, a lambda or a unit of time."""
        if isinstance(argument, tree.Lambda):
            return self._lambda(argument)
        if (
            takes_unit(function)
            and isinstance(argument, tree.Column)
            and self.scope.find(argument) is None
            and argument.name.text not in self._variables
        ):
            return Unit(argument.name.text)
        return self.typed(argument)

    def _lambda(self, found: tree.Lambda) -> LambdaArgument:
        names = tuple(name.text for name in found.parameters)

        def resolve(parameters: tuple[Typed, ...]) -> Typed:
            before = dict(self._variables)
            self._variables.update(zip(names, parameters, strict=False))
            try:
                return self.typed(found.body)
            finally:
                self._variables = before

        return LambdaArgument(names, resolve)

    def cast(self, expression: tree.Cast) -> Typed:
        """Resolve a cast."""
        wanted = sql_type(expression.type, self._types, self.scope.text)
        return operators.cast(self.typed(expression.operand), wanted)

    def case(self, expression: tree.Case) -> Typed:
        """Resolve a CASE; with an operand each condition is compared with it."""
        pairs = []
        for when in expression.whens:
            if expression.operand is None:
                condition = self.condition(when.condition, "WHEN")
            else:
                operand = self.typed(expression.operand)
                condition = operators.compare("=", operand, self.typed(when.condition))
            pairs.append((condition, self.typed(when.result)))
        last = expression.otherwise
        return operators.case(pairs, None if last is None else self.typed(last))

    def struct(self, expression: tree.StructValue) -> Typed:
        """Resolve a struct."""
        names = [entry.name.text for entry in expression.entries]
        if len(set(names)) < len(names):
            raise SqlError(
                "SQL_COLUMN_TWICE",
                self.scope.text.shown("a struct has a field twice", expression.span),
            )
        return operators.struct(
            [(entry.name.text, self.typed(entry.value)) for entry in expression.entries]
        )


def _integer(_: Resolver, found: tree.IntegerLiteral) -> Typed:
    small = -(2**31) <= found.value < 2**31
    return Typed(Literal(found.value), INT32 if small else INT64)


def _decimal(_: Resolver, found: tree.DecimalLiteral) -> Typed:
    value = found.value
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    digits = max(len(value.as_tuple().digits) + max(0, exponent), scale)
    return Typed(Literal(value), decimal_of(digits, scale))


def _typed_literal(resolver: Resolver, found: tree.TypedLiteral) -> Typed:
    kinds = {"DATE": Kind.DATE, "TIME": Kind.TIME, "TIMESTAMP": Kind.TIMESTAMP}
    kind = kinds.get(found.type.text)
    if kind is None:
        raise SqlError(
            "SQL_TYPE",
            resolver.scope.text.shown(f"a literal of type {found.type.text}", found.span),
        )
    try:
        if kind is Kind.DATE:
            return Typed(Literal(date.fromisoformat(found.text)), Type(kind))
        if kind is Kind.TIME:
            return Typed(Literal(time.fromisoformat(found.text)), Type(kind))
    except ValueError as error:
        raise SqlError(
            "SQL_LITERAL",
            resolver.scope.text.shown(f"'{found.text}' is no {found.type.text}", found.span),
        ) from error
    return operators.cast(Typed(Literal(found.text), STRING), Type(kind))


def _comparable(
    resolver: Resolver, left: tree.Expression, right: tree.Expression
) -> tuple[Typed, Typed]:
    """Resolve two values to be compared; a text beside a time of the system is a time."""
    if _is_time(left) and isinstance(right, tree.StringLiteral):
        return resolver.typed(left), _moment(resolver, right)
    if _is_time(right) and isinstance(left, tree.StringLiteral):
        return _moment(resolver, left), resolver.typed(right)
    return resolver.typed(left), resolver.typed(right)


def _is_time(expression: tree.Expression) -> bool:
    return isinstance(expression, tree.Column) and expression.name.text in _TIMES


def _moment(resolver: Resolver, found: tree.StringLiteral) -> Typed:
    """Read a time, or the beginning of one, as milliseconds since 1970."""
    millis = moment_millis(found.value)
    if millis is None:
        raise SqlError(
            "SQL_LITERAL",
            resolver.scope.text.shown(f"'{found.value}' is no time", found.span),
            hint="Write '2020-01-31T10:00:00'.",
        )
    return Typed(Literal(millis), INT64)


def _in(resolver: Resolver, found: tree.InList) -> Typed:
    items = [resolver.typed(item) for item in found.items]
    inside = operators.in_list(resolver.typed(found.operand), items)
    return operators.negated(inside) if found.negated else inside


def _between(resolver: Resolver, found: tree.Between) -> Typed:
    operand, low = _comparable(resolver, found.operand, found.low)
    high = _comparable(resolver, found.operand, found.high)[1]
    inside = operators.between(operand, low, high)
    return operators.negated(inside) if found.negated else inside


def _like(resolver: Resolver, found: tree.Like) -> Typed:
    operand, pattern = resolver.typed(found.operand), resolver.typed(found.pattern)
    alike = operators.like(operand, pattern, found.escape)
    return operators.negated(alike) if found.negated else alike


def _distinct(resolver: Resolver, found: tree.IsDistinct) -> Typed:
    left, right = resolver.typed(found.left), resolver.typed(found.right)
    differ = operators.is_distinct(left, right)
    return operators.negated(differ) if found.negated else differ


def _comparison(resolver: Resolver, found: tree.Comparison) -> Typed:
    left, right = _comparable(resolver, found.left, found.right)
    return operators.compare(found.operator, left, right)


def _arithmetic(resolver: Resolver, found: tree.Arithmetic) -> Typed:
    left, right = resolver.typed(found.left), resolver.typed(found.right)
    return operators.arithmetic(found.operator, left, right)


def _logical(resolver: Resolver, found: tree.Logical) -> Typed:
    parts = [resolver.condition(item, found.operator) for item in found.operands]
    return operators.logical(found.operator, parts)


def _map(resolver: Resolver, found: tree.MapValue) -> Typed:
    entries = [(resolver.typed(e.key), resolver.typed(e.value)) for e in found.entries]
    return operators.map_(entries)


def _over(resolver: Resolver, found: tree.Over) -> Typed:
    raise SqlError(
        "SQL_UNSUPPORTED",
        resolver.scope.text.shown("OVER is not supported here", found.span),
        hint="Use WINDOW and GROUP BY.",
    )


_RESOLVE: Mapping[type, Callable[[Resolver, Any], Typed]] = {
    tree.NullLiteral: lambda _, __: Typed(Literal(None), None),
    tree.BooleanLiteral: lambda _, found: Typed(Literal(found.value), BOOLEAN),
    tree.IntegerLiteral: _integer,
    tree.DecimalLiteral: _decimal,
    tree.DoubleLiteral: lambda _, found: Typed(Literal(found.value), FLOAT64),
    tree.StringLiteral: lambda _, found: Typed(Literal(found.value), STRING),
    tree.TypedLiteral: _typed_literal,
    tree.Column: Resolver.column,
    tree.FieldAccess: lambda r, found: operators.field(r.typed(found.base), found.name.text),
    tree.Subscript: lambda r, found: operators.subscript(r.typed(found.base), r.typed(found.index)),
    tree.Call: Resolver.call,
    tree.Over: _over,
    tree.Negative: lambda r, found: operators.negative(r.typed(found.operand)),
    tree.Arithmetic: _arithmetic,
    tree.Comparison: _comparison,
    tree.Logical: _logical,
    tree.Not: lambda r, found: operators.negated(r.condition(found.operand, "NOT")),
    tree.Between: _between,
    tree.InList: _in,
    tree.Like: _like,
    tree.IsNull: lambda r, found: operators.is_null(r.typed(found.operand), negated=found.negated),
    tree.IsDistinct: _distinct,
    tree.AtTimeZone: lambda r, found: operators.at_time_zone(r.typed(found.operand), found.zone),
    tree.Case: Resolver.case,
    tree.Cast: Resolver.cast,
    tree.ArrayValue: lambda r, found: operators.array([r.typed(item) for item in found.items]),
    tree.MapValue: _map,
    tree.StructValue: Resolver.struct,
}


def name_of(expression: tree.Expression) -> Name | None:
    """Give the name that an expression has by itself: a column's, or a field's."""
    match expression:
        case tree.Column(name) | tree.FieldAccess(_, name):
            return name
        case _:
            return None
