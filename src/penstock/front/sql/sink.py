"""What a query makes: a new source, and the plan that writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.properties import (
    OF_QUERIES,
    TYPED,
    Properties,
    properties_of,
    record_format,
)
from penstock.front.sql.reading import Rows, stamped
from penstock.front.sql.registering import with_subject
from penstock.front.sql.rows import KEY, WRITTEN, Closing
from penstock.front.sql.schema_statement import check_parts, event_time
from penstock.front.sql.source import (
    SYSTEM_COLUMNS,
    KeyWindow,
    RecordFormat,
    SourceColumn,
    SqlSource,
)
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_query import Property
from penstock.front.sql.tree_statement import SourceKind
from penstock.front.sql.typed_format import both_typed
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.stateless import Apply


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query: its columns by name, with what goes along with them."""

    relation: Relation
    columns: tuple[SourceColumn, ...]
    rows: Rows
    table: bool
    window: KeyWindow | None = None
    shown: tuple[SourceColumn, ...] = ()
    """The columns in the order in which they were selected, where that is another."""
    rekeyed: bool = False
    """Whether its key was computed, and is there even where all of its columns are null."""
    retention: timedelta | None = None
    """How long what it gives is kept, where that is said."""
    closes: bool = False
    """Whether each row is given once, when its window has closed."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a query writes to, as the statement says."""

    name: Name
    kind: SourceKind
    properties: tuple[Property, ...]
    text: SourceText


def new_source(result: Result, target: Target, catalog: Catalog) -> SqlSource:
    """Give the source that a query makes."""
    found = properties_of(target.properties, OF_QUERIES, target.text)
    _check_names(result.columns, target)
    keys = [column for column in result.columns if column.role == "key"]
    values = [column for column in result.columns if column.role == "value"]
    if not values:
        raise SqlError(
            "SQL_COLUMNS",
            target.text.shown(
                f'"{target.name.text}" would have a key and nothing else', target.name.span
            ),
            hint="Select a column for its value: AS_VALUE(key) AS copy is one.",
        )
    first = result.rows.first
    prefix = catalog.setting("ksql.output.topic.name.prefix")
    wrap = catalog.setting("ksql.persistence.wrap.single.values", "true").lower() != "false"
    topic = found.get("KAFKA_TOPIC") or prefix + target.name.text
    key = _key_format(found, len(keys), first, catalog)
    value = record_format(found, "VALUE", len(values), first.value_format, wrap=wrap)
    key, value = both_typed(found, key, value)
    made = SqlSource(
        target.name.text,
        target.kind,
        result.columns,
        topic,
        with_subject(key, found, "KEY", topic, catalog),
        with_subject(value, found, "VALUE", topic, catalog),
        result.window,
        event_time(found, result.columns),
        found.number("PARTITIONS") or first.partitions,
        made_by_query=True,
        retention=result.retention,
        lateness=found.duration("LATENESS"),
        idle=found.duration("IDLE"),
    )
    check_parts(made, target.text, target.name.span)
    return made


def _key_format(found: Properties, keys: int, first: SqlSource, catalog: Catalog) -> RecordFormat:
    default = first.key_format
    if keys and default.name in ("NONE", TYPED):
        default = RecordFormat(
            catalog.setting("ksql.persistence.default.format.key", "KAFKA").upper()
        )
    if not keys:
        default = RecordFormat("NONE") if "KEY_FORMAT" not in found.given else default
    return record_format(found, "KEY", keys, default)


def _check_names(columns: Sequence[SourceColumn], target: Target) -> None:
    for column in columns:
        if column.name in SYSTEM_COLUMNS and column.role != "key":
            raise SqlError(
                "SQL_COLUMN_NAME",
                target.text.shown(
                    f'column "{column.name}" of the result has a name of the system\'s',
                    target.name.span,
                ),
                hint=f"Give it another: {column.name} AS other.",
            )


def written(result: Result, source: SqlSource, name: str) -> Plan:
    """Give the plan that writes the rows of a query to a source."""
    site = f"{source.kind} {source.name}"
    relation = result.relation
    if source.event_time is not None:
        relation = stamped(relation, source.event_time, site)
    closing = Closing(source, result.rekeyed)
    records = Apply(relation, f"write {source.name}", closing, "arrow", WRITTEN, site)
    return Plan(name, (Sink(records, source.topic, (KEY,), site=site, raw=True),))
