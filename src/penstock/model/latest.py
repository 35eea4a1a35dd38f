"""The latest row of each key: a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.relation import SameColumns

Order: TypeAlias = Literal["arrival", "event time"]


@dataclass(frozen=True, slots=True)
class Latest(SameColumns):
    """One row a key: each takes back the one before it, and a deletion only takes back.

    By `order` the latest is the last that came, or the one with the greatest event time.
    Where the source takes rows back, those that are left are chosen among.
    """

    keys: tuple[str, ...]
    order: Order = "arrival"
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.keys:
            raise ModelError(
                "TABLE_KEY",
                f"a table has no key ({self.site})",
                hint='Name the columns that tell its rows apart, as in key="id".',
            )
        for key in self.keys:
            self.source.schema.field(key, role="key", site=self.site)

    @property
    @override
    def retracts(self) -> bool:
        return True
