"""Streams are filtered where they are, before they meet."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Union


def push_filter_before_union(relation: Relation) -> Relation:
    """Filter each stream of a union; the columns have the same names in all of them."""
    if not isinstance(relation, Filter) or not isinstance(relation.source, Union):
        return relation
    union = relation.source
    return replace(
        union, sources=tuple(replace(relation, source=source) for source in union.sources)
    )
