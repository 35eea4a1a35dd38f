"""The columns that decide the partition of a record where the user does not say them."""

from __future__ import annotations

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.enrich import Enrich
from penstock.model.expr import Column
from penstock.model.join import Join
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.stateless import Apply, Expect, Filter, Named, Project, Rekey, Restamp
from penstock.model.top_n import TopN
from penstock.model.versions import Versions


def keys_of(relation: Relation) -> tuple[str, ...]:
    """Give the keys that rows have been brought together by last, if they are still there."""
    match relation:
        case Versions() | Process() | Match():
            return _there(relation, relation.keys)
        case Rekey() | Aggregate() | TopN() | Dedup() | Latest() | Join():
            return _there(relation, relation.keys)
        case Enrich(columns=picks):
            keys = keys_of(relation.source)
            same = {pick.name for pick in picks if pick.name == pick.left}
            return keys if same.issuperset(keys) else ()
        case Filter() | Expect() | Restamp() | Apply(shape="filter"):
            return keys_of(relation.inputs[0])
        case Project(columns=columns):
            keys = keys_of(relation.inputs[0])
            return keys if all(Named(key, Column(key)) in columns for key in keys) else ()
        case _:
            return ()


def _there(relation: Relation, keys: tuple[str, ...]) -> tuple[str, ...]:
    names = relation.schema.names
    return keys if all(key in names for key in keys) else ()
