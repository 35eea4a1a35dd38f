"""Tables as changes, in which an old row is taken back, and as rows, of which some are gone."""

from __future__ import annotations

from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.source import WINDOW_END, WINDOW_START
from penstock.model.expr import Call, Column
from penstock.model.latest import Latest
from penstock.model.relation import Relation
from penstock.model.stateless import Retire


def changes_of(rows: Rows) -> Relation:
    """Give what changes in a table: the row that a key had is taken back."""
    relation = rows.relation
    if GONE in relation.schema.names:
        relation = Retire(relation, Call("not", (Column(GONE),)), "table")
    bounds = () if rows.window is None else (WINDOW_START, WINDOW_END)
    keys = tuple(dict.fromkeys((*rows.key, *bounds)))
    return Latest(relation, keys, site="table")
