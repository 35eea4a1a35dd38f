"""What the machines of a look into a table's history share: its state, and answers for good."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from penstock.kernel.answer import Answers
from penstock.kernel.columns import frame_schema
from penstock.kernel.given import Given
from penstock.kernel.look_up import LookUp
from penstock.kernel.multiset import ORDER
from penstock.kernel.port import CONTROL, TIME, Frame
from penstock.kernel.taken_back import taken_back
from penstock.model.join import Join

VERSIONS = "versions"
OPEN = "open"
"""Left rows that wait for the watermark, or whose answer may still change."""
GIVEN = "given"
"""Left rows answered for good, where they may be taken back."""
MET = "met"
"""Versions that a left row met which is no longer held, where those met by none come out."""


@dataclass(frozen=True, slots=True)
class Times:
    """The watermark before and after a step, and how far behind it rows still count."""

    before: int
    now: int
    keep: int

    @property
    def limit_before(self) -> int:
        """The time before which rows are late."""
        return self.before - self.keep

    @property
    def limit(self) -> int:
        """The time before which nothing can change any more."""
        return self.now - self.keep


class Parts:
    """The tables of left rows, and how they are answered."""

    def __init__(self, relation: Join, versions: Frame) -> None:
        self._retracts = relation.left.retracts
        self.columns = relation.left.schema.names
        self.answers = Answers(relation)
        self.given = Given(relation, self.answers)
        self.look_up = LookUp(relation, TIME)
        types = frame_schema(relation.left.schema)
        self.open = pl.DataFrame(schema={ORDER: pl.Int64(), **types, **CONTROL})
        self.met = versions.select(*relation.right_keys, TIME)

    def places(self, left: Frame, versions: Frame) -> pl.Series:
        """Give where the version stands that each left row meets."""
        found = self.look_up.places(left, versions)
        return self.answers.fulfilling(left, versions, found)

    def final(
        self, given: Frame, left: tuple[Frame, Frame], versions: Frame
    ) -> tuple[Frame, Frame]:
        """Answer left rows for good: those that meet nothing, and those that are looked up."""
        alone, rows = (part.select(*self.columns, *CONTROL) for part in left)
        places = self.places(rows, versions)
        if alone.height:
            nothing = pl.repeat(None, alone.height, dtype=pl.UInt32, eager=True)
            rows, places = pl.concat([alone, rows]), pl.concat([nothing, places])
        if not self._retracts:
            return given, self.answers.rows(rows, versions, places)
        return self.given.taken(given, self.given.beside(rows, versions, places))


def pending(held: Frame, rows: Frame, relation: Join) -> Frame:
    """Add left rows to those held; one of weight -1 takes away its latest copy."""
    if rows.is_empty():
        return held
    return taken_back(held, rows, relation.left_keys, relation.left.schema.names).whole
