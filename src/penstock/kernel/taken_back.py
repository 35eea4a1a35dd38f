"""Rows added to those held, of which some take others back: only these are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from penstock.kernel.multiset import changed, numbered, touched
from penstock.kernel.port import WEIGHT, Frame


@dataclass(frozen=True, slots=True)
class Back:
    """What changed: rows of the keys that took some back before and after, others that came."""

    before: Frame
    after: Frame
    added: Frame
    others: Frame

    @property
    def whole(self) -> Frame:
        """All rows that are held now."""
        return pl.concat([self.others, self.after, self.added])


def taken_back(held: Frame, rows: Frame, keys: Sequence[str], columns: Sequence[str]) -> Back:
    """Add rows to those held; one of weight -1 takes back the latest copy of its row."""
    fresh = numbered(rows, held).select(held.columns)
    negative = [
        part.filter(pl.col(WEIGHT) < 0).select(keys)
        for part in (held, fresh)
        if (part[WEIGHT] < 0).any()
    ]
    if not negative:
        return Back(held.clear(), held.clear(), fresh, held)
    wanted = pl.concat(negative).unique()
    before, others = touched(held, wanted, keys)
    mine, added = touched(fresh, wanted, keys)
    return Back(before, changed(before, mine, columns), added, others)
