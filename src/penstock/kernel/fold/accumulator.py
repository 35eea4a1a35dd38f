"""The two ways to remember what a measure needs of its rows.

In columns beside the group, where a few numbers say all; or in a table of the values of all
groups, where they do not. Neither depends on how the rows were split into parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import polars as pl

from penstock.kernel.port import Frame

ROWS = "_rows"
"""Net number of rows of a group: added less taken back."""
COUNT = "_count"
"""In a table: how often a value is there; below zero where it was taken back before it came."""
SEQUENCE = "_seq"
"""Numbers rows by arrival; the names of accumulator columns that hold such a number end so."""
RESULT = "_result"
"""What a summary gives beside the group columns."""


@dataclass(frozen=True, slots=True)
class Part:
    """One accumulator column: how it comes of rows, and how those of parts are added up."""

    name: str
    rows: pl.Expr
    merge: pl.Expr


@dataclass(frozen=True, slots=True)
class InColumns:
    """A measure remembered in columns; `by_arrival`: the order of rows decides."""

    parts: tuple[Part, ...]
    result: pl.Expr
    by_arrival: bool = False

    @property
    def packable(self) -> bool:
        """Whether parts may come in any order."""
        return not self.by_arrival


class Table(Protocol):
    """The values of all groups, one row each: group columns, values, `_count`."""

    @property
    def name(self) -> str:
        """Under which it is kept; measures that need the same table share it."""

    def fold(self, rows: Frame, by: Sequence[str]) -> Frame:
        """Take the values of rows, which are numbered in `_seq`."""

    def reduce(self, table: Frame, by: Sequence[str]) -> Frame:
        """Add up the rows of parts that stand one after the other."""


Summary: TypeAlias = Callable[[Frame, Sequence[str]], Frame]
"""Gives of a table the group columns and one column `_result`."""
Lookup: TypeAlias = Callable[[Frame, pl.Series], pl.Series | None]
"""Gives of a table the results of numbered groups, in their order, whatever else it holds.

The numbers stand in a column of the name that these have. None where it would take too long.
"""


@dataclass(frozen=True, slots=True)
class InTable:
    """A measure remembered in a table; `identity` is the result of a group without values."""

    table: Table
    summary: Summary
    identity: pl.Expr
    packable: bool = True
    lookup: Lookup | None = None


Accumulator: TypeAlias = InColumns | InTable
