"""A query becomes rows of the model: FROM, WHERE, GROUP BY, PARTITION BY and SELECT."""

from __future__ import annotations

from penstock.errors import SqlError
from penstock.front.sql.aggregate import aggregated, asks_for_aggregate
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.explode import Explosion
from penstock.front.sql.expression import Resolver
from penstock.front.sql.join import read_relation
from penstock.front.sql.keying import keyed, result_of
from penstock.front.sql.partition import partitioned
from penstock.front.sql.project import selected
from penstock.front.sql.reading import Rows, kept, there
from penstock.front.sql.sink import Result
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.table_filter import table_filter
from penstock.front.sql.tree_query import Query, Select
from penstock.model.expr import Call


def resolved(query: Query, catalog: Catalog, text: SourceText) -> Result:
    """Give the rows of a query."""
    select = plain_select(query, text)
    assert select.relation is not None
    rows = read_relation(select.relation, catalog, text)
    if select.where is not None:
        rows = filtered(rows, select, catalog)
    if asks_for_aggregate(select):
        return aggregated(rows, select, query, catalog)
    if select.having is not None:
        raise SqlError(
            "SQL_GROUP_BY",
            text.shown("HAVING is given without GROUP BY", select.having.span),
            hint="Use WHERE.",
        )
    if select.window is not None:
        raise SqlError(
            "SQL_GROUP_BY",
            text.shown("WINDOW is given without GROUP BY", select.window.span),
            hint="Add GROUP BY.",
        )
    return projected(rows, select, catalog)


def plain_select(query: Query, text: SourceText) -> Select:
    """Give the SELECT of a query that has nothing which only other queries may have."""
    body = query.body
    problem = ""
    if not isinstance(body, Select) or body.distinct:
        problem = "UNION, DISTINCT and subqueries"
    elif query.common or query.order_by or query.top is not None:
        problem = "WITH and ORDER BY"
    elif body.relation is None:
        problem = "a SELECT without FROM"
    if problem:
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown(f"{problem} cannot be run here yet", query.span),
            hint="Leave it out.",
        )
    assert isinstance(body, Select)
    return body


def filtered(rows: Rows, select: Select, catalog: Catalog) -> Rows:
    """Give the rows for which WHERE holds; of a table those it leaves out are gone."""
    assert select.where is not None
    condition = Resolver(rows.scope, catalog.types).condition(select.where, "WHERE").expr
    if rows.table:
        return table_filter(rows, condition)
    value = there(rows)
    return kept(rows, condition if value is None else Call("and", (value, condition)), "WHERE")


def projected(rows: Rows, select: Select, catalog: Catalog) -> Result:
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
    columns = keyed(rows, given, resolver)
    return result_of(rows, given, columns)
