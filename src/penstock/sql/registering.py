"""The schemas of what statements make: registered before anything is written with them."""

from __future__ import annotations

import time
from datetime import timedelta

import pyarrow as pa

from penstock.errors import RegistryError, SqlError
from penstock.front.sql.record import Part
from penstock.front.sql.source import SqlSource
from penstock.front.sql.tree_statement import AssertSchema
from penstock.front.sql.types import type_text
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.schemas import Schemas
from penstock.schema.ksql.told_columns import told_columns

_PAUSE = 0.05
_MISSING = ("SCHEMA_MISSING", "SUBJECT_MISSING", "VERSION_MISSING")


def register(source: SqlSource) -> None:
    """Register the schemas of a source that a query will write to.

    One that the registry holds for incompatible, or that does not hold the columns, is refused.
    """
    for part in _parts(source):
        _check_named(part, source)
        _register(part)


def register_missing(source: SqlSource) -> None:
    """Register the schemas of a source that is there already, where none tells what it holds."""
    for part in _parts(source):
        _check_named(part, source)
        subject = part.format.subject
        if subject is not None and not source.read_only and subject.told() is None:
            _register(part)


def check_schema(statement: AssertSchema, schemas: Schemas) -> str:
    """Refuse where a schema is not registered, or is though it must not be."""
    if statement.subject is None and statement.id is None:
        raise SqlError(
            "SQL_ASSERT",
            statement.source.shown("no schema is named", statement.span),
            hint="Give its SUBJECT, its ID, or both.",
        )
    patience = timedelta(0) if statement.timeout is None else statement.timeout.delta
    deadline = time.monotonic() + patience.total_seconds()
    while _is_there(statement, schemas) != statement.exists:
        if time.monotonic() >= deadline:
            found = "does not exist" if statement.exists else "exists"
            fact = f"{_shown(statement)} {found}"
            raise SqlError("SQL_ASSERT", statement.source.shown(fact, statement.span))
        time.sleep(_PAUSE)
    return f"{_shown(statement)} is as asserted"


def _is_there(statement: AssertSchema, schemas: Schemas) -> bool:
    try:
        if statement.id is not None:
            found = schemas.by_id(statement.id)
            if statement.subject is None:
                return True
            return schemas.lookup(statement.subject, found).id == statement.id
        assert statement.subject is not None
        schemas.version(statement.subject)
    except RegistryError as error:
        if error.code not in _MISSING:
            raise
        return False
    return True


def _shown(statement: AssertSchema) -> str:
    subject = "" if statement.subject is None else f' of subject "{statement.subject}"'
    number = "" if statement.id is None else f" {statement.id}"
    return f"schema{number}{subject}"


def _check_named(part: Part, source: SqlSource) -> None:
    """Refuse columns that the schema does not have which is named by its id."""
    subject = part.format.subject
    if subject is None or subject.schema_id is None:
        return
    told = told_columns(part.format.name, subject)
    known = {} if told is None else {it.name.upper(): it.type for it in told.columns.fields}
    if told is not None and not told.wrapped:
        return
    for column in part.columns:
        held = known.get(column.name.upper())
        if held != column.type:
            there = "is not there" if held is None else f"is {type_text(held)}"
            raise SqlError(
                "SQL_FORMAT",
                f'column "{column.name}" of "{source.name}" is {type_text(column.type)}, and'
                f" {there} in schema {subject.schema_id}",
                hint="Select what the schema has, or leave out its id.",
            )


def _parts(source: SqlSource) -> tuple[Part, ...]:
    parts = (Part(source.key_format, source.keys), Part(source.value_format, source.stored))
    return tuple(part for part in parts if part.columns and part.format.subject is not None)


def _register(part: Part) -> None:
    nothing: pa.Table = to_arrow(part.schema).empty_table()
    # A codec registers its schema when it first writes.
    part.codec.encode(nothing)
