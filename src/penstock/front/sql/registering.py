"""Formats whose schemas are registered: where, and which columns a registered schema tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.properties import Properties, format_name
from penstock.front.sql.source import RecordFormat, SourceColumn
from penstock.front.sql.tree import Span
from penstock.schema.ksql.subject import REGISTERED, Subject
from penstock.schema.ksql.told import Told

_KEY_ALONE = "ROWKEY"
_VALUE_ALONE = "ROWVAL"
_NULLS = ("OPTIONAL", "WRAPPER")


def subject_of(
    found: Properties, part: str, topic: str, name: str, catalog: Catalog
) -> Subject | None:
    """Give the subject of the part KEY or VALUE; none where its format has none here."""
    said_id = found.number(f"{part}_SCHEMA_ID")
    if said_id is not None and name not in REGISTERED:
        raise found.refused(
            f"{part}_SCHEMA_ID",
            f"is given for {name}, which has no schemas",
            f"Give a {part}_FORMAT that has: {', '.join(REGISTERED)}.",
        )
    if name not in REGISTERED or catalog.schemas is None:
        if said_id is not None:
            raise found.refused(
                f"{part}_SCHEMA_ID", "is given, and there is no registry", "List the columns."
            )
        return None
    full = found.get(f"{part}_SCHEMA_FULL_NAME") or ""
    if part == "VALUE" and not full:
        full = found.get("VALUE_AVRO_SCHEMA_FULL_NAME") or ""
    return Subject(f"{topic}-{part.lower()}", catalog.schemas, said_id, full)


def with_subject(
    format_: RecordFormat, found: Properties, part: str, topic: str, catalog: Catalog
) -> RecordFormat:
    """Give a format with its subject, and with how nulls show."""
    said = f"{part}_PROTOBUF_NULLABLE_REPRESENTATION"
    nulls = (found.get(said) or "").upper()
    if nulls and (nulls not in _NULLS or not format_.name.startswith("PROTOBUF")):
        raise found.refused(
            said, f"is {nulls} for {format_.name}", "Give OPTIONAL or WRAPPER, with PROTOBUF."
        )
    subject = subject_of(found, part, topic, format_.name, catalog)
    return replace(format_, subject=subject, nulls=nulls)


def columns_told(
    columns: Sequence[SourceColumn],
    found: Properties,
    topic: str,
    catalog: Catalog,
    defaults: tuple[RecordFormat | None, RecordFormat | None],
) -> tuple[list[SourceColumn], bool]:
    """Add the columns that registered schemas tell; those of keys only where none is listed.

    Says too whether a value so told is wrapped.
    """
    from penstock.schema.ksql.told_columns import told_columns  # noqa: PLC0415  # few need it

    told: dict[str, Told] = {}
    for part, default in zip(("KEY", "VALUE"), defaults, strict=True):
        # Who lists columns lists those of the key, too: a schema that comes later adds none.
        listed = columns if part == "KEY" else [it for it in columns if it.role == "value"]
        if listed or catalog.schemas is None:
            continue
        name = format_name(found, part, None if default is None else default.name)
        subject = subject_of(found, part, topic, name, catalog)
        known = None if subject is None else told_columns(name, subject)
        if known is not None:
            told[part] = known
        elif subject is not None and part == "VALUE":
            raise _unknown(found, subject)
    keys = _named(told.get("KEY"), "key")
    values = _named(told.get("VALUE"), "value")
    return [*keys, *columns, *values], "VALUE" not in told or told["VALUE"].wrapped


def _named(told: Told | None, role: str) -> list[SourceColumn]:
    if told is None:
        return []
    if role == "key":
        names = told.columns.names if told.wrapped else (_KEY_ALONE,)
        pairs = zip(names, told.columns.fields, strict=True)
        return [SourceColumn(name, field.type, "key") for name, field in pairs]
    names = told.columns.names if told.wrapped else (_VALUE_ALONE,)
    pairs = zip(names, told.columns.fields, strict=True)
    return [SourceColumn(name, field.type) for name, field in pairs]


def _unknown(found: Properties, subject: Subject) -> SqlError:
    return SqlError(
        "SQL_SCHEMA_MISSING",
        found.text.shown(
            f'no columns are given, and subject "{subject.name}" has no schema',
            Span(0, min(len(found.text.text), 6)),
        ),
        hint="List the columns, or register the schema of its values.",
    )
