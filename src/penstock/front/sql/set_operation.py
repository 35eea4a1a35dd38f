"""UNION and DISTINCT of queries that run on."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import SqlError
from penstock.front.sql.derived import selected_columns
from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.scope import Scope
from penstock.front.sql.sink import Result
from penstock.front.sql.source import SourceColumn
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span
from penstock.front.sql.types import type_text
from penstock.model.dedup import Dedup
from penstock.model.expr import Call, Cast, Column, Expr
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project, Union
from penstock.schema.types import Kind, Type


def distinct(result: Result, text: SourceText, span: Span) -> Result:
    """Give each row once: that of a stream when it comes first, those of a table are so."""
    if result.table:
        return result
    columns = selected_columns(result)
    for column in columns:
        if _has_map(column.type):
            raise SqlError(
                "SQL_UNSUPPORTED",
                text.shown(f'column "{column.name}" of rows that are compared holds a MAP', span),
                hint="Leave it out of SELECT DISTINCT or UNION, or write UNION ALL.",
            )
    plain = _plain(result, [column.name for column in columns])
    once = Dedup(plain, tuple(column.name for column in columns), site="DISTINCT")
    return replace(result, relation=once)


def united(left: Result, right: Result, text: SourceText, span: Span) -> Result:
    """Give the rows of two streams."""
    if left.table or right.table:
        raise SqlError(
            "SQL_UNSUPPORTED",
            text.shown("UNION of a table: rows of both may have one key", span),
            hint="Join the tables, or ask without EMIT.",
        )
    columns = same_columns(selected_columns(left), selected_columns(right), text, span)
    keyed = [column.role == "key" for column in selected_columns(right)]
    if keyed != [column.role == "key" for column in columns]:
        columns = tuple(replace(column, role="value") for column in columns)
    names = [column.name for column in columns]
    relation = Union((_plain(left, names), _plain(right, names)), "UNION")
    # Columns of a key come before the others.
    ordered = tuple(sorted(columns, key=lambda column: column.role != "key"))
    key = tuple(column.name for column in ordered if column.role == "key")
    sources = (*left.rows.sources, *right.rows.sources)
    return Result(relation, ordered, Rows(relation, Scope((), text), key, sources), table=False)


def same_columns(
    left: tuple[SourceColumn, ...],
    right: tuple[SourceColumn, ...],
    text: SourceText,
    span: Span,
) -> tuple[SourceColumn, ...]:
    """Give the columns of a union, which are called as the first ones are."""
    if [column.type for column in left] != [column.type for column in right]:
        shown = [", ".join(type_text(column.type) for column in side) for side in (left, right)]
        raise SqlError(
            "SQL_UNION",
            text.shown(f"UNION of columns ({shown[0]}) with ({shown[1]})", span),
            hint="Select as many columns of the same types; CAST those that differ.",
        )
    return left


def _plain(result: Result, names: list[str]) -> Relation:
    """Give the columns of a stream under names, without records that have no value."""
    relation = result.relation
    if GONE in relation.schema.names:
        relation = Filter(relation, Call("not", (Column(GONE),)), "values")
    known = relation.schema
    columns = [
        # A bare NULL has no type of its own; here it must have that of its column.
        Named(new, Column(old.name) if known.field(old.name).type == old.type else _cast(old))
        for new, old in zip(names, selected_columns(result), strict=True)
    ]
    return Project(relation, tuple(columns), "SELECT")


def _cast(column: SourceColumn) -> Expr:
    return Cast(Column(column.name), column.type)


def _has_map(type_: Type) -> bool:
    inside = [*(inner for _, inner in type_.fields), *([type_.item] if type_.item else [])]
    return type_.kind is Kind.MAP or any(map(_has_map, inside))
