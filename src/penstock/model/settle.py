"""The changes of a table brought together by its key: to be written, or told in columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.model.relation import OneInput
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN


@dataclass(frozen=True, slots=True)
class Told:
    """Changes as rows that are never taken back: columns say what weights did.

    Where a key has no row left, column `gone` is true, and only its key and columns of `kept` are
    there; `time` is a column of milliseconds that holds when each change happened. Columns of
    `each` tell one change from another where nothing else does. Where the column `there` is
    false, a key has no row: one that never had any is left out.
    """

    gone: str
    time: str
    each: tuple[str, ...] = ()
    there: str | None = None
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settle(OneInput):
    """One change a key and batch: its new row, or one of weight -1 where it has none left.

    The planner puts it before an upsert whose changes come from where their key does not
    bring them together. With `told` the changes become rows that say what they are.
    """

    keys: tuple[str, ...]
    site: str = field(default="", compare=False)
    told: Told | None = None

    @property
    @override
    def schema(self) -> Schema:
        known = self.source.schema
        if self.told is None:
            return known
        kept = (
            field if field.name in self.keys else Field(field.name, field.type)
            for field in known.fields
        )
        return Schema((*kept, Field(self.told.gone, BOOLEAN)))

    @property
    @override
    def retracts(self) -> bool:
        return self.told is None and self.source.retracts

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it cannot do without."""
        if self.told is None:
            return self.keys
        there = () if self.told.there is None else (self.told.there,)
        return (*self.keys, self.told.time, *self.told.each, *there)
