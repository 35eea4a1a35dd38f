"""Values of the rows that a pattern has matched: `b.price`, `PREV(price)`, `SUM(b.price)`.

A column of a variable is that of the last row matched by it; in the condition of the variable
itself it is the row being tried. A column without a variable is that of the row being tried, and
in MEASURES of the last row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from typing_extensions import override

from penstock.errors import ModelError, SqlError, did_you_mean
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.match.condition import by_rows
from penstock.front.sql.rewrite import replaced
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Call, Expression, IntegerLiteral, Lambda
from penstock.front.sql.tree_expression import Column as ColumnNode
from penstock.model.expr import Column, Expr, columns_of
from penstock.model.navigation import (
    Navigation,
    Reach,
    navigation_expr,
    navigation_type,
)
from penstock.schema.schema import Schema
from penstock.schema.types import Type

_BETWEEN = "\N{UNIT SEPARATOR}"
_ENDS: Mapping[str, Reach] = {"FIRST": "first", "LAST": "last"}
_AGGREGATES: Mapping[str, Reach] = {
    "COUNT": "count",
    "SUM": "sum",
    "AVG": "avg",
    "MIN": "min",
    "MAX": "max",
    "COLLECT_LIST": "collect_list",
}
_NUMBERS: Mapping[str, Reach] = {"CLASSIFIER": "classifier", "MATCH_NUMBER": "match_number"}


@dataclass(frozen=True, slots=True)
class PatternScope(Scope):
    """Columns of rows, which the variables of a pattern have, too."""

    variables: tuple[str, ...] = ()

    @override
    def find(self, column: ColumnNode) -> ScopeColumn | None:
        """Give what a name stands for: a column of a row, or of the rows of a variable."""
        if column.source is None or column.source.text not in self.variables:
            return Scope.find(self, column)
        found = Scope.find(self, replace(column, source=None))
        if found is None:
            return None
        return replace(found, held=f"{column.source.text}{_BETWEEN}{found.held}")

    @override
    def missing(self, column: ColumnNode) -> SqlError:
        """Give the error of a name that nothing has: of a variable, or of a column."""
        source = column.source
        known = (*self.variables, *self.sources)
        if source is None or source.text in known:
            return Scope.missing(self, column)
        return SqlError(
            "SQL_PATTERN",
            self.text.shown(f'the pattern has no variable "{source.text}"', source.span),
            hint=did_you_mean(source.text, known) or f"Its variables: {', '.join(self.variables)}.",
        )


class PatternValues:
    """Resolves expressions over the rows of a match."""

    def __init__(self, scope: PatternScope, schema: Schema, types: Mapping[str, Type]) -> None:
        self._plain = Resolver(scope, types)
        self._resolver = Resolver(scope, types, self._navigated)
        self._schema = schema
        self._text: SourceText = scope.text

    def condition(self, said: Expression, own: str = "") -> Expr:
        """Give the condition of a variable, whose own row is the one being tried."""
        found = self._settled(self._resolver.condition(said, "DEFINE").expr, own)
        try:
            return by_rows(found, own)
        except SqlError as error:
            shown = self._text.shown(error.fact, said.span)
            raise SqlError("SQL_PATTERN", shown, hint=error.hint) from error

    def measure(self, said: Expression) -> Typed:
        """Give a value of a match."""
        found = self._resolver.typed(said)
        return Typed(self._settled(found.expr), found.type)

    def _settled(self, expr: Expr, own: str = "") -> Expr:
        """Let columns of variables be those of their last rows."""
        by: dict[Expr, Expr] = {}
        for name in columns_of(expr):
            variable, between, held = name.partition(_BETWEEN)
            if between and variable == own:
                by[Column(name)] = Column(held)
            elif between:
                last = Navigation("last", (variable,), Column(held))
                by[Column(name)] = navigation_expr(last)
        return replaced(expr, by)

    def _navigated(self, call: Call) -> Typed | None:
        """Give a value of other rows, where a function asks for one."""
        name = call.function.text
        if name == "NEXT":
            raise self._refused(call, "NEXT asks for a row that comes later", _NO_NEXT)
        if name == "PREV":
            return self._typed(self._before(call), call)
        if name in _NUMBERS:
            return self._typed(self._number(call), call)
        if name in _ENDS:
            return self._typed(self._end(call), call)
        if name in _AGGREGATES:
            return self._typed(self._aggregate(call), call)
        return None

    def _typed(self, navigation: Navigation, call: Call) -> Typed:
        try:
            found = navigation_type(navigation, self._schema)
        except ModelError as error:
            raise self._refused(call, error.fact, error.hint) from error
        return Typed(navigation_expr(navigation), found)

    def _number(self, call: Call) -> Navigation:
        if call.arguments:
            raise self._refused(call, f"{call.function.text} has an argument", "Leave it out.")
        return Navigation(_NUMBERS[call.function.text])

    def _end(self, call: Call) -> Navigation:
        said, offset = self._asked(call)
        steps, of = self._rows(said, call)
        return Navigation(_ENDS[call.function.text], steps, of, offset=offset)

    def _before(self, call: Call) -> Navigation:
        said, back = self._asked(call, default=1)
        if isinstance(said, Call) and said.function.text in _ENDS:
            return replace(self._end(said), back=back)
        steps, of = self._rows(said, call)
        return Navigation("last", steps, of, back=back)

    def _aggregate(self, call: Call) -> Navigation:
        function = _AGGREGATES[call.function.text]
        if call.distinct or len(call.arguments) > 1:
            hint = "Ask for one value, without DISTINCT."
            raise self._refused(call, f"{call.function.text} of rows cannot be asked so", hint)
        if call.star:
            return Navigation(function)
        said, _ = self._asked(call)
        steps, of = self._rows(said, call)
        return Navigation(function, steps, of)

    def _asked(self, call: Call, default: int = 0) -> tuple[Expression, int]:
        """Give what is asked of a row, and how many rows further on or back it is."""
        said, *more = call.arguments or (None,)
        plain = len(more) <= 1 and all(isinstance(item, IntegerLiteral) for item in more)
        if said is None or isinstance(said, Lambda) or not plain:
            raise self._refused(
                call,
                f"{call.function.text} is not asked for a value of a row",
                f"Write {call.function.text}(b.price), or with a number of rows after it.",
            )
        offset = next((item.value for item in more if isinstance(item, IntegerLiteral)), default)
        return said, offset

    def _rows(self, said: Expression, call: Call) -> tuple[tuple[str, ...], Expr]:
        """Give whose rows are asked, and for what; rows of two variables are no one's."""
        expr = self._plain.typed(said).expr
        variables = dict.fromkeys(name.partition(_BETWEEN)[:2] for name in columns_of(expr))
        named = [name if between else "" for name, between in variables]
        if len(set(named)) > 1:
            raise self._refused(
                call,
                f"{call.function.text} asks a row of several variables",
                "Name columns of one variable inside of it.",
            )
        by: dict[Expr, Expr] = {
            Column(name): Column(name.rpartition(_BETWEEN)[2]) for name in columns_of(expr)
        }
        steps = tuple(name for name in set(named) if name)
        return steps, replaced(expr, by)

    def _refused(self, call: Call, fact: str, hint: str) -> SqlError:
        return SqlError("SQL_PATTERN", self._text.shown(fact, call.span), hint=hint)


_NO_NEXT = "Name a variable for that row, and put the condition there."
