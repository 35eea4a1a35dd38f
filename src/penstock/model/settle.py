"""The changes of a table brought together by its key, on the way to a compacted topic."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.model.relation import SameColumns


@dataclass(frozen=True, slots=True)
class Settle(SameColumns):
    """One change a key and batch: its new row, or one of weight -1 where it has none left.

    The planner puts it before an upsert whose changes come from where their key does not
    bring them together.
    """

    keys: tuple[str, ...]
    site: str = field(default="", compare=False)
