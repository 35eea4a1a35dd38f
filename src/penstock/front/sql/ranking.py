"""ORDER BY ... LIMIT n BY keys: the first rows of each group, kept up to date."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.changes import changes_of
from penstock.front.sql.derived import derived_rows, selected_columns
from penstock.front.sql.expression import Resolver
from penstock.front.sql.rows import GONE
from penstock.front.sql.sink import Result
from penstock.front.sql.source import WINDOW_END, WINDOW_START
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_query import Query
from penstock.model.expr import Column
from penstock.model.process import Process, StateField
from penstock.model.processor import Calls, Context
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project
from penstock.model.top_n import TopN
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, STRING, Kind

_BY, _HELD = "_by", "held"
_UNORDERED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)


def ranked(result: Result, query: Query, catalog: Catalog, text: SourceText) -> Result:
    """Give the rows of a result that are the first of their groups."""
    top = query.top
    if top is None:
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown("ORDER BY of a query that runs on, whose rows never end", query.span),
            hint="Add LIMIT n BY key for the first rows of each key, or ask without EMIT.",
        )
    if len(query.order_by) != 1 or top.count < 1:
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown("LIMIT n BY needs one expression of ORDER BY, and n above 0", top.span),
            hint="Write ORDER BY one DESC LIMIT 3 BY key.",
        )
    if query.order_by[0].nulls == "first":
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown("nulls come last in a query that runs on", query.order_by[0].span),
            hint="Order by COALESCE(column, the value they stand for).",
        )
    rows = derived_rows(result, "", text)
    resolver = Resolver(rows.scope, catalog.types)
    order = query.order_by[0]
    by = resolver.typed(order.expression)
    if by.type is None or by.type.kind in _UNORDERED:
        raise SqlError("SQL_ORDER", text.shown("nothing has an order by this", order.span))
    source: Relation = changes_of(rows) if result.table else rows.relation
    groups = [resolver.typed(item).expr for item in top.keys]
    named = [Named(f"_group{place}", group) for place, group in enumerate(groups)]
    same = [Named(name, Column(name)) for name in source.schema.names]
    wide = Project(source, (*same, *named, Named(_BY, by.expr)), "ORDER BY")
    first = TopN(
        wide,
        tuple(column.name for column in named),
        _BY,
        top.count,
        order.descending,
        site="ORDER BY",
    )
    return replace(result, relation=_as_rows(first, result) if result.table else first)


def _as_rows(changes: Relation, result: Result) -> Relation:
    """Give changes as rows by key, of which some are gone."""
    key = [column.name for column in result.columns if column.role == "key"]
    bounds = [] if result.window is None else [WINDOW_START, WINDOW_END]
    names = [column.name for column in selected_columns(result)]
    same = [Named(name, Column(name)) for name in dict.fromkeys([*names, *key, *bounds])]
    plain = Project(changes, tuple(same), "ORDER BY")
    gives = Schema((*plain.schema.fields, Field(GONE, BOOLEAN)))
    state = (StateField(_HELD, "value", STRING),)
    keys = tuple(dict.fromkeys([*key, *bounds]))
    # A row may leave one group and enter another: which is told first is not known.
    return Process(
        plain, keys, "first rows", Holding(), gives, state, changelog=True, site="ORDER BY"
    )


@dataclass(frozen=True)
class Holding:
    """Knows the row of each key; one that is taken back after another came is no longer it."""

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Give the function to call."""
        held = state[_HELD]

        def process(row: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
            shown = repr(sorted(row.items()))
            if context.weight > 0:
                held.value = shown
                yield {**row, GONE: False}
            elif held.value == shown:
                held.value = None
                yield {**row, GONE: True}

        return Calls(process)
