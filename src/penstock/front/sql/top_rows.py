"""ROW_NUMBER() OVER (...), and WHERE bounds it: the first rows of each group, kept up to date.

    SELECT ... FROM (
      SELECT ..., ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC) AS place FROM rows
    ) WHERE place <= 3

Only so can places be told of rows that never end: each row that comes may move all after it. Of
rows in windows the places are final once their window is closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.changes import changes_of
from penstock.front.sql.derived import inner_query
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.keying import stream_rows
from penstock.front.sql.project import column_twice, selected
from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import (
    Column as ColumnNode,
)
from penstock.front.sql.tree_expression import (
    Comparison,
    Expression,
    IntegerLiteral,
    Logical,
    Over,
    SortItem,
)
from penstock.front.sql.tree_query import Query, Select, Selected, SelectItem
from penstock.model.change_rows import ChangeRows
from penstock.model.expr import Column, Literal
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project
from penstock.model.top_n import Sorting, TopN
from penstock.schema.types import INT64, Kind

_RANKS = ("ROW_NUMBER", "RANK")
_UNORDERED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "=": "="}
_SITE = "OVER"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query that numbers rows under a name, up to where, and what else is asked of its rows."""

    query: Query
    select: Select
    alias: str
    over: Over
    name: str
    count: int
    rest: Expression | None

    @property
    def items(self) -> tuple[Selected, ...]:
        """What is selected beside the places."""
        return tuple(item for item in self.select.items if _ranking(item) is None)

    @property
    def ties(self) -> bool:
        """Whether rows that are alike share a place."""
        return self.over.call.function.text.upper() == "RANK"


def ranked_query(select: Select, text: SourceText) -> Ranked | None:
    """Give the query in FROM that numbers rows, where it does."""
    found = None if select.relation is None else inner_query(select.relation)
    if found is None or not isinstance(found[0].body, Select):
        return None
    inner = found[0].body
    items = [item for item in inner.items if _ranking(item) is not None]
    if not items:
        return None
    item = items[0]
    over = _ranking(item)
    assert isinstance(item, SelectItem)
    assert over is not None
    _check(item, over, inner, several=len(items) > 1, text=text)
    assert item.alias is not None
    conditions = [] if select.where is None else list(_conditions(select.where))
    for place, condition in enumerate(conditions):
        count = _bound(condition, item.alias.text, found[1])
        if count is not None and count > 0:
            rest = _joined([*conditions[:place], *conditions[place + 1 :]])
            return Ranked(found[0], inner, found[1], over, item.alias.text, count, rest)
    raise SqlError(
        "SQL_OVER",
        text.shown("nothing says up to which place rows are wanted", over.span),
        hint=f"Write WHERE {item.alias.text.lower()} <= 10 in the query around it.",
    )


def top_rows(ranked: Ranked, rows: Rows, catalog: Catalog, text: SourceText) -> Rows:
    """Give the first rows of each group as a table, or once and for all where windows close."""
    made = _Top(ranked, rows, Resolver(rows.scope, catalog.types), text)
    return made.rows_given()


class _Top:
    def __init__(self, ranked: Ranked, rows: Rows, resolver: Resolver, text: SourceText) -> None:
        self._ranked = ranked
        self._rows = rows
        self._resolver = resolver
        self._text = text
        joined = len(rows.scope.sources) > 1
        self._given = selected(ranked.items, resolver, joined=joined)
        for column in self._given:
            if column.name == ranked.name:
                raise column_twice(column, resolver)
        self._named = {column.name: column.expr for column in self._given}
        groups = [resolver.typed(item) for item in ranked.over.partition_by]
        self._groups = tuple(self._name_of(group, f"_group{n}") for n, group in enumerate(groups))
        self._windows = any(group.expr in _bounds(rows) for group in groups)

    def rows_given(self) -> Rows:
        ranked, rows = self._ranked, self._rows
        sorting = tuple(self._sorting(item, n) for n, item in enumerate(ranked.over.order_by))
        closing = rows.closes and self._windows
        if rows.closes and not self._windows:
            raise SqlError(
                "SQL_OVER",
                self._text.shown("places are final only in windows that close", ranked.over.span),
                hint="Add PARTITION BY WINDOWSTART, or leave out EMIT FINAL.",
            )
        if ranked.ties and not closing:
            raise SqlError(
                "SQL_OVER",
                self._text.shown("rows that share a place have no key", ranked.over.span),
                hint="Use ROW_NUMBER(), or windows with EMIT FINAL, where nothing is taken back.",
            )
        if closing:
            self._named[WINDOW_END] = Column(WINDOW_END)
        source = changes_of(rows) if rows.table else stream_rows(rows).relation
        if ROW_TIME in source.schema.names:
            self._named.setdefault(ROW_TIME, Column(ROW_TIME))
        wide = Project(source, tuple(Named(*item) for item in self._named.items()), _SITE)
        first, *then = sorting
        top = TopN(
            wide,
            self._groups,
            first.column,
            ranked.count,
            first.descending,
            site=_SITE,
            then=tuple(then),
            ties=ranked.ties,
            number=ranked.name,
            until=WINDOW_END if closing else None,
        )
        return self._final(top) if closing else self._table(top)

    def _table(self, top: Relation) -> Rows:
        ranked = self._ranked
        alone = ranked.count == 1 and self._groups
        key = self._groups if alone else (*self._groups, ranked.name)
        same = [Named(name, Column(name)) for name in top.schema.names]
        marked = Project(top, (*same, Named(GONE, Literal(value=False))), _SITE)
        told = ChangeRows(marked, GONE, key, site=_SITE)
        return Rows(told, self._scope(top, key), key, self._rows.sources, table=True)

    def _final(self, top: Relation) -> Rows:
        return Rows(top, self._scope(top, ()), (), self._rows.sources, closes=True)

    def _scope(self, top: Relation, key: tuple[str, ...]) -> Scope:
        alias, name = self._ranked.alias, self._ranked.name
        own = [
            ScopeColumn(alias, it.name, it.name, it.type, key=it.name in key) for it in self._given
        ]
        own.append(ScopeColumn(alias, name, name, INT64, key=name in key))
        known = top.schema
        if ROW_TIME in known.names and ROW_TIME not in {it.name for it in self._given}:
            own.append(ScopeColumn(alias, ROW_TIME, ROW_TIME, INT64, system=True))
        return Scope(tuple(own), self._text)

    def _sorting(self, item: SortItem, place: int) -> Sorting:
        typed = self._resolver.typed(item.expression)
        if typed.type is None or typed.type.kind in _UNORDERED:
            raise SqlError("SQL_ORDER", self._text.shown("nothing has an order by this", item.span))
        if item.nulls == "first":
            raise SqlError(
                "SQL_UNSUPPORTED",
                self._text.shown("nulls come last in a query that runs on", item.span),
                hint="Order by COALESCE(column, the value they stand for).",
            )
        return Sorting(self._name_of(typed, f"_by{place}"), item.descending)

    def _name_of(self, typed: Typed, otherwise: str) -> str:
        """Name the column that holds a value: one that is selected, or one of its own."""
        for name, expr in self._named.items():
            if expr == typed.expr:
                return name
        self._named[otherwise] = typed.expr
        return otherwise


def _bounds(rows: Rows) -> tuple[Column, ...]:
    known = rows.relation.schema.names
    return tuple(Column(name) for name in (WINDOW_START, WINDOW_END) if name in known)


def _ranking(item: Selected) -> Over | None:
    if not isinstance(item, SelectItem) or not isinstance(item.expression, Over):
        return None
    over = item.expression
    return over if over.call.function.text.upper() in _RANKS else None


def _check(item: SelectItem, over: Over, inner: Select, *, several: bool, text: SourceText) -> None:
    problem = None
    if several:
        problem = "places are told in two ways", "Nest one query in the other."
    elif item.alias is None:
        problem = "places have no name", "Write ... OVER (...) AS place."
    elif not over.order_by:
        problem = "places are told without an order", "Add ORDER BY in the brackets."
    elif over.frame is not None or over.call.arguments or over.call.star:
        problem = "places take no arguments and no frame", "Write ROW_NUMBER() OVER (...)."
    elif inner.group_by is not None or inner.distinct or inner.partition_by is not None:
        problem = (
            "places of groups are told with GROUP BY",
            "Put GROUP BY in a query in FROM.",
        )
    if problem is not None:
        raise SqlError("SQL_OVER", text.shown(problem[0], over.span), hint=problem[1])


def _conditions(where: Expression) -> Iterator[Expression]:
    if isinstance(where, Logical) and where.operator.upper() == "AND":
        for item in where.operands:
            yield from _conditions(item)
    else:
        yield where


def _joined(conditions: Sequence[Expression]) -> Expression | None:
    if len(conditions) < 2:  # noqa: PLR2004  # one needs no AND
        return conditions[0] if conditions else None
    return Logical("AND", tuple(conditions), span=conditions[0].span)


def _bound(condition: Expression, name: str, alias: str) -> int | None:
    """Give up to which place a condition lets rows through; none where it says something else."""
    if not isinstance(condition, Comparison):
        return None
    left, right, operator = condition.left, condition.right, condition.operator
    if isinstance(left, IntegerLiteral):
        left, right, operator = right, left, _TURNED.get(operator, "")  # type: ignore[assignment]
    named = isinstance(left, ColumnNode) and left.name.text == name
    if not named or not isinstance(right, IntegerLiteral):
        return None
    assert isinstance(left, ColumnNode)
    if left.source is not None and left.source.text != alias:
        return None
    most = {"<=": right.value, "<": right.value - 1, "=": right.value}.get(operator)
    return None if operator == "=" and right.value != 1 else most
