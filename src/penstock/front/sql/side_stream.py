"""Beside the results of a query: `name.LATE` are rows too late, `name.DEAD` those that failed.

All have one shape, whatever they were rows of: where it happened, why, and the row as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import OFFSET, PARTITION, TIMESTAMP
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source import (
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_TIME,
    RecordFormat,
    SourceColumn,
    SqlSource,
)
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_query import Source
from penstock.model.expr import Column
from penstock.model.source import Stream
from penstock.model.stateless import Named, Project
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BYTES, INT32, INT64, STRING, Kind, Type, array_of

_HEADERS = array_of(Type(Kind.STRUCT, fields=(("key", STRING), ("value", BYTES))))
_LATE: Mapping[str, Type] = {
    "step": STRING,
    "site": STRING,
    "reason": STRING,
    "row": STRING,
    "time": INT64,
}
_DEAD: Mapping[str, Type] = {
    "step": STRING,
    "site": STRING,
    "error": STRING,
    "traceback": STRING,
    "row": STRING,
    "time": INT64,
    "topic": STRING,
    "partition": INT32,
    "offset": INT64,
    "timestamp": INT64,
    "key": BYTES,
    "headers": _HEADERS,
    "raw": BYTES,
}
PARTS: Mapping[str, Mapping[str, Type]] = {"LATE": _LATE, "DEAD": _DEAD}
_SYSTEM = {ROW_TIME: TIMESTAMP, ROW_PARTITION: PARTITION, ROW_OFFSET: OFFSET}
_PLACES = Schema((Field(TIMESTAMP, INT64), Field(PARTITION, INT32), Field(OFFSET, INT64)))


def read_side(said: Source, alias: str, catalog: Catalog, text: SourceText) -> Rows:
    """Give the rows beside the results of a query, by when they were put there."""
    source = side_source(said, catalog, text)
    site = f"FROM {source.name}"
    held = PARTS[source.side.upper()]
    columns = Schema((*(Field(name, type_) for name, type_ in held.items()), *_PLACES.fields))
    mark = BoundedDisorder(max_ahead=None, idle=None)
    stream = Stream(source.topic, columns, watermark=mark, site=site)
    own = [Named(name.upper(), Column(name)) for name in held]
    places = [Named(name, Column(known)) for name, known in _SYSTEM.items()]
    rows = Project(stream, (*own, *places), site)
    scope = (
        *(ScopeColumn(alias, item.name, item.name, item.type) for item in source.columns),
        *(
            ScopeColumn(alias, name, name, _PLACES.field(known).type, system=True)
            for name, known in _SYSTEM.items()
        ),
    )
    return Rows(rows, Scope(scope, text), (), (source,))


def side_source(said: Source, catalog: Catalog, text: SourceText) -> SqlSource:
    """Give the stream beside a source that a query fills."""
    assert said.part is not None
    source = catalog.source(said.name, text)
    part = said.part.text.upper()
    if part not in PARTS:
        raise SqlError(
            "SQL_SOURCE_PART",
            text.shown(f'"{source.name}" has no part "{said.part.text}"', said.part.span),
            hint=did_you_mean(part, PARTS) or "There are: LATE, DEAD.",
        )
    if not catalog.is_written(source.name):
        raise SqlError(
            "SQL_SOURCE_PART",
            text.shown(f'no query writes to "{source.name}"', said.name.span),
            hint="Late rows and dead letters are beside the results of a query: name those.",
        )
    return next(side for side in sides_of(source) if side.side == part.lower())


def sides_of(source: SqlSource) -> Iterator[SqlSource]:
    """Give both streams beside the results of the queries that write to a source."""
    for part, columns in PARTS.items():
        yield replace(
            source,
            name=f"{source.name}.{part}",
            kind="stream",
            columns=tuple(SourceColumn(name.upper(), type_) for name, type_ in columns.items()),
            topic=f"{source.topic}.{part.lower()}",
            key_format=RecordFormat("NONE"),
            value_format=RecordFormat("JSON"),
            window=None,
            event_time=None,
            partitions=1,
            read_only=True,
            made_by_query=False,
            side="late" if part == "LATE" else "dead",
            part_of=source.name,
        )
