"""The changes of a table brought together by its key, on the way to a compacted topic."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.model.relation import Relation
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Settle(Relation):
    """One change a key and batch: its new row, or one of weight -1 where it has none left.

    The planner puts it before an upsert whose changes come from where their key does not
    bring them together.
    """

    source: Relation
    keys: tuple[str, ...]
    site: str = field(default="", compare=False)

    @property
    @override
    def schema(self) -> Schema:
        return self.source.schema

    @property
    @override
    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)
