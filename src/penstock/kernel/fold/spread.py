"""How values are spread: distinct ones, quantiles, variance, histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from penstock.kernel.fold.accumulator import (
    COUNT,
    RESULT,
    Accumulator,
    InColumns,
    InTable,
    Part,
)
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import group, join
from penstock.kernel.fold.multiset import (
    VALUE,
    Multiset,
    in_multiset,
    multiset_of,
    nothing,
    present,
)
from penstock.kernel.port import Frame

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_GROUP = "_group"
# In a longer array most groups would not be there.
_SPARSE = 8


def distinct(task: Task) -> InTable:
    """How many different values there are."""
    counted = in_multiset(task, pl.len().cast(pl.Int64))
    return InTable(counted.table, counted.summary, pl.lit(0, pl.Int64), lookup=_different)


def _different(table: Frame, groups: pl.Series) -> pl.Series | None:
    """Count the values of each group."""
    if table.is_empty() or groups.is_empty():
        return pl.Series(np.zeros(len(groups), dtype=np.int64))
    numbers, asked = table[groups.name].to_numpy(), groups.to_numpy()
    least = min(int(numbers.min()), int(asked.min()))
    most = max(int(numbers.max()), int(asked.max()))
    if most - least > _SPARSE * (len(numbers) + len(asked)):
        return None
    counts = table[COUNT].to_numpy()
    if int(counts.min()) < 1:
        numbers = numbers[counts > 0]
    return pl.Series(np.bincount(numbers - least, minlength=most - least + 1)[asked - least])


def quantile(task: Task) -> InTable:
    """The value below which a share of the others lies, between two of them by proportion."""
    share = float(str(task.settings["q"]))

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        ordered = present(table).sort(*by, VALUE)
        groups = group(ordered, by, [pl.col(COUNT).sum()])
        counts = groups[COUNT].to_numpy()
        place = (counts - 1) * share
        low, high = np.floor(place), np.ceil(place)
        # Counted through all groups, so that one search finds the places in each.
        reached = ordered[COUNT].cum_sum().to_numpy()
        start = np.cumsum(counts) - counts
        values = ordered[VALUE].cast(pl.Float64).to_numpy()
        below = values[np.searchsorted(reached, start + low, side="right")]
        above = values[np.searchsorted(reached, start + high, side="right")]
        with np.errstate(invalid="ignore"):
            between = (high - place) * below + (place - low) * above
        result = np.where((below == above) | (low == high), below, between)
        return groups.select(by).with_columns(pl.Series(RESULT, result))

    return InTable(multiset_of(task), summary, nothing(task))


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
    edges = low + width * np.arange(bins + 1)
    edges[-1] = high
    none = _bins(edges, np.zeros((1, bins), np.int64))

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        there = present(table)
        groups = group(there, by, [])
        numbered = join(there, groups.with_row_index(_GROUP), by, "left")
        counts = np.zeros((groups.height, bins), np.int64)
        counts[numbered[_GROUP].to_numpy(), numbered[VALUE].to_numpy()] = numbered[COUNT]
        return groups.with_columns(_bins(edges, counts).alias(RESULT))

    return InTable(table, summary, pl.lit(none).first())


def _bins(edges: Numbers, counts: Numbers) -> pl.Series:
    """A list of bins for each row of counts."""
    size, bins = counts.shape
    columns = {
        "low": np.tile(edges[:-1], size),
        "high": np.tile(edges[1:], size),
        "count": counts.ravel(),
    }
    listed = pl.DataFrame(columns).to_struct().reshape((size, bins))
    return listed.arr.to_list()


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
