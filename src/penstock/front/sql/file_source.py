"""FROM 'events.jsonl': the rows of files, which end where the files do.

Columns are called as statements call theirs: `id` of a file is ID, unless two would be the same.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import PurePath
from typing import Any, TypeVar

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.derived import timed
from penstock.front.sql.parse import parse_statement
from penstock.front.sql.properties import properties_of
from penstock.front.sql.reading import Rows
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source import ROW_TIME, RecordFormat, SourceColumn, SqlSource
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Name
from penstock.front.sql.tree_expression import StringLiteral
from penstock.front.sql.tree_query import Aliased, FileSource, Property, Relation
from penstock.front.sql.tree_statement import CreateSource
from penstock.front.sql.typed_format import shown_names
from penstock.front.sql.types import sql_type, type_text
from penstock.model.expr import Column
from penstock.model.source import Stream
from penstock.model.stateless import Named, Project
from penstock.model.watermark import BoundedDisorder
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, Kind

_KNOWN = ("COLUMNS", "TIMESTAMP")
_TIMES = (Kind.TIMESTAMP, Kind.INT64)
_NO_TOPIC = re.compile(r"[^A-Za-z0-9._-]")
_IN_ORDER = BoundedDisorder(max_ahead=None, idle=None)
Tree = TypeVar("Tree")


def file_rows(relation: Relation, catalog: Catalog, text: SourceText) -> Rows | None:
    """Give the rows of files; none where a relation is something else."""
    file = relation.relation if isinstance(relation, Aliased) else relation
    if not isinstance(file, FileSource):
        return None
    alias = relation.alias.text if isinstance(relation, Aliased) else ""
    columns = _columns(file, catalog, text)
    names = shown_names(columns)
    topic = _topic(file.path)
    event_time = _event_time(file, columns, names, text)
    site = f"FROM '{file.path}'"
    stream = Stream(topic, columns, event_time, watermark=_IN_ORDER, site=site, files=file.path)
    named = [Named(new, Column(old)) for old, new in names.items()]
    relation_of = timed(Project(stream, tuple(named), site))
    own = [SourceColumn(names[field.name], field.type) for field in columns.fields]
    scope = [ScopeColumn(alias, column.name, column.name, column.type) for column in own]
    if ROW_TIME not in {column.name for column in own}:
        scope.append(ScopeColumn(alias, ROW_TIME, ROW_TIME, INT64, system=True))
    source = SqlSource(
        file.path,
        "stream",
        tuple(own),
        topic,
        RecordFormat("NONE"),
        RecordFormat("JSON"),
        file=file.path,
    )
    return Rows(relation_of, Scope(tuple(scope), text), (), (source,))


def with_columns(tree: Tree, catalog: Catalog, text: SourceText) -> Tree:
    """Write down the columns of all files that are named, so that they stay as they are."""
    return _pinned(tree, catalog, text)  # type: ignore[no-any-return]


def _pinned(tree: Any, catalog: Catalog, text: SourceText) -> Any:  # noqa: ANN401  # any tree
    if isinstance(tree, FileSource):
        told = {item.name.upper() for item in tree.properties}
        if "COLUMNS" in told:
            return tree
        columns = _columns(tree, catalog, text)
        said = ", ".join(f"`{field.name}` {type_text(field.type)}" for field in columns.fields)
        path = catalog.file_path(tree)
        more = Property("COLUMNS", StringLiteral(said))
        return replace(tree, path=path, properties=(*tree.properties, more))
    if isinstance(tree, tuple):
        made = tuple(_pinned(item, catalog, text) for item in tree)
        return made if any(a is not b for a, b in zip(made, tree, strict=True)) else tree
    if not is_dataclass(tree) or isinstance(tree, SourceText):
        return tree
    changes = {}
    for field in fields(tree):
        value = getattr(tree, field.name)
        new = _pinned(value, catalog, text)
        if new is not value:
            changes[field.name] = new
    return replace(tree, **changes) if changes else tree  # type: ignore[type-var]


def _columns(file: FileSource, catalog: Catalog, text: SourceText) -> Schema:
    """Give the columns of a file: those that are said, or those that it has."""
    said = properties_of(file.properties, _KNOWN, text)
    declared = said.get("COLUMNS")
    if declared is None:
        return catalog.file_columns(file, text)
    try:
        statement = parse_statement(f"CREATE STREAM f ({declared});")
        assert isinstance(statement, CreateSource)
        return Schema(
            tuple(
                Field(
                    _own_name(column.name, file, catalog, text),
                    sql_type(column.type, catalog.types, statement.source),
                )
                for column in statement.columns or ()
            )
        )
    except SqlError as error:
        fact = error.fact.split("\n", 1)[0]
        raise said.refused(
            "COLUMNS", f"cannot be read: {fact}", "Write COLUMNS='`id` INT, `name` STRING'."
        ) from error


def _own_name(name: Name, file: FileSource, catalog: Catalog, text: SourceText) -> str:
    """Give the name that a file has for a column; one in quotes is that name already."""
    if name.quoted or catalog.files is None:
        return name.text
    known = catalog.file_columns(file, text).names
    found = [it for it in known if it.upper() == name.text]
    if not found:
        raise SqlError("SQL_COLUMN_MISSING", f'the file has no column "{name.text}"')
    return found[0]


def _event_time(
    file: FileSource, columns: Schema, names: dict[str, str], text: SourceText
) -> str | None:
    said = properties_of(file.properties, _KNOWN, text)
    wanted = said.get("TIMESTAMP")
    if wanted is None:
        return None
    found = [old for old, new in names.items() if wanted in (old, new) or wanted.upper() == new]
    if not found or columns.field(found[0]).type.kind not in _TIMES:
        raise said.refused(
            "TIMESTAMP",
            f'names "{wanted}", which is no column of type TIMESTAMP or BIGINT',
            f"The columns: {', '.join(names.values())}.",
        )
    return found[0]


def _topic(path: str) -> str:
    """Give the name that files go by where topics are named."""
    digest = hashlib.sha256(path.encode()).hexdigest()[:8]
    return f"file.{_NO_TOPIC.sub('_', PurePath(path).name)[:100]}.{digest}"
