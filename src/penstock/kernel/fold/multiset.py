"""The values of each group and how often each is there: exact however rows come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.fold.accumulator import COUNT, RESULT, InTable, Summary
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import count_numbers, group, group_anyhow, is_whole
from penstock.kernel.fold.growth import grown
from penstock.kernel.port import WEIGHT, Frame

VALUE = "_v0"


@dataclass(frozen=True, slots=True)
class Multiset:
    """Values that are null are left out; those that are there zero times, too."""

    name: str
    values: tuple[pl.Expr, ...]
    retracts: bool
    largest: int | None = None
    """Only so many different values of a group are kept, the largest."""

    @property
    def columns(self) -> list[str]:
        """The columns of the values."""
        return [f"_v{index}" for index in range(len(self.values))]

    def fold(self, rows: Frame, by: Sequence[str]) -> Frame:
        """Count the values of rows."""
        values = [item.alias(name) for item, name in zip(self.values, self.columns, strict=True)]
        taken = rows.select(*by, *values, WEIGHT).drop_nulls(self.columns)
        if self.retracts:
            return self._bounded(self._counted(taken, by, WEIGHT), by)
        return self._bounded(self._counted(taken, by, None), by)

    def reduce(self, table: Frame, by: Sequence[str]) -> Frame:
        """Add up the counts of equal values."""
        return self._bounded(self._counted(table, by, COUNT), by)

    def grown(self, held: Frame, come: Frame, by: str) -> Frame | None:
        """Add up what is held and what comes, where rows that are held can stay in place."""
        plain = not self.retracts and self.largest is None and len(self.values) == 1
        if not plain or not is_whole(held.schema[VALUE]):
            return None
        return grown(held, self.reduce(come, [by]), (by, VALUE))

    def _counted(self, frame: Frame, by: Sequence[str], weight: str | None) -> Frame:
        """Count rows, or add up their weights."""
        names = [*by, *self.columns]
        counted = count_numbers(frame, names, weight, COUNT)
        if counted is None:
            many = pl.len() if weight is None else pl.col(weight).cast(pl.Int64).sum()
            counted = group_anyhow(frame, names, [many.cast(pl.Int64).alias(COUNT)])
        return counted.filter(pl.col(COUNT) != 0) if self.retracts else counted

    def _bounded(self, table: Frame, by: Sequence[str]) -> Frame:
        if self.largest is None:
            return table
        ordered = table.sort(VALUE, descending=True, maintain_order=True)
        return ordered.group_by(by, maintain_order=True).head(self.largest)


def multiset_of(task: Task) -> Multiset:
    """All values of the arguments; measures of the same ones share it."""
    values = tuple(item.value for item in task.arguments)
    return Multiset(f"values({task.subject})", values, task.retracts)


def present(table: Frame) -> Frame:
    """The values that are there; those taken back before they came are not."""
    return table.filter(pl.col(COUNT) > 0)


def repeated(table: Frame, counts: pl.Series) -> Frame:
    """Each row as often as is said."""
    return table[np.repeat(np.arange(table.height), counts.to_numpy())]


def summary_of(aggregate: pl.Expr) -> Summary:
    """Give a result by an aggregate over the values that are there."""

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        return group(present(table), by, [aggregate.alias(RESULT)])

    return summary


def nothing(task: Task) -> pl.Expr:
    """The result where there are no values: null, or an empty list."""
    if isinstance(task.gives, pl.List):
        return pl.lit(pl.Series([[]], dtype=task.gives)).first()
    return pl.lit(None, task.gives)


def in_multiset(task: Task, aggregate: pl.Expr) -> InTable:
    """Remember all values and aggregate them when a result is asked for."""
    return InTable(multiset_of(task), summary_of(aggregate), nothing(task))
