"""A source as the statement that makes it known: CREATE STREAM | TABLE with all that it is."""

from __future__ import annotations

from datetime import timedelta

from penstock.front.sql.format_name import format_name, format_text
from penstock.front.sql.source import RecordFormat, SourceColumn, SqlSource
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
    told |= {**_of_part("KEY", key), **_of_part("VALUE", value)}
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
        told |= _span("WINDOW_SIZE", source.window.size)
    return {**told, **_span("LATENESS", source.lateness), **_span("IDLE", source.idle)}


def _span(name: str, span: timedelta | None) -> dict[str, str]:
    if span is None:
        return {}
    return {name: format_text(f"{span // timedelta(milliseconds=1)} MILLISECONDS")}


def _of_part(part: str, how: RecordFormat) -> dict[str, str]:
    told: dict[str, str] = {}
    if how.name == "DELIMITED" and how.delimiter != ",":
        told[f"{part}_DELIMITER"] = format_text(how.delimiter)
    if how.nulls:
        told[f"{part}_PROTOBUF_NULLABLE_REPRESENTATION"] = format_text(how.nulls)
    if how.subject is not None and how.subject.schema_id is not None:
        told[f"{part}_SCHEMA_ID"] = str(how.subject.schema_id)
    if how.subject is not None and how.subject.full_name:
        told[f"{part}_SCHEMA_FULL_NAME"] = format_text(how.subject.full_name)
    return told
