"""Who asks for the rows that a table had reads what the table is made of."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.join import Join
from penstock.model.join_bound import AsOf
from penstock.model.latest import Latest, Order
from penstock.model.physical import Stateful
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Project, Rekey, Retire
from penstock.model.versions import Versions


def look_up_changes(relation: Relation) -> Relation:
    """Leave out the table before a look into it, and before its versions.

    A table gives the last row of a batch only, so that those between would be missed; and what
    looks into it holds the same rows once more.
    """
    match relation:
        case Join(bound=AsOf(by=by), right=table):
            changes = _changes(table, by)
            return relation if changes is None else replace(relation, right=changes)
        case Versions(source=table):
            changes = _changes(table, "event time")
            return relation if changes is None else replace(relation, source=changes)
        case _:
            return relation


def _changes(table: Relation, by: Order) -> Relation | None:
    """Give the rows that a table is made of, done to them what is done to the table's."""
    match table:
        case Latest(source, order=order) if by in ("event time", order):
            return source if _one_by_one(source, by) else None
        case Filter(source, condition, site):
            changes = _changes(source, by)
            if changes is None or changes.retracts:
                return None if changes is None else replace(table, source=changes)
            # A row that the filter does not let pass ends the one that it did.
            return Retire(changes, condition, site)
        case Project(source) | Rekey(source):
            changes = _changes(source, by)
            return None if changes is None else replace(table, source=changes)
        case _:
            return None


def _one_by_one(source: Relation, by: Order) -> bool:
    """Whether each row replaces the one before it, and each deletion tells its time."""
    if not source.retracts:
        return True
    return by == "event time" and not any(isinstance(step, Stateful) for step in source.walk())
