"""Two filters in a row are one."""

from __future__ import annotations

from penstock.model.expr import Call
from penstock.model.relation import Relation
from penstock.model.stateless import Filter


def merge_filters(relation: Relation) -> Relation:
    """Ask both conditions at once: `and` is true only where both are, as two filters pass."""
    if not isinstance(relation, Filter) or not isinstance(relation.source, Filter):
        return relation
    first = relation.source
    both = Call("and", (first.condition, relation.condition))
    sites = [site for site in (first.site, relation.site) if site]
    return Filter(first.source, both, site=", ".join(dict.fromkeys(sites)))
