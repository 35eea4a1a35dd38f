"""Smallest and largest values; NaN is larger than all others."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.fold.accumulator import COUNT, RESULT, Accumulator, InColumns, InTable, Part
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import group
from penstock.kernel.fold.multiset import (
    VALUE,
    Multiset,
    in_multiset,
    nothing,
    present,
    repeated,
)
from penstock.kernel.port import Frame
from penstock.schema.types import Kind


def smallest(task: Task) -> Accumulator:
    """The smallest value that is there."""
    if task.retracts:
        return in_multiset(task, pl.col(VALUE).min())
    name = f"{task.prefix}_v"
    part = Part(name, task.argument.value.min().alias(name), pl.col(name).min())
    return InColumns((part,), pl.col(name))


def largest(task: Task) -> Accumulator:
    """The largest value that is there."""
    if task.retracts:
        return in_multiset(task, _maximum(task, pl.col(VALUE)))
    name = f"{task.prefix}_v"
    value, kept = task.argument.value, pl.col(name)
    part = Part(name, _maximum(task, value).alias(name), _maximum(task, kept))
    return InColumns((part,), kept)


def largest_values(task: Task) -> InTable:
    """The k largest values, equal ones as often as they are there, largest first."""
    return _largest_values(task, distinct=False)


def largest_distinct_values(task: Task) -> InTable:
    """The k largest values, each once, largest first."""
    return _largest_values(task, distinct=True)


def _maximum(task: Task, value: pl.Expr) -> pl.Expr:
    return value.nan_max() if task.argument.kind is Kind.FLOAT64 else value.max()


def _largest_values(task: Task, *, distinct: bool) -> InTable:
    size = int(str(task.settings["k"]))
    # What is taken back may bring up any other value, so then all of them are kept.
    name = f"values({task.subject})" if task.retracts else f"largest {size}({task.subject})"
    bound = None if task.retracts else size
    table = Multiset(name, (task.argument.value,), task.retracts, bound)

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        there = present(table).sort(VALUE, descending=True, maintain_order=True)
        if not distinct:
            there = repeated(there, there[COUNT].clip(upper_bound=size))
        return group(there, by, [pl.col(VALUE).head(size).alias(RESULT)], in_order=True)

    return InTable(table, summary, nothing(task))
