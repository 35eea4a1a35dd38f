"""A query becomes rows of the model: FROM, WHERE, GROUP BY, PARTITION BY and SELECT."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from penstock.errors import SqlError
from penstock.front.sql.aggregate import aggregated, asks_for_aggregate
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.derived import check_inner, derived_rows, inner_query
from penstock.front.sql.emitting import refuse_triggers
from penstock.front.sql.explode import Explosion
from penstock.front.sql.expression import Resolver
from penstock.front.sql.file_source import file_rows
from penstock.front.sql.join.clause import read_relation
from penstock.front.sql.keying import keyed, result_of
from penstock.front.sql.partition import partitioned
from penstock.front.sql.plain_query import plain_query
from penstock.front.sql.project import selected
from penstock.front.sql.ranking import ranked
from penstock.front.sql.reading import Rows, kept, there
from penstock.front.sql.set_operation import distinct, united
from penstock.front.sql.sink import Result
from penstock.front.sql.source import SourceColumn
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.starting import OFFSET_RESET, begun, begun_result, setting_start
from penstock.front.sql.table_filter import table_filter
from penstock.front.sql.top_rows import Ranked, ranked_query, top_rows
from penstock.front.sql.tree_query import Query, QueryBody, Relation, Select, Subquery, Union
from penstock.front.sql.tree_statement import SourceKind
from penstock.front.sql.waiting import waited
from penstock.front.sql.window_rows import window_rows
from penstock.model.expr import Call


def resolved(
    query: Query, catalog: Catalog, text: SourceText, kind: SourceKind | None = None
) -> Result:
    """Give the rows of a query that writes to a source of a kind."""
    final = query.emit is not None and query.emit.mode == "final"
    reading = QueryReading(catalog, text, kind=kind, final=final)
    result = reading.result(plain_query(query, text))
    if query.start is None and catalog.setting(OFFSET_RESET):
        start = setting_start(catalog, "beginning")
        result = replace(result, relation=begun(result.relation, result.rows.sources, start))
    if query.top is not None and not result.table:
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown("rows of a stream have no key to be taken back by", query.top.span),
            hint="GROUP BY first, so that each row has a key, or ask with EMIT CHANGES.",
        )
    return result


class QueryReading:
    """Resolves queries and those inside of them; inner ones may leave out the key of a stream.

    Where the outermost one is `final`, windows inside of it give each result once.
    """

    def __init__(
        self,
        catalog: Catalog,
        text: SourceText,
        *,
        inner: bool = False,
        kind: SourceKind | None = None,
        final: bool = False,
    ) -> None:
        self._final = final
        self._catalog = catalog
        self._text = text
        self._inner = inner
        self._kind = kind

    def result(self, query: Query) -> Result:
        """Give the rows of a query."""
        made = self._body(query.body, query)
        if query.order_by or query.top is not None:
            made = ranked(made, query, self._catalog, self._text)
        return begun_result(made, query.start, self._text)

    def rows(self, relation: Relation) -> Rows:
        """Give the rows of FROM."""
        return read_relation(relation, self._catalog, self._text, self._derived)

    def chosen(self, select: Select) -> tuple[Rows, Select]:
        """Give the rows of FROM, and what is left to be said of them where it bounds places."""
        ranked = ranked_query(select, self._text)
        if ranked is None:
            return self.rows(source_of(select, self._text)), select
        return self._top(ranked), replace(select, where=ranked.rest)

    def _derived(self, relation: Relation, delay: timedelta) -> Rows | None:
        found = inner_query(relation)
        if found is None:
            made = file_rows(relation, self._catalog, self._text)
            return None if made is None else waited(made, delay)
        query, alias = found
        check_inner(query, self._text)
        inside = QueryReading(self._catalog, self._text, inner=True, final=self._final)
        return waited(derived_rows(inside.result(query), alias, self._text), delay)

    def _body(self, body: QueryBody, query: Query) -> Result:
        match body:
            case Select():
                made = self._select(body, query)
                return distinct(made, self._text, body.span) if body.distinct else made
            case Union(left, right, keep_all):
                refuse_triggers(query.emit, self._text)
                inside = QueryReading(self._catalog, self._text, inner=True)
                alone = replace(query, emit=None)
                one, other = inside._body(left, alone), inside._body(right, alone)
                made = united(one, other, self._text, body.span)
                return made if keep_all else distinct(made, self._text, body.span)
            case Subquery(inner):
                refuse_triggers(query.emit, self._text)
                check_inner(inner, self._text)
                return self.result(inner)

    def _select(self, select: Select, query: Query) -> Result:
        rows, select = self.chosen(select)
        if select.where is not None:
            rows = filtered(rows, select, self._catalog)
        if asks_for_aggregate(select):
            rows = replace(rows, closes=rows.closes or (self._final and self._inner))
            return aggregated(rows, select, query, self._catalog, kind=self._kind)
        rows = self.windowed(rows, select)
        check_ungrouped(select, self._text)
        if not rows.closes:
            refuse_triggers(query.emit, self._text)
        made = projected(rows, select, self._catalog, inner=self._inner)
        return replace(made, closes=rows.closes)

    def _top(self, ranked: Ranked) -> Rows:
        """Give the rows of a query that are the first of their groups."""
        check_inner(ranked.query, self._text)
        inner = ranked.select
        inside = QueryReading(self._catalog, self._text, inner=True, final=self._final)
        rows = inside.rows(source_of(inner, self._text))
        if inner.where is not None:
            rows = filtered(rows, inner, self._catalog)
        rows = self.windowed(rows, inner)
        return top_rows(ranked, rows, self._catalog, self._text)

    def windowed(self, rows: Rows, select: Select) -> Rows:
        """Give rows that know their window, where WINDOW stands without GROUP BY."""
        if select.window is None:
            return rows
        resolver = Resolver(rows.scope, self._catalog.types)
        return window_rows(rows, select.window, resolver, final=self._final)


def source_of(select: Select, text: SourceText) -> Relation:
    """Give what a SELECT reads; one that reads nothing is refused."""
    if select.relation is None:
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown("a SELECT without FROM has no rows that could come", select.span),
            hint="Add FROM, or ask it without EMIT.",
        )
    return select.relation


def check_ungrouped(select: Select, text: SourceText) -> None:
    """Refuse what only groups can have."""
    if select.having is not None:
        raise SqlError(
            "SQL_GROUP_BY",
            text.shown("HAVING is given without GROUP BY", select.having.span),
            hint="Use WHERE.",
        )


def filtered(rows: Rows, select: Select, catalog: Catalog) -> Rows:
    """Give the rows for which WHERE holds; of a table those it leaves out are gone."""
    assert select.where is not None
    condition = Resolver(rows.scope, catalog.types).condition(select.where, "WHERE").expr
    if rows.table:
        return table_filter(rows, condition)
    value = there(rows)
    return kept(rows, condition if value is None else Call("and", (value, condition)), "WHERE")


def projected(rows: Rows, select: Select, catalog: Catalog, *, inner: bool = False) -> Result:
    """Give the columns of SELECT, row by row."""
    explosion = Explosion(rows.scope, catalog.types)
    resolver = Resolver(rows.scope, catalog.types, explosion.hook)
    joined = len(rows.scope.sources) > 1
    given = selected(select.items, resolver, joined=joined)
    if explosion.names and rows.table:
        raise SqlError(
            "SQL_FUNCTION_PLACE",
            resolver.scope.text.shown("a table function is asked of a table", select.items[0].span),
        )
    rows = explosion.exploded(rows)
    if select.partition_by is not None:
        return partitioned(rows, select, given, resolver)
    try:
        columns = keyed(rows, given, resolver)
    except SqlError as error:
        if not inner or rows.table or error.code != "SQL_KEY":
            raise
        # Rows that only another query sees need no key.
        columns = tuple(SourceColumn(column.name, column.type) for column in given)
    return result_of(rows, given, columns)
