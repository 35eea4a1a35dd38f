"""Rows that go need no key."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Rekey


def push_filter_before_rekey(relation: Relation) -> Relation:
    """Filter before the key is changed; a condition does not see the key."""
    if not isinstance(relation, Filter) or not isinstance(relation.source, Rekey):
        return relation
    rekey = relation.source
    return replace(rekey, source=replace(relation, source=rekey.source))
