"""SELECT by itself: rows that go to whoever asked, now (pull) or from now on (EMIT CHANGES)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.errors import SqlError
from penstock.front.sql.aggregate import aggregated, asks_for_aggregate
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.changes import changes_of
from penstock.front.sql.derived import inner_query
from penstock.front.sql.emitting import refuse_triggers
from penstock.front.sql.explode import Explosion
from penstock.front.sql.expression import Resolver
from penstock.front.sql.join.clause import read_relation
from penstock.front.sql.keying import result_of, stream_rows
from penstock.front.sql.plain_query import plain_query
from penstock.front.sql.project import Given, selected
from penstock.front.sql.pull.check import check_lookup
from penstock.front.sql.pull.query import pulled
from penstock.front.sql.pull.tree import Pulled
from penstock.front.sql.query import QueryReading, filtered, source_of
from penstock.front.sql.reading import Rows, kept
from penstock.front.sql.scope import with_bounds
from penstock.front.sql.sink import Result
from penstock.front.sql.source import WINDOW_END, WINDOW_START, SourceColumn, SqlSource
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.starting import (
    begun_plan,
    refuse_start_of_table,
    setting_start,
    start_of,
)
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_expression import Column as ColumnNode
from penstock.front.sql.tree_expression import InList, NullLiteral, Over, SortItem, StringLiteral
from penstock.front.sql.tree_query import Aliased, Query, Select, Source
from penstock.front.sql.types import type_text
from penstock.front.sql.walk import nodes_of
from penstock.model.expr import Column
from penstock.model.plan import Plan, Sink
from penstock.model.stateless import Named, Project
from penstock.schema.types import Kind

_WINDOW = (WINDOW_START, WINDOW_END)
_OF_HEADERS = ("headers", "header")
_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_KEY = "_key"
ANSWER = "answer"
"""The topic that the rows of a question go to."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: the plan that answers it, and what its rows look like.

    A `pull` question is answered with the rows that there are; where they are of a table, they
    are what its changes amount to. Another one goes on, up to `limit` rows.
    """

    plan: Plan
    reads: tuple[SqlSource, ...]
    columns: tuple[SourceColumn, ...]
    pull: bool
    table: bool
    limit: int | None = None
    order: tuple[str, ...] = ()
    """Columns beside those shown by which the rows of a table are in order."""
    steps: Pulled | None = None
    """The same question as steps on whole frames, where it is one of a table."""

    @property
    def schema(self) -> str:
        """The columns as text, each name quoted; those of headers follow the key."""
        if not (self.pull and self.table):
            return ", ".join(_column_text(column) for column in self.columns)
        columns = self.columns
        if any(column.role in _OF_HEADERS for column in columns):
            ranks = {"key": 0, "headers": 1, "header": 1}
            columns = tuple(sorted(columns, key=lambda column: ranks.get(column.role, 2)))
        return ", ".join(_column_text(column) + _role_text(column) for column in columns)


def _column_text(column: SourceColumn) -> str:
    return f"`{column.name}` {type_text(column.type)}"


def _role_text(column: SourceColumn) -> str:
    if column.header is not None:
        return f" HEADER('{column.header}')"
    return {"key": " KEY", "headers": " HEADERS"}.get(column.role, "")


def asked(query: Query, catalog: Catalog, text: SourceText) -> Asked | Pulled:
    """Resolve a question."""
    whole = plain_query(query, text)
    if query.emit is not None:
        return _begun(_pushed(whole, catalog, text), query, catalog, text)
    select = _lookup(whole)
    if select is None:
        return pulled(whole, catalog, text)
    assert select.relation is not None
    rows = _current(_with_bounds(read_relation(select.relation, catalog, text)))
    check_lookup(rows, select, catalog.settings, text)
    if select.where is not None:
        rows = _where(rows, select, catalog)
    result = _with_key(_projected(rows, select, catalog), rows)
    made = _asked(result, rows, query, table=rows.table)
    if made.table:
        made = replace(made, steps=pulled(_by_key(whole, rows), catalog, text))
    return _begun(made, query, catalog, text)


def _by_key(query: Query, rows: Rows) -> Query:
    """Let the rows of a table come in the order of their keys."""
    bounds = [] if rows.window is None else [WINDOW_START, WINDOW_END]
    known = [column for column in rows.scope.columns if column.type.kind not in _NESTED]
    return replace(
        query,
        order_by=tuple(
            SortItem(ColumnNode(Name(column.name), Name(column.source)))
            for column in known
            if column.held in (*rows.key, *bounds)
        ),
    )


def _pushed(query: Query, catalog: Catalog, text: SourceText) -> Asked:
    """Give a question that is answered row by row."""
    final = query.emit is not None and query.emit.mode == "final"
    reading = QueryReading(catalog, text, inner=True, final=final)
    select = query.body
    if not isinstance(select, Select) or select.distinct or query.order_by or query.top is not None:
        result = reading.result(query)
        return _asked(result, result.rows, query, table=result.table)
    source = source_of(select, text)
    rows, select = reading.chosen(select)
    rows = rows if inner_query(source) is not None else _with_bounds(rows)
    if select.where is not None:
        rows = filtered(rows, select, catalog)
    if asks_for_aggregate(select):
        result = aggregated(rows, select, query, catalog, asked=True)
    else:
        rows = reading.windowed(rows, select)
        if not rows.closes:
            refuse_triggers(query.emit, text)
        result = _projected(_spoken(rows), select, catalog)
    return _asked(result, rows, query, table=result.table)


def _begun(made: Asked, query: Query, catalog: Catalog, text: SourceText) -> Asked:
    """Let a question begin where it says; without a word it is that of the rows to come."""
    if query.start is not None:
        if made.pull:
            refuse_start_of_table(query.start, made.reads, text)
        start = start_of(query.start, text)
    elif made.pull:
        return made
    else:
        start = setting_start(catalog, "latest")
    return replace(made, plan=begun_plan(made.plan, made.reads, start))


def _asked(result: Result, rows: Rows, query: Query, *, table: bool) -> Asked:
    shown = _shown(result, rows)
    sink = Sink(result.relation, ANSWER, site="SELECT", late=None)
    pull = query.emit is None
    order = tuple(name for name in result.relation.schema.names if name.startswith(_KEY))
    plan = Plan("question", (sink,))
    reads = tuple(source for source in rows.sources if not source.file)
    return Asked(plan, reads, shown, pull, table, query.limit, order)


def _lookup(query: Query) -> Select | None:
    """Give a SELECT of the rows of one source as they are; none where a query asks for more."""
    body = query.body
    if not isinstance(body, Select) or query.order_by or query.top is not None:
        return None
    named = isinstance(body.relation, Source | Aliased) and isinstance(
        getattr(body.relation, "relation", body.relation), Source
    )
    over = any(isinstance(node, Over) for node in nodes_of((body.items, body.where)))
    grouped = asks_for_aggregate(body) or body.window is not None or body.having is not None
    plain = not (over or grouped or body.distinct or body.partition_by is not None)
    return body if named and plain else None


def _with_bounds(rows: Rows) -> Rows:
    """Let the bounds of windows be columns of `*`."""
    return rows if len(rows.sources) > 1 else replace(rows, scope=with_bounds(rows.scope))


def _current(rows: Rows) -> Rows:
    """Give the rows that there are: of a table the last of each key."""
    if not rows.table:
        return stream_rows(rows)
    return replace(rows, relation=changes_of(rows))


def _where(rows: Rows, select: Select, catalog: Catalog) -> Rows:
    assert select.where is not None
    for node in nodes_of(select.where):
        if isinstance(node, InList):
            _key_items(node, rows)
    condition = Resolver(rows.scope, catalog.types).condition(select.where, "WHERE")
    return kept(rows, condition.expr, "WHERE")


def _key_items(found: InList, rows: Rows) -> None:
    """Refuse to look for keys that are null, or of another type."""
    column = rows.scope.find(found.operand) if isinstance(found.operand, ColumnNode) else None
    if column is None or column.held not in rows.key:
        return
    for item in found.items:
        other = isinstance(item, StringLiteral) and column.type.numeric
        if isinstance(item, NullLiteral) or other:
            raise SqlError(
                "SQL_PULL",
                rows.scope.text.shown(
                    f'no key "{column.name}" of type {type_text(column.type)} is like this',
                    item.span,
                ),
                hint="Give values of the key's type.",
            )


def _spoken(rows: Rows) -> Rows:
    """Leave out records of a stream without a value: there is nothing to show of them."""
    return rows if rows.table else stream_rows(rows)


def _projected(rows: Rows, select: Select, catalog: Catalog) -> Result:
    explosion = Explosion(rows.scope, catalog.types)
    resolver = Resolver(rows.scope, catalog.types, explosion.hook)
    given = selected(select.items, resolver, joined=len(rows.scope.sources) > 1)
    rows = replace(explosion.exploded(rows), window=None)
    columns = tuple(_as_held(column, rows) for column in given)
    return result_of(rows, given, columns)


def _with_key(made: Result, rows: Rows) -> Result:
    """Let the rows of a table have their key, whether it is shown or not."""
    if not rows.table:
        return made
    plain = [name for name in rows.key if rows.relation.schema.field(name).type.kind not in _NESTED]
    keys = [Named(f"{_KEY}{place}", Column(name)) for place, name in enumerate(plain)]
    project = made.relation
    assert isinstance(project, Project)
    return replace(made, relation=replace(project, columns=(*project.columns, *keys)))


def _as_held(column: Given, rows: Rows) -> SourceColumn:
    """Give a column of the result; one that holds headers says so."""
    held = column.expr.name if isinstance(column.expr, Column) else None
    for known in rows.first.of_role("headers", "header"):
        if known.name == held and len(rows.sources) == 1:
            return SourceColumn(column.name, column.type, known.role, known.header)
    return SourceColumn(column.name, column.type)


def _shown(result: Result, rows: Rows) -> tuple[SourceColumn, ...]:
    """Give the columns in the order of SELECT, those that tell rows apart as keys."""
    own = [column.name for column in result.columns if column.role == "key"]
    names = (*(own or rows.key), *_WINDOW)
    return tuple(
        replace(column, role="key") if column.name in names else column
        for column in result.shown or result.columns
    )
