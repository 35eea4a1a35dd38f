"""The columns that decide the partition of a record where the user does not say them."""

from __future__ import annotations

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.expr import Column
from penstock.model.join import Join
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.stateless import Apply, Expect, Filter, Named, Project, Rekey, Restamp
from penstock.model.top_n import TopN


def keys_of(relation: Relation) -> tuple[str, ...]:
    """Give the keys that rows have been brought together by last, if they are still there."""
    match relation:
        case Rekey() | Aggregate() | TopN() | Dedup() | Latest() | Join() | Process() | Match():
            names = relation.schema.names
            return relation.keys if all(key in names for key in relation.keys) else ()
        case Filter() | Expect() | Restamp() | Apply(shape="filter"):
            return keys_of(relation.inputs[0])
        case Project(columns=columns):
            keys = keys_of(relation.inputs[0])
            return keys if all(Named(key, Column(key)) in columns for key in keys) else ()
        case _:
            return ()
