"""Two projections in a row are one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from penstock.model.expr import Column, Literal, columns_of
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project
from penstock.plan.substitute import substitute


def merge_projects(relation: Relation) -> Relation:
    """Compute in one go what two projections compute, where nothing is computed twice by it."""
    if not isinstance(relation, Project) or not isinstance(relation.source, Project):
        return relation
    inner = relation.source
    known = {column.name: column.expr for column in inner.columns}
    reads = Counter(name for column in relation.columns for name in columns_of(column.expr))
    if any(
        count > 1 and not isinstance(known[name], Column | Literal) for name, count in reads.items()
    ):
        return relation
    columns = tuple(Named(c.name, substitute(c.expr, known)) for c in relation.columns)
    return replace(relation, source=inner.source, columns=columns)
