"""Queries in fewer words: names of WITH are queries, and f(DISTINCT x) is a function of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from penstock.errors import SqlError
from penstock.front.sql.distinct_call import without_distinct
from penstock.front.sql.filtered_call import without_filter
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Call
from penstock.front.sql.tree_query import Aliased, Query, Source, Subquery

Tree = TypeVar("Tree")


def plain_query(query: Query, text: SourceText) -> Query:
    """Put the queries of WITH in the place of their names; each sees those before it.

    Aggregates of each value once become functions of their own.
    """
    return _of_query(query, {}, text)


def _of_query(query: Query, known: Mapping[str, Query], text: SourceText) -> Query:
    names = dict(known)
    own: set[str] = set()
    for table in query.common:
        if table.name.text in own:
            raise SqlError(
                "SQL_COMMON_TABLE",
                text.shown(f'WITH has "{table.name.text}" twice', table.name.span),
                hint="Give one of them another name.",
            )
        own.add(table.name.text)
        names[table.name.text] = _of_query(table.query, names, text)
    if not names:
        return _replaced(query, names, text)
    return _replaced(replace(query, common=()), names, text)


def _replaced(node: Tree, names: Mapping[str, Query], text: SourceText) -> Tree:
    """Give the same tree with queries for names; what has none stays the same object."""
    changes: dict[str, Any] = {}
    for field in fields(node):  # type: ignore[arg-type]  # every node is a dataclass
        value = getattr(node, field.name)
        made = _value(value, names, text)
        if made is not value:
            changes[field.name] = made
    return replace(node, **changes) if changes else node  # type: ignore[type-var]


def _value(value: Any, names: Mapping[str, Query], text: SourceText) -> Any:  # noqa: ANN401
    match value:
        case Query():
            return _of_query(value, names, text)
        case Aliased(Source(name, None), alias) if name.text in names:
            return Aliased(Subquery(names[name.text], span=name.span), alias, span=value.span)
        case Source(name, None) if name.text in names:
            return Aliased(Subquery(names[name.text], span=name.span), name, span=value.span)
        case Call():
            call = value if value.where is None else without_filter(value, text)
            return _replaced(without_distinct(call, text) if call.distinct else call, names, text)
        case tuple():
            made = tuple(_value(item, names, text) for item in value)
            return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
        case _:
            return _replaced(value, names, text) if is_dataclass(value) else value
