"""How values are spread: distinct ones, quantiles, variance, histogram."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.fold.accumulator import (
    COUNT,
    RESULT,
    Accumulator,
    InColumns,
    InTable,
    Part,
    Summary,
)
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import group, join
from penstock.kernel.fold.multiset import VALUE, Multiset, in_multiset, present
from penstock.kernel.port import Frame


def distinct(task: Task) -> InTable:
    """How many different values there are."""
    counted = in_multiset(task, pl.len().cast(pl.Int64))
    return InTable(counted.table, counted.summary, pl.lit(0, pl.Int64))


def quantile(task: Task) -> InTable:
    """The value below which a share of the others lies, between two of them by proportion."""
    share = float(str(task.settings["q"]))
    position = (pl.col(COUNT).sum() - 1) * share
    reached = pl.col(COUNT).cum_sum()
    value = pl.col(VALUE).cast(pl.Float64)
    low = value.filter(reached > position.floor()).first()
    high = value.filter(reached > position.ceil()).first()
    between = (position.ceil() - position) * low + (position - position.floor()) * high
    result = pl.when(low == high).then(low).otherwise(between)

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        ordered = present(table).sort(VALUE)
        return group(ordered, by, [result.alias(RESULT)], in_order=True)

    counted = in_multiset(task, result)
    return InTable(counted.table, summary, counted.identity)


def variance(task: Task) -> Accumulator:
    """The variance of a sample; of one value or none null."""
    return _variance(task, root=False)


def deviation(task: Task) -> Accumulator:
    """The standard deviation of a sample; of one value or none null."""
    return _variance(task, root=True)


def histogram(task: Task) -> InTable:
    """How many values lie in each of equal bins; those outside count in the nearest one."""
    settings = task.settings
    bins = int(str(settings["bins"]))
    low, high = float(str(settings["low"])), float(str(settings["high"]))
    width = (high - low) / bins
    # NaN is larger than all other values, and so belongs to the last bin.
    number = task.argument.value.cast(pl.Float64).fill_nan(high)
    place = ((number.clip(low, high) - low) / width).floor().cast(pl.Int32).clip(0, bins - 1)
    table = Multiset(f"{bins} bins {low}..{high}({task.subject})", (place,), task.retracts)
    edges = pl.DataFrame(
        {
            VALUE: pl.Series(range(bins), dtype=pl.Int32),
            "low": [low + width * index for index in range(bins)],
            "high": [*(low + width * index for index in range(1, bins)), high],
        }
    )
    empty = edges.select(pl.struct("low", "high", pl.lit(0, pl.Int64).alias("count")).implode())
    return InTable(table, _bins(edges), pl.lit(empty.to_series()).first())


def _bins(edges: Frame) -> Summary:
    bin_of = pl.struct("low", "high", pl.col(COUNT).fill_null(0).alias("count"))

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        there = present(table)
        grid = group(there, by, []).join(edges, how="cross", maintain_order="left_right")
        filled = join(grid, there, [*by, VALUE], "left")
        return group(filled, by, [bin_of.alias(RESULT)], in_order=True)

    return summary


def _variance(task: Task, *, root: bool) -> Accumulator:
    if task.retracts:
        value, count = pl.col(VALUE).cast(pl.Float64), pl.col(COUNT)
        mean = (value * count).sum() / count.sum()
        squares = ((value - mean) ** 2 * count).sum()
        return in_multiset(task, _of_sample(squares, count.sum(), root=root))
    return _in_moments(task, root=root)


def _in_moments(task: Task, *, root: bool) -> InColumns:
    """Number, mean and squares of differences from it, which parts add up to without loss."""
    count, mean, squares = (f"{task.prefix}_{name}" for name in ("n", "mean", "squares"))
    value = task.argument.value.cast(pl.Float64)
    there = value.count().cast(pl.Int64)
    kept, of_part = pl.col(count), pl.col(mean).fill_null(0.0)
    whole = pl.when(kept.sum() > 0).then((of_part * kept).sum() / kept.sum())
    parts = (
        Part(count, there.alias(count), kept.sum()),
        Part(mean, value.mean().alias(mean), whole.alias(mean)),
        Part(
            squares,
            (value.var(ddof=0) * there).fill_null(0.0).alias(squares),
            (pl.col(squares) + kept * (of_part - whole) ** 2).sum(),
        ),
    )
    return InColumns(parts, _of_sample(pl.col(squares), kept, root=root))


def _of_sample(squares: pl.Expr, count: pl.Expr, *, root: bool) -> pl.Expr:
    result = squares / (count - 1)
    return pl.when(count > 1).then(result.sqrt() if root else result)
