"""CREATE STREAM | TABLE with columns: a source that is there already becomes known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.properties import (
    OF_SOURCES,
    Properties,
    key_window,
    properties_of,
    record_format,
)
from penstock.front.sql.registering import columns_told, with_subject
from penstock.front.sql.source import (
    SYSTEM_COLUMNS,
    EventTime,
    RecordFormat,
    Role,
    SourceColumn,
    SqlSource,
)
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_statement import ColumnDefinition, CreateSource
from penstock.front.sql.typed_format import both_typed, typed_columns
from penstock.front.sql.types import sql_type, type_text
from penstock.schema.ksql.kafka import KAFKA_KINDS
from penstock.schema.ksql.proto_text import protobuf_holds
from penstock.schema.types import BYTES, STRING, Kind, Type, array_of

_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_TIMES = (Kind.INT64, Kind.TIMESTAMP)
HEADERS_TYPE = array_of(Type(Kind.STRUCT, fields=(("KEY", STRING), ("VALUE", BYTES))))


def created_source(statement: CreateSource, catalog: Catalog) -> SqlSource:
    """Give the source that a statement describes."""
    text = statement.source
    found = properties_of(statement.properties, OF_SOURCES, text)
    topic = found.get("KAFKA_TOPIC")
    if topic is None:
        raise SqlError(
            "SQL_PROPERTY",
            text.shown("property KAFKA_TOPIC is missing", statement.name.span),
            hint="Add WITH (KAFKA_TOPIC='...', ...).",
        )
    defaults = (_default(catalog, "key", "KAFKA"), _default(catalog, "value"))
    declared = [_column(item, statement, catalog) for item in statement.columns or ()]
    typed = typed_columns(declared, found, topic, catalog)
    if typed is None:
        told, wrapped = columns_told(declared, found, topic, catalog, defaults)
    else:
        told, wrapped = typed, True
    columns = _columns(told, statement, found)
    keys = [column for column in columns if column.role == "key"]
    values = [column for column in columns if column.role == "value" or column.in_value]
    wrap = catalog.setting("ksql.persistence.wrap.single.values", "true").lower() != "false"
    key = record_format(found, "KEY", len(keys), defaults[0])
    value = record_format(found, "VALUE", len(values), defaults[1], wrap=wrap and wrapped)
    key, value = both_typed(found, key, value)
    source = SqlSource(
        statement.name.text,
        statement.kind,
        tuple(columns),
        topic,
        with_subject(key, found, "KEY", topic, catalog),
        with_subject(value, found, "VALUE", topic, catalog),
        key_window(found),
        event_time(found, columns),
        found.number("PARTITIONS"),
        read_only=statement.read_only,
        lateness=found.duration("LATENESS"),
        idle=found.duration("IDLE"),
    )
    check_parts(source, text, statement.name.span)
    return source


def _default(catalog: Catalog, part: str, otherwise: str | None = None) -> RecordFormat | None:
    name = catalog.setting(f"ksql.persistence.default.format.{part}") or otherwise
    return None if name is None else RecordFormat(name.upper())


def _columns(
    columns: list[SourceColumn], statement: CreateSource, found: Properties
) -> list[SourceColumn]:
    if not columns:
        raise SqlError(
            "SQL_COLUMNS",
            statement.source.shown(
                f'{statement.kind} "{statement.name.text}" has no columns', statement.name.span
            ),
            hint="List them: (id STRING KEY, total INT).",
        )
    columns = _with_named_key(columns, statement, found)
    _once(statement.columns or (), statement.source)
    _headers_once(columns, statement)
    if statement.kind == "table" and not any(column.role == "key" for column in columns):
        raise SqlError(
            "SQL_KEY",
            statement.source.shown(
                f'table "{statement.name.text}" has no primary key', statement.name.span
            ),
            hint="Mark the columns that tell its rows apart: id STRING PRIMARY KEY.",
        )
    return columns


def _with_named_key(
    columns: list[SourceColumn], statement: CreateSource, found: Properties
) -> list[SourceColumn]:
    """Heed KEY='column' of old statements: a table's key, which key and value of a record hold."""
    said = found.get("KEY")
    if said is None:
        return columns
    names = [column.name for column in columns]
    name = said.strip("`") if said.strip("`") in names else said.upper()
    if name not in names:
        hint = did_you_mean(name, names) or f"The columns: {', '.join(names)}."
        raise found.refused("KEY", f'names a column "{said}" that is not there', hint)
    if statement.kind == "stream" or any(column.role == "key" for column in columns):
        return columns
    return [replace(it, role="key", in_value=True) if it.name == name else it for it in columns]


def _column(item: ColumnDefinition, statement: CreateSource, catalog: Catalog) -> SourceColumn:
    text, kind = statement.source, statement.kind
    name = item.name.text
    if name in SYSTEM_COLUMNS:
        raise SqlError(
            "SQL_COLUMN_NAME",
            text.shown(f'column "{name}" is one of the system\'s', item.span),
            hint="Rename it.",
        )
    if (item.role == "key" and kind == "table") or (
        item.role == "primary key" and kind == "stream"
    ):
        right = "PRIMARY KEY" if kind == "table" else "KEY"
        raise SqlError(
            "SQL_KEY",
            text.shown(f'column "{name}" of a {kind} is marked {item.role.upper()}', item.span),
            hint=f"Mark it {right}.",
        )
    type_ = sql_type(item.type, catalog.types, text)
    role: Role = "key" if item.role == "primary key" else item.role
    wanted = {"headers": HEADERS_TYPE, "header": BYTES}.get(role, type_)
    if type_ != wanted:
        raise SqlError(
            "SQL_HEADERS",
            text.shown(f'column "{name}" of headers is {type_text(type_)}', item.span),
            hint=f"Its type must be {type_text(wanted)}.",
        )
    return SourceColumn(name, type_, role, item.header)


def _once(columns: Sequence[ColumnDefinition], text: SourceText) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name.text in seen:
            raise SqlError(
                "SQL_COLUMN_TWICE",
                text.shown(f'column "{column.name.text}" is there twice', column.span),
                hint="Give one of them another name.",
            )
        seen.add(column.name.text)


def _headers_once(columns: Iterable[SourceColumn], statement: CreateSource) -> None:
    named = [(c.role, c.header) for c in columns if c.role in ("headers", "header")]
    whole = [item for item in named if item[0] == "headers"]
    if len(set(named)) < len(named) or (whole and len(named) > 1):
        raise SqlError(
            "SQL_HEADERS",
            statement.source.shown(
                f'"{statement.name.text}" has the same headers in two columns', statement.name.span
            ),
            hint="Take all headers in one column, or each by its name once.",
        )


def event_time(found: Properties, columns: Sequence[SourceColumn]) -> EventTime | None:
    """Give the column of TIMESTAMP, which must be one that tells a time."""
    said = found.get("TIMESTAMP")
    if said is None:
        return None
    names = {column.name: column for column in columns}
    column = names.get(said.strip("`")) or names.get(said.upper())
    pattern = found.get("TIMESTAMP_FORMAT")
    if column is None:
        hint = did_you_mean(said.upper(), names) or f"The columns: {', '.join(names)}."
        raise found.refused("TIMESTAMP", f'names a column "{said}" that is not there', hint)
    fits = column.type.kind is Kind.STRING if pattern else column.type.kind in _TIMES
    if not fits:
        raise found.refused(
            "TIMESTAMP",
            f'names column "{column.name}" of type {type_text(column.type)}',
            "Take BIGINT or TIMESTAMP, or STRING with a TIMESTAMP_FORMAT.",
        )
    return EventTime(column.name, pattern)


def check_parts(source: SqlSource, text: SourceText, span: Span) -> None:
    """Refuse columns that the format of their part cannot hold."""
    if source.is_table and source.key_format.name == "NONE":
        raise SqlError(
            "SQL_FORMAT",
            text.shown(f'table "{source.name}" has no format for keys', span),
            hint="Give KEY_FORMAT.",
        )
    for part, format_, columns in (
        ("key", source.key_format, source.keys),
        ("value", source.value_format, source.stored),
    ):
        problem = _misfit(format_, columns, part)
        if problem:
            raise SqlError(
                "SQL_FORMAT",
                text.shown(f'the {part} of "{source.name}" {problem}', span),
                hint="Use another format.",
            )


def _misfit(format_: RecordFormat, columns: Sequence[SourceColumn], part: str) -> str:
    kinds = [column.type.kind for column in columns]
    problems = {
        "has columns, and the format NONE holds none": format_.name == "NONE" and bool(columns),
        "has a column of a nested type, which the format DELIMITED does not have": (
            format_.name == "DELIMITED" and any(kind in _NESTED for kind in kinds)
        ),
        "has a MAP whose keys are not STRING, which no format holds": any(
            _odd_map(column.type) for column in columns
        ),
        "has a column that holds a MAP, which keys cannot": (
            part == "key" and any(column.type.holds(Kind.MAP) for column in columns)
        ),
        "has several columns, and the format KAFKA holds one": (
            format_.name == "KAFKA" and len(columns) > 1
        ),
        "has a type which the format PROTOBUF does not have here": (
            format_.name.startswith("PROTOBUF")
            and not all(protobuf_holds(column.type) for column in columns)
        ),
        "has a type which the format KAFKA does not have": (
            format_.name == "KAFKA" and any(kind not in KAFKA_KINDS for kind in kinds)
        ),
    }
    return next((problem for problem, there in problems.items() if there), "")


def _odd_map(type_: Type) -> bool:
    inner = [part for _, part in type_.fields]
    inner += [] if type_.item is None else [type_.item]
    return type_.key not in (None, STRING) or any(map(_odd_map, inner))
