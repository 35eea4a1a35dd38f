"""The first row of each key."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from penstock.errors import ModelError
from penstock.model.relation import SameColumns


@dataclass(frozen=True, slots=True)
class Dedup(SameColumns):
    """Rows whose key was not seen within `within` of event time, or ever where it is none.

    Over a changelog a key's row is taken back when its last copy is.
    """

    keys: tuple[str, ...]
    within: timedelta | None = None
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for key in self.keys:
            self.source.schema.field(key, role="key", site=self.site)
        if self.within is not None and self.source.retracts:
            raise ModelError(
                "DEDUP_CHANGELOG",
                f"copies within {self.within} are sought where rows are taken back ({self.site})",
                hint="Leave out `within`, or remove the copies before the results are refined.",
            )
        if self.within is not None and self.within <= timedelta(0):
            raise ModelError(
                "DEDUP_WITHIN",
                f"copies within {self.within} ({self.site})",
                hint="Give one above 0.",
            )
