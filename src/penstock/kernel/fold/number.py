"""Count, sum and average."""

from __future__ import annotations

from functools import reduce

import polars as pl

from penstock.kernel.fold import exact
from penstock.kernel.fold.accumulator import ROWS, Accumulator, InColumns, Part
from penstock.kernel.fold.argument import Argument, Task
from penstock.kernel.port import WEIGHT
from penstock.schema.types import Kind

_HALF = 2**32


def count(task: Task) -> InColumns:
    """Count rows, or those whose arguments are all there."""
    nullable = tuple(item for item in task.arguments if item.nullable)
    if not nullable:
        return InColumns((), pl.col(ROWS))
    part = _there(task, nullable)
    return InColumns((part,), pl.col(part.name))


def sum_(task: Task) -> Accumulator:
    """Add up; of rows that are all null nothing is known, and no rows add up to zero.

    Whole numbers wrap around at 64 bits, decimals are exact. Floating point is exact where
    rows are taken back: else what is left of them could be larger than the sum itself.
    """
    if task.argument.kind is Kind.FLOAT64 and task.retracts:
        return exact.total(task)
    parts, there = _counted(task)
    total = _total(task, "s", _wide(task.argument))
    value, rows = pl.col(total.name), pl.col(ROWS)
    unknown = (there == 0) & (rows != 0) & (value == 0)
    return InColumns((*parts, total), pl.when(~unknown).then(value))


def average(task: Task) -> Accumulator:
    """Sum divided by count, in floating point; of no values null."""
    if task.argument.kind is Kind.FLOAT64 and task.retracts:
        return exact.mean(task)
    parts, there = _counted(task)
    if task.argument.kind is Kind.INT64:
        # In two halves, since the sum of many large numbers does not fit into 64 bits.
        high = _total(task, "high", task.argument.value // _HALF)
        low = _total(task, "low", task.argument.value % _HALF)
        totals: tuple[Part, ...] = (high, low)
        sum_of = pl.col(high.name).cast(pl.Float64) * _HALF + pl.col(low.name)
    else:
        totals = (_total(task, "s", _wide(task.argument)),)
        sum_of = pl.col(totals[0].name).cast(pl.Float64)
    return InColumns((*parts, *totals), pl.when(there != 0).then(sum_of / there))


def _counted(task: Task) -> tuple[tuple[Part, ...], pl.Expr]:
    """How many values are there: the number of rows where none can be null."""
    if not task.argument.nullable:
        return (), pl.col(ROWS)
    part = _there(task, task.arguments)
    return (part,), pl.col(part.name)


def _there(task: Task, arguments: tuple[Argument, ...]) -> Part:
    name = f"{task.prefix}_n"
    if len(arguments) == 1 and not task.retracts:
        rows = arguments[0].value.count().cast(pl.Int64)
    else:
        there = reduce(lambda a, b: a & b, (item.value.is_not_null() for item in arguments))
        rows = (there.cast(pl.Int64) * task.weight).sum()
    return Part(name, rows.alias(name), pl.col(name).sum())


def _total(task: Task, suffix: str, value: pl.Expr) -> Part:
    name = f"{task.prefix}_{suffix}"
    rows = (value * pl.col(WEIGHT)).sum() if task.retracts else value.sum()
    return Part(name, rows.alias(name), pl.col(name).sum())


def _wide(argument: Argument) -> pl.Expr:
    """A value in the type its sum is kept in."""
    if argument.kind in (Kind.INT32, Kind.BOOLEAN):
        return argument.value.cast(pl.Int64)
    return argument.value
