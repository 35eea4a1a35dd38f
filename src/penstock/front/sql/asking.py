"""SELECT by itself: rows that go to whoever asked, now (pull) or from now on (EMIT CHANGES)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.errors import SqlError
from penstock.front.sql.aggregate import aggregated, asks_for_aggregate
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.changes import changes_of
from penstock.front.sql.explode import Explosion
from penstock.front.sql.expression import Resolver
from penstock.front.sql.join import read_relation
from penstock.front.sql.keying import result_of, stream_rows
from penstock.front.sql.project import selected
from penstock.front.sql.query import filtered, plain_select
from penstock.front.sql.reading import Rows, kept
from penstock.front.sql.scope import with_bounds
from penstock.front.sql.sink import Result
from penstock.front.sql.source import WINDOW_END, WINDOW_START, SourceColumn, SqlSource
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Column, InList, NullLiteral, StringLiteral
from penstock.front.sql.tree_query import Query, Select
from penstock.front.sql.types import type_text
from penstock.front.sql.walk import nodes_of
from penstock.model.plan import Plan, Sink

_WINDOW = (WINDOW_START, WINDOW_END)
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

    @property
    def schema(self) -> str:
        """The columns as text, each name quoted."""
        marked = self.pull and self.table
        return ", ".join(
            f"`{column.name}` {type_text(column.type)}"
            + (" KEY" if marked and column.role == "key" else "")
            for column in self.columns
        )


def asked(query: Query, catalog: Catalog, text: SourceText) -> Asked:
    """Resolve a question."""
    select = plain_select(query, text)
    assert select.relation is not None
    pull = query.emit is None
    rows = _with_bounds(read_relation(select.relation, catalog, text))
    if pull:
        _pullable(rows, select, text)
        rows = _current(rows)
    table = rows.table
    if select.where is not None:
        rows = _where(rows, select, catalog) if pull else filtered(rows, select, catalog)
    if asks_for_aggregate(select):
        result = aggregated(rows, select, query, catalog, asked=True)
    else:
        result = _projected(rows if pull else _spoken(rows), select, catalog)
    shown = _shown(result, rows)
    sink = Sink(result.relation, ANSWER, site="SELECT", late=None, dead=None)
    return Asked(Plan("question", (sink,)), rows.sources, shown, pull, table, query.limit)


def _pullable(rows: Rows, select: Select, text: SourceText) -> None:
    """Refuse a pull query that would have to go on: one of a join, or with groups."""
    if len(rows.sources) > 1 or asks_for_aggregate(select) or select.partition_by is not None:
        raise SqlError(
            "SQL_PULL",
            text.shown("a query of what is there now joins, groups or partitions", select.span),
            hint="Add EMIT CHANGES, or make a table of it first and ask that.",
        )


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
    column = rows.scope.find(found.operand) if isinstance(found.operand, Column) else None
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
    columns = tuple(SourceColumn(column.name, column.type) for column in given)
    return result_of(rows, given, columns)


def _shown(result: Result, rows: Rows) -> tuple[SourceColumn, ...]:
    """Give the columns in the order of SELECT, those that tell rows apart as keys."""
    names = (*rows.key, *_WINDOW)
    return tuple(
        replace(column, role="key") if column.name in names else column
        for column in result.shown or result.columns
    )
