"""The same step on other inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.enrich import Enrich
from penstock.model.join import Join
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.stateless import (
    Apply,
    Expect,
    Filter,
    Project,
    Rekey,
    Restamp,
    Retire,
    Union,
    Updates,
)
from penstock.model.top_n import TopN
from penstock.model.versions import Versions

_OneInput: TypeAlias = (
    Project
    | Filter
    | Apply
    | Rekey
    | Expect
    | Restamp
    | Updates
    | Retire
    | Enrich
    | Aggregate
    | Dedup
    | TopN
    | Latest
    | Versions
    | Process
    | Match
    | Settle
)


def with_inputs(relation: Relation, inputs: tuple[Relation, ...]) -> Relation:
    """Give the step reading these inputs; itself where they are those it has."""
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    if isinstance(relation, Union):
        return replace(relation, sources=inputs)
    if isinstance(relation, Join):
        return replace(relation, left=inputs[0], right=inputs[1])
    assert isinstance(relation, _OneInput)
    return replace(relation, source=inputs[0])
