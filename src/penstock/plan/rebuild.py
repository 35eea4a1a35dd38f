"""The same step on other inputs."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.relation import Relation
from penstock.model.stateless import Apply, Expect, Filter, Project, Rekey, Restamp, Union
from penstock.model.top_n import TopN


def with_inputs(relation: Relation, inputs: tuple[Relation, ...]) -> Relation:
    """Give the step reading these inputs; itself where they are those it has."""
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    if isinstance(relation, Union):
        return replace(relation, sources=inputs)
    assert isinstance(
        relation, Project | Filter | Apply | Rekey | Expect | Restamp | Aggregate | Dedup | TopN
    )
    return replace(relation, source=inputs[0])
