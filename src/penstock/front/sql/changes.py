"""Tables as changes, in which an old row is taken back, and as rows, of which some are gone."""

from __future__ import annotations

from dataclasses import replace

from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.source import WINDOW_END, WINDOW_START
from penstock.model.aggregate import Aggregate
from penstock.model.change_rows import ChangeRows
from penstock.model.expr import Call, Column
from penstock.model.latest import Latest
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.stateless import Apply, Filter, Project, Retire


def changes_of(rows: Rows) -> Relation:
    """Give what changes in a table: the row that a key had is taken back."""
    relation = rows.relation
    if isinstance(relation, Settle) and relation.told is not None:
        there = relation.told.there
        # The rows were made of changes: these are at hand.
        return relation.source if there is None else _only(relation.source, there)
    if isinstance(relation, ChangeRows) and relation.keys is not None and not relation.condition:
        return relation.source
    results = taken_back(relation)
    if results is not None:
        return results
    if GONE in relation.schema.names:
        relation = Retire(relation, Call("not", (Column(GONE),)), "table")
    return Latest(relation, table_keys(rows), site="table")


def taken_back(relation: Relation) -> Relation | None:
    """Let groups say what they take back, where rows are their results; none where they are not."""
    match relation:
        case Project(source) | Apply(source, "row time"):
            made = taken_back(source)
            return None if made is None else replace(relation, source=made)
        case Aggregate(window=None, refinement=Refinement(mode="accumulating") as said):
            return replace(relation, refinement=replace(said, mode="retracting"))
        case _:
            return None


def table_keys(rows: Rows) -> tuple[str, ...]:
    """Give the columns that tell the rows of a table apart."""
    bounds = () if rows.window is None else (WINDOW_START, WINDOW_END)
    return tuple(dict.fromkeys((*rows.key, *bounds)))


def _only(changes: Relation, there: str) -> Relation:
    return Filter(changes, Column(there), "table")
