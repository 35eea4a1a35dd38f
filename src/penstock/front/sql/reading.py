"""FROM one source: its records, as rows with columns that expressions can name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from penstock.front.sql.functions.registry import resolve_call
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.rows import GONE, HEADERS, KEY, RECORDS, Opening, row_schema
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source import (
    ROW_TIME,
    SYSTEM_COLUMNS,
    WINDOW_END,
    WINDOW_START,
    EventTime,
    KeyWindow,
    SqlSource,
)
from penstock.front.sql.source_text import SourceText
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Apply, Filter, Named, Project, Restamp
from penstock.model.times import Times
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Schema
from penstock.schema.types import INT64, STRING, Kind

_IN_ORDER = BoundedDisorder(max_ahead=None, idle=None)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a query works on.

    `key` are the columns that hold their key, `table` says that a newer row of a key takes the
    place of the older, and `window` in which windows the keys lie.
    """

    relation: Relation
    scope: Scope
    key: tuple[str, ...]
    sources: tuple[SqlSource, ...]
    table: bool = False
    window: KeyWindow | None = None
    alike: tuple[str, ...] = ()
    """Columns that hold the same as the key, which a query may select in its place."""
    closes: bool = False
    """Whether what is made of them is final when their windows close: nothing is taken back."""

    @property
    def first(self) -> SqlSource:
        """The source whose formats hold where none are said."""
        return self.sources[0]

    def hidden(self) -> tuple[Named, ...]:
        """Give the columns that go along with every projection."""
        names = [name for name in (GONE, HEADERS) if name in self.relation.schema.names]
        if self.window is not None:
            names += [WINDOW_START, WINDOW_END]
        return tuple(Named(name, Column(name)) for name in names)


def read_source(
    source: SqlSource, alias: str, text: SourceText, delay: timedelta = timedelta(0)
) -> Rows:
    """Give the rows of a source, which is called `alias` in the query.

    `delay` is how far rows may lie behind the latest one before they are late.
    """
    site = f"FROM {source.name}"
    records: Relation = Stream(
        source.topic,
        RECORDS,
        watermark=replace(_IN_ORDER, delay=max(delay, source.lateness or delay), idle=source.idle),
        site=site,
        times=_times(source),
    )
    if source.is_table:
        # Of a record without a key nothing can be said.
        records = Filter(records, Call("is_not_null", (Column(KEY),)), site)
    opened: Relation = Apply(
        records, f"read {source.name}", Opening(source), "arrow", row_schema(source), site
    )
    if source.event_time is not None:
        opened = stamped(opened, source.event_time, site)
    scope = Scope(_columns(source, alias), text)
    keys = tuple(column.name for column in source.keys)
    return Rows(opened, scope, keys, (source,), source.is_table, source.window)


def _columns(source: SqlSource, alias: str) -> tuple[ScopeColumn, ...]:
    own = [
        ScopeColumn(alias, column.name, column.name, column.type, key=column.role == "key")
        for column in source.columns
    ]
    system = [
        ScopeColumn(alias, field.name, field.name, field.type, system=True)
        for field in row_schema(source).fields
        if field.name in SYSTEM_COLUMNS and field.name not in {column.name for column in own}
    ]
    return (*own, *system)


def stamped(relation: Relation, time: EventTime, site: str) -> Relation:
    """Let a column tell when rows happened; those of which it does not are left out."""
    moment = _moment(time, relation.schema)
    columns = [Named(name, Column(name)) for name in relation.schema.names if name != ROW_TIME]
    timed = Project(relation, (*columns, Named(ROW_TIME, Cast(moment, INT64))), site)
    told = Filter(timed, Call("ge", (Column(ROW_TIME), Literal(0))), site)
    return Restamp(told, ROW_TIME, site)


def _times(source: SqlSource) -> Times | None:
    """Give what tells the watermark when records happened; none where the log does."""
    if source.event_time is None:
        return None
    schema = row_schema(source)
    time = _moment(source.event_time, schema)
    return Times(source.event_time.column, Opening(source), schema, time)


def event_time_of(source: SqlSource) -> Expr | None:
    """Give what computes when a row happened, in milliseconds; none where the log tells."""
    return None if source.event_time is None else _moment(source.event_time, row_schema(source))


def _moment(time: EventTime, schema: Schema) -> Expr:
    moment: Expr = Column(time.column)
    if time.pattern is not None:
        arguments = (Typed(moment, STRING), Typed(Literal(time.pattern), STRING))
        return resolve_call("STRINGTOTIMESTAMP", arguments).expr
    if schema.field(time.column).type.kind is Kind.TIMESTAMP:
        return Call("millis", (moment,))
    return moment


def kept(rows: Rows, condition: Expr, site: str) -> Rows:
    """Give the rows for which a condition holds."""
    return replace(rows, relation=Filter(rows.relation, condition, site))


def there(rows: Rows) -> Expr | None:
    """Say of each row that its record has a value; none where that is known."""
    if GONE not in rows.relation.schema.names:
        return None
    return Call("not", (Column(GONE),))
