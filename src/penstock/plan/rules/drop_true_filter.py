"""A filter that lets everything pass is none."""

from __future__ import annotations

from penstock.model.expr import Literal
from penstock.model.relation import Relation
from penstock.model.stateless import Filter


def drop_true_filter(relation: Relation) -> Relation:
    """Leave out a filter whose condition is the constant true."""
    if not isinstance(relation, Filter) or not isinstance(relation.condition, Literal):
        return relation
    return relation.source if relation.condition.value is True else relation
