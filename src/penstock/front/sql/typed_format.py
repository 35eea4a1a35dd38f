"""FORMAT='TYPED': topics that have columns of their own, in which nothing is to be decoded.

Key and value are columns alike; KEY says which of them tell rows apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.properties import TYPED, Properties, format_name
from penstock.front.sql.source import RecordFormat, SourceColumn, SqlSource
from penstock.front.sql.tree import Span
from penstock.front.sql.types import type_text
from penstock.schema.schema import Schema

_TYPED = RecordFormat(TYPED)


def is_typed(source: SqlSource) -> bool:
    """Whether the topic of a source has columns of its own."""
    return source.value_format.name == TYPED


def shown_names(columns: Schema) -> dict[str, str]:
    """Give the names of columns, each with the one that statements call it by."""
    upper = [name.upper() for name in columns.names]
    return {
        name: name.upper() if upper.count(name.upper()) == 1 else name for name in columns.names
    }


def both_typed(
    found: Properties, key: RecordFormat, value: RecordFormat
) -> tuple[RecordFormat, RecordFormat]:
    """Let key and value be columns together; one of them cannot be alone."""
    said = "KEY_FORMAT" in found.given or "FORMAT" in found.given
    if value.name == TYPED and (key.name in (TYPED, "NONE") or not said):
        return _TYPED, _TYPED
    if TYPED in (key.name, value.name):
        raise found.refused(
            "KEY_FORMAT" if "KEY_FORMAT" in found.given else "VALUE_FORMAT",
            f"makes {key.name} keys of {value.name} values",
            "Say FORMAT='TYPED' alone: the topic has columns for both.",
        )
    return key, value


def typed_columns(
    declared: Sequence[SourceColumn], found: Properties, topic: str, catalog: Catalog
) -> list[SourceColumn] | None:
    """Give the columns of a typed topic, all where none is declared; none where it is not typed."""
    default = catalog.setting("ksql.persistence.default.format.value") or None
    if "FORMAT" not in found.given and "VALUE_FORMAT" not in found.given and default is None:
        return None
    if format_name(found, "VALUE", default) != TYPED:
        return None
    if found.get("TIMESTAMP_FORMAT") is not None:
        raise found.refused(
            "TIMESTAMP_FORMAT", "is given for TYPED", "Let a column of type TIMESTAMP tell times."
        )
    known = None if catalog.topics is None else catalog.topics.columns(topic)
    if known is None:
        return list(declared)
    names = shown_names(known)
    if not declared:
        return [
            SourceColumn(names[field.name], field.type, held=field.name) for field in known.fields
        ]
    return [_placed(column, known, names, found) for column in declared]


def _placed(
    column: SourceColumn, known: Schema, names: dict[str, str], found: Properties
) -> SourceColumn:
    """Say which column of the topic a declared one is."""
    held = [old for old, new in names.items() if column.name in (old, new)]
    if not held or column.role in ("headers", "header"):
        shown = ", ".join(names.values())
        raise _misfit(
            found,
            f'the topic has no column "{column.name}"',
            did_you_mean(column.name, names.values()) or f"It has: {shown}.",
        )
    real = known.field(held[0]).type
    if real != column.type:
        raise _misfit(
            found,
            f'column "{column.name}" is {type_text(real)} in the topic, not'
            f" {type_text(column.type)}",
            "Declare it as it is, or leave out all columns.",
        )
    return replace(column, held=held[0])


def _misfit(found: Properties, fact: str, hint: str) -> SqlError:
    place = Span(0, min(len(found.text.text), 6))
    return SqlError("SQL_TOPIC", found.text.shown(fact, place), hint=hint)
