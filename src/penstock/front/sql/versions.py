"""FROM table.VERSIONS: every row that a table had, and from when to when it was valid."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from penstock.errors import SqlError
from penstock.front.sql.changes import changes_of
from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source import ROW_TIME
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Name
from penstock.model import versions as model
from penstock.model.expr import Column
from penstock.model.settle import Settle, Told
from penstock.model.stateless import Named, Project
from penstock.schema.types import INT64, TIMESTAMP

VERSIONS = "VERSIONS"
_DAY = timedelta(days=1)
VALID_FROM, VALID_TO = "VALID_FROM", "VALID_TO"


def versions_of(rows: Rows, part: Name, text: SourceText) -> Rows:
    """Give the rows that a table had, told apart by its key and when each began.

    A row that comes up to a day late is put in its place.
    """
    if not rows.table or rows.window is not None:
        raise SqlError(
            "SQL_SOURCE_KIND",
            text.shown("versions are asked of what is no table with a plain key", part.span),
            hint="Ask a table for them.",
        )
    made = model.Versions(changes_of(rows), rows.key, _DAY, site="FROM")
    columns = tuple(column for column in rows.scope.columns if not column.system)
    source = rows.scope.columns[0].source
    bounds = tuple(
        ScopeColumn(source, name, name, TIMESTAMP, key=name == VALID_FROM)
        for name in (VALID_FROM, VALID_TO)
    )
    time = ScopeColumn(source, ROW_TIME, ROW_TIME, INT64, system=True)
    names = [*(column.held for column in columns), ROW_TIME]
    renamed = ((VALID_FROM, model.VALID_FROM), (VALID_TO, model.VALID_TO))
    exprs = [Named(name, Column(name)) for name in dict.fromkeys(names)]
    exprs += [Named(name, Column(held)) for name, held in renamed]
    key = (*rows.key, VALID_FROM)
    told = Settle(Project(made, tuple(exprs), "FROM"), key, "FROM", Told(GONE, ROW_TIME))
    keys = tuple(column for column in columns if column.key)
    values = tuple(column for column in columns if not column.key)
    scope = Scope((*keys, *bounds, *values, time), text)
    return replace(rows, relation=told, scope=scope, key=key)
