"""The values of each group in the order of arrival, one row for each.

What is taken back cancels the latest equal value before it, as closing brackets cancel opening
ones. What finds none before it stays, for the part in which it is may be merged after one that
has it. So any split of the rows into parts leaves the same values in the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from penstock.kernel.fold.accumulator import COUNT, RESULT, SEQUENCE, InTable
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import group
from penstock.kernel.fold.multiset import VALUE, nothing, repeated
from penstock.kernel.port import START_OF_TIME, TIME, WEIGHT, Frame

MOMENT = "_t"
_LEVEL = "_level"


@dataclass(frozen=True, slots=True)
class Listing:
    """Values that are there, in order; with `timed` also their event times."""

    name: str
    column: str
    retracts: bool
    timed: bool = False
    distinct: bool = False
    """Only the first of equal values is kept."""
    most: int | None = None
    """Only so many values of a group are kept: the first, or the last where it is below 0."""

    def fold(self, rows: Frame, by: Sequence[str]) -> Frame:
        """Take the values of rows."""
        taken = rows.select(
            *by,
            pl.col(self.column).alias(VALUE),
            *((pl.col(TIME).fill_null(START_OF_TIME).alias(MOMENT),) if self.timed else ()),
            SEQUENCE,
            pl.col(WEIGHT).cast(pl.Int64).alias(COUNT),
        ).drop_nulls(VALUE)
        if self.retracts and taken[COUNT].abs().max() not in (None, 1):
            one = taken.with_columns(pl.col(COUNT).sign())
            taken = repeated(one, taken[COUNT].abs())
        return self.reduce(taken, by)

    def reduce(self, table: Frame, by: Sequence[str]) -> Frame:
        """Cancel what was taken back."""
        if self.distinct:
            once = group(
                table, [*by, VALUE], [pl.col(SEQUENCE).min(), pl.lit(1, pl.Int64).alias(COUNT)]
            )
            return _cut(once, by, self.most)
        if not self.retracts and self.most is not None:
            return _cut(table, by, self.most)
        if not self.retracts or table.is_empty() or table[COUNT].min() == 1:
            return table
        same = [*by, VALUE, *((MOMENT,) if self.timed else ())]
        reached = pl.col(COUNT).cum_sum().over(same)
        # A value opens the level it reaches; taking back closes the level it leaves.
        level = pl.max_horizontal(reached, reached - pl.col(COUNT))
        leveled = table.sort(SEQUENCE, maintain_order=True).with_columns(level.alias(_LEVEL))
        place = pl.int_range(pl.len()).over([*same, _LEVEL])
        places = pl.len().over([*same, _LEVEL])
        unmatched = (place == 0) & (pl.col(COUNT) < 0)
        open_still = (place == places - 1) & (pl.col(COUNT) > 0)
        return leveled.filter(unmatched | open_still).drop(_LEVEL)


def standing(table: Frame, by: Sequence[str]) -> Frame:
    """The values that are there, by arrival; what is owed is taken from the latest equal ones."""
    ordered = table.sort(SEQUENCE, maintain_order=True)
    if ordered.is_empty() or ordered[COUNT].min() == 1:
        return ordered
    same = [*by, VALUE]
    owed = pl.col(COUNT).filter(pl.col(COUNT) < 0).sum().over(same)
    there = pl.col(COUNT) > 0
    later = there.cast(pl.Int64).cum_sum(reverse=True).over(same)
    return ordered.filter(there & (later > -owed))


def _cut(table: Frame, by: Sequence[str], most: int | None) -> Frame:
    if most is None:
        return table
    ordered = table.sort(SEQUENCE, maintain_order=True)
    groups = ordered.group_by(by, maintain_order=True)
    return groups.head(most) if most > 0 else groups.tail(-most)


def _most(task: Task) -> int | None:
    """How many values are asked for: `first` so many, or `last`."""
    for name, sign in (("first", 1), ("last", -1)):
        if task.settings.get(name) is not None:
            return sign * int(str(task.settings[name]))
    return None


def collected(task: Task) -> InTable:
    """All values in the order of arrival, or so many of them."""
    most = _most(task)
    name = f"list({task.subject})"
    # What is taken back may bring up any other value, so then all of them are kept.
    bounded = None if task.retracts else most
    called = name if bounded is None else f"{name} {bounded}"
    table = Listing(called, task.argument.column, task.retracts, most=bounded)

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        there = _cut(standing(table, by), by, most)
        return group(there, by, [pl.col(VALUE).alias(RESULT)], in_order=True)

    return InTable(table, summary, nothing(task), packable=False)


def collected_once(task: Task) -> InTable:
    """The different values, in the order in which the first of each came."""
    # The first may be taken back and leave the second, so then all of them are kept.
    name = "list" if task.retracts else "set"
    most = _most(task)
    bounded = None if task.retracts else most
    called = f"{name}({task.subject})"
    table = Listing(
        called if bounded is None else f"{called} {bounded}",
        task.argument.column,
        task.retracts,
        distinct=not task.retracts,
        most=bounded,
    )

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        there = standing(table, by)
        if task.retracts:
            there = there.unique([*by, VALUE], keep="first", maintain_order=True)
        there = _cut(there, by, most)
        return group(there, by, [pl.col(VALUE).alias(RESULT)], in_order=True)

    return InTable(table, summary, nothing(task), packable=False)
