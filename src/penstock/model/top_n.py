"""The best rows of each group."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.relation import SameColumns
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64


@dataclass(frozen=True, slots=True)
class Sorting:
    """A column to sort by."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class TopN(SameColumns):
    """The `n` rows of each group that come first by a column; one that falls out is taken back.

    Where rows are alike in it, they are sorted by those of `then`, and last by their arrival. With
    `ties` rows that are alike have the same place, and all of a place up to `n` are given. The
    place of a row is a column of its own where `number` names one. `until` is a column of
    milliseconds, the same in all rows of a group: its rows are given once, when the watermark is
    there, and nothing is taken back.
    """

    keys: tuple[str, ...]
    by: str
    n: int
    descending: bool = True
    site: str = field(default="", compare=False)
    then: tuple[Sorting, ...] = ()
    ties: bool = False
    number: str | None = None
    until: str | None = None

    def __post_init__(self) -> None:
        for name in self.reads:
            self.source.schema.field(name, role="column", site=self.site)
        if self.n <= 0:
            raise ModelError(
                "TOP_N", f"the best {self.n} rows ({self.site})", hint="Give one above 0."
            )

    @property
    def sorting(self) -> tuple[Sorting, ...]:
        """All columns that are sorted by."""
        return (Sorting(self.by, self.descending), *self.then)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it cannot do without."""
        until = () if self.until is None else (self.until,)
        return (*self.keys, *(item.column for item in self.sorting), *until)

    @property
    @override
    def schema(self) -> Schema:
        known = self.source.schema
        if self.number is None:
            return known
        return Schema((*known.fields, Field(self.number, INT64, nullable=False)))

    @property
    @override
    def retracts(self) -> bool:
        return self.until is None
