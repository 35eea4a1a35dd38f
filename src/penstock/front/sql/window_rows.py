"""WINDOW without GROUP BY: each row knows the window it lies in."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from penstock.errors import SqlError
from penstock.front.sql.expression import Resolver
from penstock.front.sql.reading import Rows
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START
from penstock.front.sql.tree_window import Window
from penstock.front.sql.window_kind import window_of
from penstock.model.expr import Call, Column, Literal
from penstock.model.stateless import Named, Project
from penstock.model.window import Tumbling
from penstock.schema.types import INT64

_MILLISECOND = timedelta(milliseconds=1)


def window_rows(rows: Rows, said: Window, resolver: Resolver, *, final: bool) -> Rows:
    """Give rows with WINDOWSTART and WINDOWEND; where results are final, windows are to close."""
    text = rows.scope.text
    window = window_of(said, resolver)
    fits = isinstance(window, Tumbling) and window.domain == "event"
    if not fits or rows.table or rows.window is not None:
        raise SqlError(
            "SQL_GROUP_BY",
            text.shown("WINDOW is given without GROUP BY", said.span),
            hint="Add GROUP BY; rows of a stream may lie in windows of TUMBLING (SIZE 1 MINUTE).",
        )
    assert isinstance(window, Tumbling)
    size, offset = window.size // _MILLISECOND, window.offset // _MILLISECOND
    time = Column(ROW_TIME)
    moved = time if not offset else Call("subtract", (time, Literal(offset)))
    start = Call("subtract", (time, Call("mod", (moved, Literal(size)))))
    bounds = (Named(WINDOW_START, start), Named(WINDOW_END, Call("add", (start, Literal(size)))))
    same = tuple(Named(name, Column(name)) for name in rows.relation.schema.names)
    source = rows.scope.columns[0].source
    columns = tuple(ScopeColumn(source, it.name, it.name, INT64, system=True) for it in bounds)
    return replace(
        rows,
        relation=Project(rows.relation, (*same, *bounds), "WINDOW"),
        scope=Scope((*rows.scope.columns, *columns), text),
        closes=final,
    )
