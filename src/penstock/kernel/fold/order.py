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
    of_rows = {
        value: task.argument.value,
        moment: pl.when(task.argument.value.is_not_null()).then(time),
        number: pl.col(SEQUENCE),
    }
    row = _of_row(of_rows[moment], last=last)
    part = _of_part(pl.col(moment), pl.col(number), last=last)
    parts = tuple(
        Part(
            name,
            (item.reverse() if last else item).get(row, null_on_oob=True).alias(name),
            pl.col(name).get(part, null_on_oob=True),
        )
        for name, item in of_rows.items()
    )
    return InColumns(parts, pl.col(value), by_arrival=True)


def _of_row(moment: pl.Expr, *, last: bool) -> pl.Expr:
    """Where the row stands; rows are in order of arrival, and the first of equals is found."""
    return moment.reverse().arg_max() if last else moment.arg_min()


def _of_part(moment: pl.Expr, number: pl.Expr, *, last: bool) -> pl.Expr:
    """Where the part stands; parts may be in any order, so their numbers decide."""
    if last:
        return pl.when(moment == moment.max()).then(number).arg_max()
    return pl.when(moment == moment.min()).then(number).arg_min()


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
