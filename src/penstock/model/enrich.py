"""Rows brought together with those of a table that does not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from typing_extensions import override

from penstock.model.join import Pick, require_key, require_same_type, result_field
from penstock.model.relation import OneInput
from penstock.model.static_table import StaticTable
from penstock.schema.schema import Schema

EnrichHow: TypeAlias = Literal["inner", "left", "semi", "anti"]


@dataclass(frozen=True, slots=True)
class Enrich(OneInput):
    """Each row with every row of a static table that has the same values in the columns `on`.

    No null is equal to anything. `left` keeps rows without a partner, `semi` gives rows that
    have one and `anti` those that have none, once each. The table is at hand wherever rows
    are, so that none is exchanged.
    """

    table: StaticTable
    on: tuple[tuple[str, str], ...]
    how: EnrichHow
    columns: tuple[Pick, ...]
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require_key(self.on, self.site)
        for pair in self.on:
            require_same_type(pair, (self.source.schema, self.table.columns), self.site)
        _ = self.schema

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the rows that are compared."""
        return tuple(mine for mine, _ in self.on)

    @property
    @override
    def schema(self) -> Schema:
        return enriched_schema(self, self.source.schema)


def enriched_schema(step: Enrich, known: Schema) -> Schema:
    """Give the columns of the result, made of rows with these columns."""
    sides = (known, step.table.columns)
    return Schema(tuple(result_field(pick, sides, step.how, step.site) for pick in step.columns))
