"""Tables as changes, in which an old row is taken back, and as rows, of which some are gone."""

from __future__ import annotations

from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.source import WINDOW_END, WINDOW_START
from penstock.model.expr import Call, Column
from penstock.model.latest import Latest
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.stateless import Filter, Retire


def changes_of(rows: Rows) -> Relation:
    """Give what changes in a table: the row that a key had is taken back."""
    relation = rows.relation
    if isinstance(relation, Settle) and relation.told is not None:
        there = relation.told.there
        # The rows were made of changes: these are at hand.
        return relation.source if there is None else _only(relation.source, there)
    if GONE in relation.schema.names:
        relation = Retire(relation, Call("not", (Column(GONE),)), "table")
    return Latest(relation, table_keys(rows), site="table")


def table_keys(rows: Rows) -> tuple[str, ...]:
    """Give the columns that tell the rows of a table apart."""
    bounds = () if rows.window is None else (WINDOW_START, WINDOW_END)
    return tuple(dict.fromkeys((*rows.key, *bounds)))


def _only(changes: Relation, there: str) -> Relation:
    return Filter(changes, Column(there), "table")
