"""Rows of a query written to a typed topic: its columns are those of the result."""

from __future__ import annotations

from penstock.front.sql.reading import stamped
from penstock.front.sql.rows import GONE
from penstock.front.sql.sink import Result
from penstock.front.sql.source import WINDOW_END, WINDOW_START, SqlSource
from penstock.model.expr import Call, Cast, Column
from penstock.model.plan import Plan, Sink
from penstock.model.stateless import Filter, Named, Project
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64


def topic_columns(source: SqlSource) -> Schema:
    """Give the columns of the topic of a typed source, those of its windows last."""
    own = [Field(column.held or column.name, column.type) for column in source.columns]
    return Schema((*own, *(Field(name, INT64) for name in _bounds(source))))


def written_typed(result: Result, source: SqlSource, name: str) -> Plan:
    """Give the plan that writes the rows of a query to a topic with columns.

    Where a table says which of its rows are gone, these become tombstones.
    """
    site = f"{source.kind} {source.name}"
    relation = result.relation
    marked = GONE in relation.schema.names
    if marked and not source.is_table:
        relation = Filter(relation, Call("not", (Column(GONE),)), site)
    if source.event_time is not None:
        relation = stamped(relation, source.event_time, site)
    known = relation.schema
    columns = [
        Named(
            column.held or column.name,
            Column(column.name)
            if known.field(column.name).type == column.type
            else Cast(Column(column.name), column.type),
        )
        for column in source.columns
    ]
    columns += [Named(bound, Column(bound)) for bound in _bounds(source)]
    gone = GONE if marked and source.is_table else None
    if gone is not None:
        columns.append(Named(GONE, Column(GONE)))
    keys = tuple(column.held or column.name for column in source.keys)
    bounds = _bounds(source) if source.is_table else ()
    rows = Project(relation, tuple(columns), site)
    return Plan(name, (Sink(rows, source.topic, (*keys, *bounds), site=site, gone=gone),))


def _bounds(source: SqlSource) -> tuple[str, ...]:
    return () if source.window is None else (WINDOW_START, WINDOW_END)
