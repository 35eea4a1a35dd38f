"""ASSERT: what a script says must be so."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.insert import fitted
from penstock.front.sql.schema_statement import created_source
from penstock.front.sql.scope import Scope
from penstock.front.sql.source import ROW_TIME, SqlSource
from penstock.front.sql.tree_statement import AssertSource, AssertValues, CreateSource
from penstock.schema.types import INT64


@dataclass(frozen=True, slots=True)
class Expected:
    """The next record of a source: its columns, or that it has no value."""

    source: SqlSource
    row: dict[str, Typed]
    tombstone: bool


def expected(statement: AssertValues, catalog: Catalog) -> Expected:
    """Resolve ASSERT VALUES."""
    text = statement.source
    source = catalog.source(statement.name, text)
    known = {column.name: column.type for column in source.columns}
    shown = source.keys if statement.tombstone else (*source.keys, *source.values)
    names = [column.name for column in shown]
    if statement.columns is not None:
        names = [name.text for name in statement.columns]
    resolver = Resolver(Scope((), text), catalog.types)
    row: dict[str, Typed] = {}
    for name, item in zip(names, statement.row, strict=False):
        if name not in known and name != ROW_TIME:
            raise SqlError(
                "SQL_COLUMN_MISSING",
                text.shown(f'"{source.name}" has no column "{name}"', item.span),
            )
        row[name] = fitted(resolver.typed(item), known.get(name, INT64), resolver, item)
    return Expected(source, row, statement.tombstone)


def check_source(statement: AssertSource, catalog: Catalog) -> None:
    """Refuse a source that is not as a statement says."""
    text = statement.source
    found = catalog.source(statement.name, text)
    as_if = CreateSource(
        statement.kind,
        statement.name,
        statement.columns,
        statement.properties,
        source=text,
        span=statement.span,
    )
    wanted = created_source(as_if, catalog)
    facts = {
        "kind": (found.kind, wanted.kind),
        "columns": (set(found.columns), set(wanted.columns)),
        "topic": (found.topic, wanted.topic),
        "key format": (found.key_format, wanted.key_format),
        "value format": (found.value_format, wanted.value_format),
        "timestamp": (found.event_time, wanted.event_time),
        "window": (found.window, wanted.window),
    }
    for name, (is_, said) in facts.items():
        if is_ != said:
            raise SqlError(
                "SQL_ASSERT",
                text.shown(f'the {name} of "{found.name}" is not as asserted', statement.name.span),
                hint="DESCRIBE shows what it is.",
            )
