"""A projection that changes nothing is none."""

from __future__ import annotations

from penstock.model.expr import Column
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project


def drop_identity_project(relation: Relation) -> Relation:
    """Leave out a projection to the columns that are there, in their order and as nullable."""
    if not isinstance(relation, Project) or relation.schema != relation.source.schema:
        return relation
    same = tuple(Named(name, Column(name)) for name in relation.source.schema.names)
    return relation.source if relation.columns == same else relation
