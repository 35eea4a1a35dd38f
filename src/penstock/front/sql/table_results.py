"""Results of groups as a query gives them: rows of a table, of which some are gone, or changes."""

from __future__ import annotations

from penstock.front.sql.rows import GONE
from penstock.front.sql.sessions import left_sessions
from penstock.front.sql.table_filter import remembered
from penstock.front.sql.window import Placed
from penstock.model.change_rows import ChangeRows
from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project
from penstock.model.window import Session

WEIGHT = "_WEIGHT"
"""The column of a stream of changes: 1 of a result that is given, -1 of one that is taken back."""
_PASSES = "_passes"


def asked_of(where: Placed, having: Expr | None, *, of_table: bool) -> Placed:
    """Let results be taken back where HAVING of a table must know which were there."""
    native = having is not None and where.table and not of_table
    return where.taken_back() if native else where


def listed(
    results: Relation, keys: tuple[str, ...], where: Placed, having: Expr | None
) -> Relation:
    """Give the results of groups for which HAVING holds; those that are gone are marked."""
    apart = (*keys, *where.bounds)
    if not where.table:
        kept = results if having is None else Filter(results, having, "HAVING")
        return _marked(kept, None) if where.retracts else kept
    if where.ksql and isinstance(where.window, Session):
        # What HAVING leaves out is taken back as it was given: not at all.
        kept = results if having is None else Filter(results, having, "HAVING")
        return left_sessions(kept, keys)
    if where.retracts:
        return _marked(results, apart, having)
    return results if having is None else remembered(results, apart, having, "HAVING")


def weight() -> Expr:
    """Give the weight of a change that is told as a row."""
    return Call("if", (Column(GONE), Literal(-1), Literal(1)))


def _marked(
    changes: Relation, keys: tuple[str, ...] | None, having: Expr | None = None
) -> Relation:
    same = [Named(name, Column(name)) for name in changes.schema.names]
    marks = [Named(GONE, Literal(value=False))]
    if having is None:
        return ChangeRows(Project(changes, (*same, *marks), "changes"), GONE, keys, site="changes")
    marks.append(Named(_PASSES, having))
    asked = Project(changes, (*same, *marks), "HAVING")
    told = ChangeRows(asked, GONE, keys, Column(_PASSES), site="HAVING")
    return Project(told, (*same, Named(GONE, Column(GONE))), "HAVING")
