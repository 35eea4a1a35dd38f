"""FROM a typed topic: its columns as they are, of which only those that are used are read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE, OFFSET, PARTITION, TIMESTAMP
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source import (
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_TIME,
    WINDOW_END,
    WINDOW_START,
    SqlSource,
)
from penstock.front.sql.source_text import SourceText
from penstock.model.change_rows import ChangeRows
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Named, Project
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, INT64, Kind

_IN_ORDER = BoundedDisorder(max_ahead=None, idle=None)
_PLACES = (Field(TIMESTAMP, INT64), Field(PARTITION, INT32), Field(OFFSET, INT64))
_BOUNDS = (Field(WINDOW_START, INT64), Field(WINDOW_END, INT64))


def read_typed(
    source: SqlSource, alias: str, text: SourceText, delay: timedelta = timedelta(0)
) -> Rows:
    """Give the rows of a source whose topic has columns.

    `delay` is how far rows may lie behind the latest one before they are late.
    """
    site = f"FROM {source.name}"
    bounds = _BOUNDS if source.window is not None else ()
    own = tuple(Field(column.held or column.name, column.type) for column in source.columns)
    late = max(delay, source.lateness or delay)
    stream = Stream(
        source.topic,
        Schema((*own, *bounds, *_PLACES)),
        _event_time(source),
        watermark=replace(_IN_ORDER, delay=late, idle=source.idle),
        site=site,
        key=_keys(source) if source.is_table else (),
    )
    system = {ROW_TIME: _time(source), ROW_PARTITION: Column(PARTITION), ROW_OFFSET: Column(OFFSET)}
    system |= {field.name: Column(field.name) for field in bounds}
    names = {column.name for column in source.columns}
    extra = [Named(name, expr) for name, expr in system.items() if name not in names]
    columns = [Named(column.name, Column(column.held or column.name)) for column in source.columns]
    relation: Relation = Project(stream, (*columns, *extra), site)
    if source.is_table:
        # A tombstone is a row with nothing but its key, which is taken back.
        marked = Project(stream, (*columns, *extra, Named(GONE, Literal(value=False))), site)
        relation = ChangeRows(marked, GONE, site=site)
    known = relation.schema
    scope = (
        *(
            ScopeColumn(alias, it.name, it.name, it.type, key=it.role == "key")
            for it in source.columns
        ),
        *(
            ScopeColumn(alias, it.name, it.name, known.field(it.name).type, system=True)
            for it in extra
        ),
    )
    keys = tuple(column.name for column in source.keys)
    return Rows(relation, Scope(scope, text), keys, (source,), source.is_table, source.window)


def _keys(source: SqlSource) -> tuple[str, ...]:
    bounds = (WINDOW_START, WINDOW_END) if source.window is not None else ()
    return (*(column.held or column.name for column in source.keys), *bounds)


def _event_time(source: SqlSource) -> str | None:
    if source.event_time is None:
        return None
    column = next(it for it in source.columns if it.name == source.event_time.column)
    return column.held or column.name


def _time(source: SqlSource) -> Expr:
    """Give when a row happened, in milliseconds."""
    name = _event_time(source)
    if name is None:
        return Column(TIMESTAMP)
    kind = next(it.type.kind for it in source.columns if (it.held or it.name) == name)
    return Cast(Call("millis", (Column(name),)), INT64) if kind is Kind.TIMESTAMP else Column(name)
