"""The best rows of each group."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.errors import ModelError
from penstock.model.relation import SameColumns


@dataclass(frozen=True, slots=True)
class TopN(SameColumns):
    """The `n` rows of each group that come first by a column; one that falls out is taken back."""

    keys: tuple[str, ...]
    by: str
    n: int
    descending: bool = True
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for key in (*self.keys, self.by):
            self.source.schema.field(key, role="column", site=self.site)
        if self.n <= 0:
            raise ModelError(
                "TOP_N", f"the best {self.n} rows ({self.site})", hint="Give one above 0."
            )

    @property
    @override
    def retracts(self) -> bool:
        return True
