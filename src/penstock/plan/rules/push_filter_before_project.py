"""Rows that go are not computed first."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.expr import Column, Literal, columns_of
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Project
from penstock.plan.substitute import substitute


def push_filter_before_project(relation: Relation) -> Relation:
    """Filter before columns are computed, where the condition reads columns that only pass by.

    A condition on a computed column stays behind: its expression would be computed twice.
    """
    if not isinstance(relation, Filter) or not isinstance(relation.source, Project):
        return relation
    project = relation.source
    known = {column.name: column.expr for column in project.columns}
    if not all(
        isinstance(known[name], Column | Literal) for name in columns_of(relation.condition)
    ):
        return relation
    condition = substitute(relation.condition, known)
    return replace(project, source=Filter(project.source, condition, site=relation.site))
