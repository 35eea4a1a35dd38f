"""First and last value, by event time or by arrival."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.fold.accumulator import RESULT, SEQUENCE, Accumulator, InColumns, InTable, Part
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import group
from penstock.kernel.fold.listing import MOMENT, Listing, standing
from penstock.kernel.fold.multiset import VALUE, nothing
from penstock.kernel.port import START_OF_TIME, TIME, Frame


def first(task: Task) -> Accumulator:
    """The value of the earliest row that has one; of equal times that which came first."""
    return _in_listing(task, last=False) if task.retracts else _in_columns(task, last=False)


def last(task: Task) -> Accumulator:
    """The value of the latest row that has one; of equal times that which came last."""
    return _in_listing(task, last=True) if task.retracts else _in_columns(task, last=True)


def _timed(task: Task) -> bool:
    return task.settings.get("by", "time") != "arrival"


def _in_columns(task: Task, *, last: bool) -> InColumns:
    time = pl.col(TIME).fill_null(START_OF_TIME) if _timed(task) else pl.lit(0, pl.Int64)
    value, moment, number = (f"{task.prefix}{end}" for end in ("_v", "_t", SEQUENCE))
    there = task.argument.value.is_not_null()
    of_row = {
        value: task.argument.value,
        moment: pl.when(there).then(time),
        number: pl.when(there).then(pl.col(SEQUENCE)),
    }

    def end(item: pl.Expr, *order: pl.Expr) -> pl.Expr:
        return item.sort_by(*order, descending=last, nulls_last=True).first()

    parts = tuple(
        Part(
            name,
            end(item, of_row[moment], of_row[number]).alias(name),
            end(pl.col(name), pl.col(moment), pl.col(number)),
        )
        for name, item in of_row.items()
    )
    return InColumns(parts, pl.col(value), by_arrival=True)


def _in_listing(task: Task, *, last: bool) -> InTable:
    timed = _timed(task)
    name = f"{'timed ' if timed else ''}list({task.subject})"
    table = Listing(name, task.argument.column, task.retracts, timed)
    end = pl.col(VALUE).last() if last else pl.col(VALUE).first()

    def summary(table: Frame, by: Sequence[str]) -> Frame:
        there = standing(table, by)
        if timed:
            there = there.sort(MOMENT, maintain_order=True)
        return group(there, by, [end.alias(RESULT)], in_order=True)

    return InTable(table, summary, nothing(task), packable=False)
