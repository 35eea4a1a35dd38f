"""Sources changed: columns added, or a whole source put in the place of another."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.schema_statement import check_parts
from penstock.front.sql.source import SourceColumn, SqlSource
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_statement import AlterSource
from penstock.front.sql.types import sql_type


def altered(statement: AlterSource, catalog: Catalog) -> SqlSource:
    """Give a source with more columns."""
    text = statement.source
    found = catalog.source(statement.name, text)
    if found.kind != statement.kind or found.made_by_query:
        made = "made by a query" if found.made_by_query else f"a {found.kind}"
        raise SqlError(
            "SQL_ALTER",
            text.shown(f'"{found.name}" is {made}', statement.name.span),
            hint="Change its query with CREATE OR REPLACE.",
        )
    columns = list(found.columns)
    for item in statement.columns:
        name = item.name.text
        if name in {column.name for column in columns}:
            raise SqlError(
                "SQL_COLUMN_TWICE",
                text.shown(f'"{found.name}" has a column "{name}" already', item.span),
            )
        if item.role != "value":
            raise SqlError(
                "SQL_ALTER", text.shown(f'column "{name}" would be a part of the key', item.span)
            )
        columns.append(SourceColumn(name, sql_type(item.type, catalog.types, text)))
    made_of = replace(found, columns=tuple(columns))
    check_parts(made_of, text, statement.name.span)
    return made_of


def check_replacement(old: SqlSource | None, new: SqlSource, name: Name, text: SourceText) -> None:
    """Refuse to replace a source by one that lacks a column which others may read."""
    if old is None:
        return
    kept = [column for column in old.columns if column in new.columns]
    if old.kind != new.kind or old.keys != new.keys or len(kept) < len(old.columns):
        missing = [column.name for column in old.columns if column not in new.columns]
        raise SqlError(
            "SQL_REPLACE",
            text.shown(
                f'"{old.name}" would lose or change {", ".join(missing) or "its key"}', name.span
            ),
            hint="Keep its columns, and add new ones; or drop it first.",
        )
