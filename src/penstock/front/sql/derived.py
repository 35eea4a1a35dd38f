"""FROM (query): the rows that a query gives, as a source of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.sink import Result
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START, SourceColumn
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_query import Aliased, Query, Relation, Subquery
from penstock.model.expr import Column, Literal
from penstock.model.relation import Relation as ModelRelation
from penstock.model.stateless import Apply, Named, Project
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

_TIME = "_time"
Resolve: TypeAlias = Callable[[Query], Result]


def inner_query(relation: Relation) -> tuple[Query, str] | None:
    """Give the query of FROM (query) and what it is called; none where it is something else."""
    match relation:
        case Aliased(Subquery(query), alias):
            return query, alias.text
        case Subquery(query):
            return query, ""
        case _:
            return None


def selected_columns(result: Result) -> tuple[SourceColumn, ...]:
    """Give the columns of a result in the order in which they were selected."""
    known = {column.name: column for column in result.columns}
    return tuple(known[name] for name in result.relation.schema.names if name in known)


def derived_rows(result: Result, alias: str, text: SourceText) -> Rows:
    """Give the rows of a result under a name."""
    columns = selected_columns(result)
    own = tuple(
        ScopeColumn(alias, column.name, column.name, column.type, key=column.role == "key")
        for column in columns
    )
    names = {column.name for column in columns}
    system = [ROW_TIME, *((WINDOW_START, WINDOW_END) if result.window is not None else ())]
    hidden = tuple(
        ScopeColumn(alias, name, name, INT64, system=True) for name in system if name not in names
    )
    key = tuple(column.name for column in result.columns if column.role == "key")
    return Rows(
        timed(_with_gone(result)),
        Scope((*own, *hidden), text),
        key,
        result.rows.sources,
        result.table,
        result.window,
        closes=result.closes,
    )


def check_inner(query: Query, text: SourceText) -> None:
    """Refuse what only the outermost query can say."""
    for said, name in ((query.emit, "EMIT"), (query.start, "FROM BEGINNING or another start")):
        if said is not None:
            raise SqlError(
                "SQL_UNSUPPORTED",
                text.shown(f"{name} is said inside of a query", said.span),
                hint="Say it at the end of the outermost query.",
            )
    if query.limit is not None:
        raise SqlError(
            "SQL_LIMIT",
            text.shown("a query inside of one that runs on has a LIMIT", query.span),
            hint="Leave it out, or write ORDER BY ... LIMIT n BY key.",
        )


def _with_gone(result: Result) -> ModelRelation:
    """Give the rows of a table with a column that tells whether they are gone."""
    relation = result.relation
    names = [column.name for column in selected_columns(result)]
    if result.window is not None:
        names += [name for name in (WINDOW_START, WINDOW_END) if name not in names]
    same = [Named(name, Column(name)) for name in names]
    known = GONE in relation.schema.names
    if known or result.table:
        same.append(Named(GONE, Column(GONE) if known else Literal(value=False)))
    return Project(relation, tuple(same), "FROM")


def timed(relation: ModelRelation) -> ModelRelation:
    """Give rows with their time as a column."""
    if ROW_TIME in relation.schema.names:
        return relation
    gives = Schema((*relation.schema.fields, Field(ROW_TIME, INT64)))
    return Apply(relation, "row time", Timing(), "polars", gives, "FROM")


@dataclass(frozen=True, slots=True)
class Timing:
    """Copies the time that every row has into a column."""

    def __call__(self, rows: Any) -> Any:  # noqa: ANN401  # a polars frame
        """Give the rows with that column."""
        return rows.with_columns(rows[_TIME].alias(ROW_TIME))
