"""Sequences of rows of one key that follow a pattern."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.model.pattern import Pattern
from penstock.model.relation import Relation
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Match(Relation):
    """One row for each match of a pattern in the rows of a key, in the order of event time."""

    source: Relation
    keys: tuple[str, ...]
    pattern: Pattern
    gives: Schema
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for key in self.keys:
            self.source.schema.field(key, role="key", site=self.site)

    @property
    @override
    def schema(self) -> Schema:
        return self.gives

    @property
    @override
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)

    @property
    @override
    def retracts(self) -> bool:
        return False
