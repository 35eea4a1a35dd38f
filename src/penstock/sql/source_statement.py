"""A source as the statement that makes it known: CREATE STREAM | TABLE with all that it is."""

from __future__ import annotations

from penstock.front.sql.format_name import format_name, format_text
from penstock.front.sql.source import SourceColumn, SqlSource
from penstock.front.sql.tree import Name
from penstock.front.sql.types import type_text

_UNWRAPPED = ("JSON", "JSON_SR", "AVRO")


def source_statement(source: SqlSource) -> str:
    """Give the statement that describes a source, however it was made."""
    word = f"SOURCE {source.kind.upper()}" if source.read_only else source.kind.upper()
    columns = ", ".join(_column(column, source) for column in source.columns)
    properties = ", ".join(f"{name} = {value}" for name, value in _properties(source).items())
    name = format_name(Name(source.name))
    return f"CREATE {word} {name} ({columns}) WITH ({properties});"


def _column(column: SourceColumn, source: SqlSource) -> str:
    role = {
        "key": "PRIMARY KEY" if source.is_table else "KEY",
        "headers": "HEADERS",
        "header": f"HEADER({format_text(column.header or '')})",
    }.get(column.role, "")
    return f"{format_name(Name(column.name))} {type_text(column.type)} {role}".rstrip()


def _properties(source: SqlSource) -> dict[str, str]:
    key, value = source.key_format, source.value_format
    told = {
        "KAFKA_TOPIC": format_text(source.topic),
        "KEY_FORMAT": format_text(key.name),
        "VALUE_FORMAT": format_text(value.name),
    }
    for part, format_ in (("KEY", key), ("VALUE", value)):
        if format_.name == "DELIMITED" and format_.delimiter != ",":
            told[f"{part}_DELIMITER"] = format_text(format_.delimiter)
    if len(source.values) == 1 and value.name in _UNWRAPPED:
        told["WRAP_SINGLE_VALUE"] = str(value.wrapped).upper()
    if source.partitions is not None:
        told["PARTITIONS"] = str(source.partitions)
    if source.event_time is not None:
        told["TIMESTAMP"] = format_text(f"`{source.event_time.column}`")
        if source.event_time.pattern is not None:
            told["TIMESTAMP_FORMAT"] = format_text(source.event_time.pattern)
    if source.window is not None:
        told["WINDOW_TYPE"] = format_text(source.window.kind.upper())
        if source.window.size is not None:
            millis = round(source.window.size.total_seconds() * 1000)
            told["WINDOW_SIZE"] = format_text(f"{millis} MILLISECONDS")
    return told
