"""OVER: functions of the rows around a row, in a question about what is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from typing_extensions import override

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.expression import CallHook, Resolver
from penstock.front.sql.functions.aggregates import resolve_aggregate
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.pull.tree import Bound, OverCall, PullOrder
from penstock.front.sql.rewrite import MEASURE, replaced
from penstock.front.sql.scope import Scope
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Duration, Span
from penstock.front.sql.tree_expression import (
    Expression,
    FrameBound,
    IntegerLiteral,
    Lambda,
    Over,
    SortItem,
)
from penstock.model.expr import Cast, Column, Expr, Literal
from penstock.schema.types import INT64, STRING, Kind, Type

if TYPE_CHECKING:
    from penstock.front.sql.tree_expression import Frame

_RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
_NEIGHBOURS = ("LAG", "LEAD")
_ENDS = ("FIRST_VALUE", "LAST_VALUE")
_AGGREGATES = ("SUM", "COUNT", "AVG", "MIN", "MAX")
_KNOWN = (*_RANKS, "NTILE", *_NEIGHBOURS, *_ENDS, *_AGGREGATES)
UNORDERED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_MOST_ARGUMENTS = {**dict.fromkeys(_RANKS, 0), "LAG": 3, "LEAD": 3}


class PullResolver(Resolver):
    """Resolves expressions in which OVER may stand; the calls are put together in `calls`."""

    def __init__(
        self, scope: Scope, types: Mapping[str, Type], hook: CallHook | None = None
    ) -> None:
        super().__init__(scope, types, hook)
        self.calls: list[OverCall] = []

    @override
    def typed(self, expression: Expression) -> Typed:
        if not isinstance(expression, Over):
            return super().typed(expression)
        try:
            call = self._over(expression)
        except SqlError as error:
            if "\n" in error.fact:
                raise
            shown = self.scope.text.shown(error.fact, expression.span)
            raise type(error)(error.code, shown, hint=error.hint) from error
        for known in self.calls:
            if replace(call, name=known.name) == known:
                return Typed(Column(known.name), known.type)
        self.calls.append(call)
        return Typed(Column(call.name), call.type)

    def sorting(self, item: SortItem) -> PullOrder:
        """Resolve an expression to sort by."""
        found = self.typed(item.expression)
        if found.type is not None and found.type.kind in UNORDERED:
            raise unordered(item.span, self.scope.text)
        return PullOrder(found.expr, item.descending, item.nulls == "first")

    def _over(self, over: Over) -> OverCall:
        name = over.call.function.text.upper()
        if name not in _KNOWN or over.call.distinct:
            raise SqlError(
                "SQL_UNSUPPORTED",
                f"{name} cannot be asked OVER rows",
                hint=did_you_mean(name, _KNOWN) or f"OVER takes {', '.join(_KNOWN)}.",
            )
        arguments = [self.typed(a) for a in over.call.arguments if not isinstance(a, Lambda)]
        order = tuple(self.sorting(item) for item in over.order_by)
        if not order and name in (*_RANKS, "NTILE", *_NEIGHBOURS):
            raise SqlError(
                "SQL_OVER",
                f"{name} is asked of rows without an order",
                hint="Add ORDER BY to OVER (...).",
            )
        frame = _frame(over.frame, ordered=bool(order))
        if not frame[0] and (frame[1].amount or frame[2].amount):
            order = (self._range_key(over),)
        return OverCall(
            f"{MEASURE}over{len(self.calls)}",
            name,
            tuple(item.expr for item in _checked(name, arguments)),
            _type(name, arguments),
            tuple(self.typed(item).expr for item in over.partition_by),
            order,
            *frame,
        )

    def _range_key(self, over: Over) -> PullOrder:
        """Give the number by which RANGE n PRECEDING is measured."""
        if len(over.order_by) == 1:
            item = over.order_by[0]
            found = self.typed(item.expression)
            kind = None if found.type is None else found.type.kind
            if kind in (Kind.INT32, Kind.INT64, Kind.TIMESTAMP):
                expr = found.expr if kind is not Kind.TIMESTAMP else Cast(found.expr, INT64)
                return PullOrder(expr, item.descending, item.nulls == "first")
        raise SqlError(
            "SQL_OVER",
            "RANGE is measured by one INTEGER, BIGINT or TIMESTAMP of ORDER BY",
            hint="Order by one, or say ROWS.",
        )


def over_groups(call: OverCall, keys: Mapping[Expr, Expr]) -> OverCall:
    """Let a call be computed of groups instead of rows."""

    def moved(order: PullOrder) -> PullOrder:
        return replace(order, by=replaced(order.by, keys))

    return replace(
        call,
        arguments=tuple(replaced(item, keys) for item in call.arguments),
        partition=tuple(replaced(item, keys) for item in call.partition),
        order=tuple(moved(item) for item in call.order),
    )


def unordered(span: Span, text: SourceText) -> SqlError:
    """Give the error of values that have no order."""
    return SqlError(
        "SQL_ORDER",
        text.shown("values of this type have no order", span),
        hint="Order by a part of it.",
    )


def ordinal(expression: Expression) -> int | None:
    """Give the number of a column of the result: ORDER BY 2."""
    return expression.value if isinstance(expression, IntegerLiteral) else None


def _checked(name: str, arguments: list[Typed]) -> list[Typed]:
    least = 0 if name in (*_RANKS, "COUNT") else 1
    most = _MOST_ARGUMENTS.get(name, 1)
    if not least <= len(arguments) <= most:
        raise SqlError(
            "SQL_FUNCTION_ARGUMENTS",
            f"{name} OVER is given {len(arguments)} arguments",
            hint=f"Give {least} to {most}." if least < most else f"Give {most}.",
        )
    steps = arguments[1:2] if name in _NEIGHBOURS else arguments if name == "NTILE" else []
    for item in steps:
        value = item.expr.value if isinstance(item.expr, Literal) else None
        if not isinstance(value, int) or isinstance(value, bool) or value < (name == "NTILE"):
            raise SqlError(
                "SQL_ARGUMENT_CONSTANT",
                f"{name} is not given a whole number",
                hint="Write the number itself.",
            )
    if len(arguments) == _MOST_ARGUMENTS["LAG"] and arguments[2].type not in (
        None,
        arguments[0].type,
    ):
        raise SqlError(
            "SQL_FUNCTION_ARGUMENTS",
            f"what {name} gives where there is no row is of another type",
            hint="Cast it.",
        )
    return arguments


def _type(name: str, arguments: list[Typed]) -> Type:
    if name in (*_RANKS, "NTILE", "COUNT"):
        return INT64
    if name in _AGGREGATES:
        return resolve_aggregate(name, arguments, "_").type
    return arguments[0].type or STRING


def _frame(said: Frame | None, *, ordered: bool) -> tuple[bool, Bound, Bound]:
    """Give whether rows are counted, and where the frame begins and ends."""
    if said is None:
        return False, Bound(None), Bound(0 if ordered else None)
    start, end = _bound(said.start), _bound(said.end)
    backwards = start.amount is not None and end.amount is not None and start.amount > end.amount
    unbounded = (said.start.side == "following" and start.amount is None) or (
        said.end.side == "preceding" and end.amount is None
    )
    if backwards or unbounded:
        raise SqlError(
            "SQL_OVER", "the frame of OVER ends before it begins", hint="Turn its bounds round."
        )
    timed = any(isinstance(bound.amount, Duration) for bound in (said.start, said.end))
    if timed and said.by == "rows":
        raise SqlError("SQL_OVER", "ROWS are counted, not timed", hint="Say RANGE for a time.")
    if not ordered and (start.amount is not None or end.amount is not None):
        raise SqlError(
            "SQL_OVER", "a frame is asked of rows without an order", hint="Add ORDER BY."
        )
    return said.by == "rows", start, end


def _bound(said: FrameBound) -> Bound:
    if said.side == "current row":
        return Bound(0)
    if said.amount is None:
        return Bound(None)
    amount = said.amount
    size = amount if isinstance(amount, int) else round(amount.delta.total_seconds() * 1000)
    return Bound(-size if said.side == "preceding" else size)
