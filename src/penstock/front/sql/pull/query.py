"""A question of any kind about what is there becomes steps on whole frames of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.explode import Explosion
from penstock.front.sql.functions.registry import is_table_function
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.project import Given, selected
from penstock.front.sql.pull.group import Groups, asks_for_groups
from penstock.front.sql.pull.over import (
    UNORDERED,
    PullResolver,
    ordinal,
    over_groups,
    unordered,
)
from penstock.front.sql.pull.reading import Known, PullFrom
from penstock.front.sql.pull.start import begun_step
from penstock.front.sql.pull.tree import (
    AT,
    ROWS,
    PullDistinct,
    Pulled,
    PullFilter,
    PullModel,
    PullNothing,
    PullOrder,
    PullOver,
    PullProject,
    PullSort,
    PullStep,
    PullUnion,
)
from penstock.front.sql.query import check_ungrouped
from penstock.front.sql.reading import Rows
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.set_operation import same_columns
from penstock.front.sql.source import SourceColumn
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_expression import Call, Expression, Over, SortItem
from penstock.front.sql.tree_expression import Column as ColumnNode
from penstock.front.sql.tree_query import Query, QueryBody, Select, Subquery, Union
from penstock.front.sql.walk import calls_of, nodes_of
from penstock.model.expr import Column, Expr
from penstock.model.source import Stream
from penstock.model.stateless import Named
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

_AT = Field(AT, INT64)
_Finish: TypeAlias = Callable[[Typed, Span], Typed]


def pulled(query: Query, catalog: Catalog, text: SourceText) -> Pulled:
    """Resolve a question; names of WITH are no longer in it."""
    known = PullReading(catalog, text).query(replace(query, start=None))
    columns = tuple(SourceColumn(column.name, column.type) for column in known.scope.columns)
    return Pulled(begun_step(known.step, query.start, text), columns)


@dataclass(frozen=True, slots=True)
class _Selected:
    """What a SELECT gives before its columns are computed."""

    resolver: PullResolver
    given: list[Given]
    finish: _Finish
    step: Callable[[], PullStep]


class PullReading:
    """Resolves questions and those inside of them."""

    def __init__(self, catalog: Catalog, text: SourceText) -> None:
        self._catalog = catalog
        self._text = text

    def query(self, query: Query) -> Known:
        """Give the rows of a query, whose columns are called as they are shown."""
        if query.emit is not None or query.start is not None:
            said = query.emit or query.start
            raise SqlError(
                "SQL_UNSUPPORTED",
                self._text.shown(
                    "EMIT, or where reading begins, is said in a question about what is there",
                    said.span if said is not None else query.span,
                ),
                hint="Leave it out, or say it at the end of a query that runs on.",
            )
        if query.top is not None and not query.order_by:
            raise SqlError(
                "SQL_ORDER",
                self._text.shown("LIMIT n BY is given without ORDER BY", query.top.span),
                hint="Say which rows come first: ORDER BY ... LIMIT 3 BY key.",
            )
        if isinstance(query.body, Select):
            return self._of_select(query.body, query)
        return self._sorted(self._body(query.body), query)

    def _body(self, body: QueryBody) -> Known:
        match body:
            case Subquery(inner):
                return self.query(inner)
            case Union(left, right, keep_all):
                one, other = self._body(left), self._body(right)
                columns = same_columns(_shown(one), _shown(other), self._text, body.span)
                names = [
                    Named(a.name, Column(b.held))
                    for a, b in zip(columns, other.scope.columns, strict=True)
                ]
                renamed = PullProject(other.step, (*names, Named(AT, Column(AT))), one.step.schema)
                both: PullStep = PullUnion(one.step, renamed)
                return Known(both if keep_all else PullDistinct(both), one.scope)
            case Select():
                return self._of_select(body, Query(body, span=body.span))

    def _sorted(self, known: Known, query: Query) -> Known:
        """Sort rows by columns of the result."""
        if not query.order_by and query.limit is None:
            return known
        resolver = PullResolver(known.scope, self._catalog.types)
        order = tuple(self._sorting(item, known.scope, resolver) for item in query.order_by)
        keys = () if query.top is None else tuple(resolver.typed(k).expr for k in query.top.keys)
        count = None if query.top is None else query.top.count
        return Known(PullSort(known.step, order, query.limit, count, keys), known.scope)

    def _sorting(self, item: SortItem, scope: Scope, resolver: PullResolver) -> PullOrder:
        number = ordinal(item.expression)
        if number is None:
            return resolver.sorting(item)
        by = numbered(number, scope.columns, item.span, self._text)
        return PullOrder(by, item.descending, item.nulls == "first")

    def _of_select(self, select: Select, query: Query) -> Known:
        found = self._selected(select, query)
        hidden: dict[Expr, str] = {}
        order = tuple(
            PullOrder(
                self._sort_key(item.expression, found, hidden, select),
                item.descending,
                item.nulls == "first",
            )
            for item in query.order_by
        )
        tops = () if query.top is None else query.top.keys
        keys = tuple(self._sort_key(item, found, hidden, select) for item in tops)
        given = [replace(g, typed=found.finish(g.typed, g.span)) for g in found.given]
        step = self._projected(found.step(), given, hidden)
        if select.distinct:
            step = PullDistinct(step)
        if order or query.limit is not None:
            count = None if query.top is None else query.top.count
            step = PullSort(step, order, query.limit, count, keys)
        columns = tuple(ScopeColumn("", g.name, g.name, g.type) for g in given)
        if hidden:
            shown = [Named(column.name, Column(column.name)) for column in columns]
            step = PullProject(step, (*shown, Named(AT, Column(AT))), _schema(given, {}))
        return Known(step, Scope(columns, self._text))

    def _projected(
        self, step: PullStep, given: Sequence[Given], hidden: dict[Expr, str]
    ) -> PullStep:
        named = [Named(column.name, column.expr) for column in given]
        extra = [Named(name, expr) for expr, name in hidden.items()]
        return PullProject(step, (*named, Named(AT, Column(AT)), *extra), _schema(given, hidden))

    def _sort_key(
        self, said: Expression, found: _Selected, hidden: dict[Expr, str], select: Select
    ) -> Expr:
        """Give what is sorted by: a column of the result, or of the rows that it is made of."""
        shown = Scope(
            tuple(ScopeColumn("", c.name, c.name, c.type) for c in found.given), self._text
        )
        number = ordinal(said)
        if number is not None:
            return numbered(number, shown.columns, said.span, self._text)
        if _names_only(said, shown):
            return _ordered(PullResolver(shown, self._catalog.types).typed(said), said, self._text)
        if select.distinct:
            raise SqlError(
                "SQL_ORDER",
                self._text.shown("DISTINCT rows are ordered by what they do not have", said.span),
                hint="Select it, or order by a column of the result.",
            )
        typed = found.finish(found.resolver.typed(said), said.span)
        expr = _ordered(typed, said, self._text)
        return Column(hidden.setdefault(expr, f"_o{len(hidden)}"))

    def _selected(self, select: Select, query: Query) -> _Selected:
        if select.partition_by is not None:
            raise SqlError(
                "SQL_PULL",
                self._text.shown(
                    "PARTITION BY is said in a question about what is there",
                    select.partition_by[0].span if select.partition_by else select.span,
                ),
                hint="Leave it out: it is for streams that are written.",
            )
        known = self._known(select)
        sorting = tuple(item.expression for item in query.order_by)
        if asks_for_groups(select, sorting):
            return self._grouped(known, select)
        check_ungrouped(select, self._text)
        return self._plain(known, select)

    def _known(self, select: Select) -> Known:
        """Give the rows of FROM for which WHERE holds."""
        if select.relation is None:
            known = Known(PullNothing(), Scope((), self._text))
        else:
            known = PullFrom(self._catalog, self._text, self.query).known(select.relation)
        if select.where is None:
            return known
        resolver = PullResolver(known.scope, self._catalog.types)
        condition = resolver.condition(select.where, "WHERE")
        if resolver.calls:
            raise SqlError(
                "SQL_OVER",
                self._text.shown("OVER cannot stand in WHERE", select.where.span),
                hint="Ask for it in a query inside of FROM, and for WHERE around that.",
            )
        return Known(PullFilter(known.step, condition.expr), known.scope)

    def _grouped(self, known: Known, select: Select) -> _Selected:
        groups = Groups(known, select, self._catalog, self._text)
        resolver = groups.resolver
        given = selected(select.items, resolver, joined=len(known.scope.sources) > 1)
        having = None
        if select.having is not None:
            condition = resolver.condition(select.having, "HAVING")
            having = groups.of_groups(condition, select.having.span)

        def step() -> PullStep:
            made: PullStep = groups.step()
            if having is not None:
                made = PullFilter(made, having.expr)
            calls = tuple(over_groups(call, groups.keys) for call in resolver.calls)
            return PullOver(made, calls) if calls else made

        return _Selected(resolver, given, groups.of_groups, step)

    def _plain(self, known: Known, select: Select) -> _Selected:
        types = self._catalog.types
        tables = any(
            is_table_function(call.function.text)
            for item in select.items
            for call in calls_of(item)  # type: ignore[arg-type]  # an item holds expressions
        )
        explosion = Explosion(known.scope, types)
        resolver = PullResolver(known.scope, types, explosion.hook if tables else None)
        given = selected(select.items, resolver, joined=len(known.scope.sources) > 1)

        def step() -> PullStep:
            made = known.step
            if explosion.names:
                stream = Stream(ROWS, made.schema)
                rows = explosion.exploded(Rows(stream, known.scope, (), ()))
                made = PullModel(made, rows.relation, rows.relation.schema)
            return PullOver(made, tuple(resolver.calls)) if resolver.calls else made

        return _Selected(resolver, given, lambda typed, _: typed, step)


def _schema(given: Sequence[Given], hidden: dict[Expr, str]) -> Schema:
    """Give the columns of a result; those only to sort by have a type that nobody asks for."""
    own = [Field(column.name, column.type) for column in given]
    return Schema((*own, _AT, *(Field(name, INT64) for name in hidden.values())))


def _shown(known: Known) -> tuple[SourceColumn, ...]:
    return tuple(SourceColumn(column.name, column.type) for column in known.scope.columns)


def numbered(number: int, columns: Sequence[ScopeColumn], span: Span, text: SourceText) -> Expr:
    """Give a column of the result by its number."""
    if not 1 <= number <= len(columns):
        fact = f"ORDER BY {number}, where the result has {len(columns)} columns"
        raise SqlError("SQL_ORDER", text.shown(fact, span), hint="Columns are counted from 1.")
    column = columns[number - 1]
    return _ordered(Typed(Column(column.held), column.type), span, text)


def _ordered(typed: Typed, said: Expression | Span, text: SourceText) -> Expr:
    """Give an expression to sort by; one whose values have no order is refused."""
    if typed.type is not None and typed.type.kind in UNORDERED:
        span = said if isinstance(said, Span) else said.span
        raise unordered(span, text)
    return typed.expr


def _names_only(said: Expression, shown: Scope) -> bool:
    """Whether an expression is computed of columns of the result."""
    columns = [node for node in nodes_of(said) if isinstance(node, ColumnNode)]
    names = {column.name for column in shown.columns}
    of_result = all(node.source is None and node.name.text in names for node in columns)
    folds = any(isinstance(node, Call | Over) for node in nodes_of(said))
    return bool(columns) and of_result and not folds
