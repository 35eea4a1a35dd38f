"""What is made of collected values when the result of an aggregate is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.kernel.sql.rows import by_row
from penstock.schema.types import Type

HELD = "V"
"""The field in which a collected value stands, so that a null is kept too."""


def _unpacked(arguments: Arguments, gives: Type) -> pl.Expr:
    value = arguments[0].value.list.eval(pl.element().struct.field(HELD))
    return value.cast(dtype_of(gives))


def _only(arguments: Arguments, _: Type) -> pl.Expr:
    """The value that all rows have, or null where they have several."""
    values = arguments[0].value
    return pl.when(values.list.len() == 1).then(values.list.first().struct.field(HELD))


def _tally(values: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def _correlation(pairs: Sequence[Mapping[str, float | None]]) -> float:
    known = [(p["X"], p["Y"]) for p in pairs if p["X"] is not None and p["Y"] is not None]
    if not known:
        return math.nan
    xs, ys = (
        [float(x) for x, _ in known if x is not None],
        [float(y) for _, y in known if y is not None],
    )
    count = len(known)
    sum_x, sum_y = math.fsum(xs), math.fsum(ys)
    products = count * math.fsum(x * y for x, y in zip(xs, ys, strict=True)) - sum_x * sum_y
    spread_x = count * math.fsum(x * x for x in xs) - sum_x**2
    spread_y = count * math.fsum(y * y for y in ys) - sum_y**2
    size = math.sqrt(spread_x) * math.sqrt(spread_y)
    return products / size if size else math.nan


def _top(values: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    known = [value for value in values if value["sort_col"] is not None]
    return sorted(known, key=lambda value: value["sort_col"], reverse=True)[:most]


def _list_sum(arguments: Arguments, gives: Type) -> pl.Expr:
    return arguments[0].value.list.sum().cast(dtype_of(gives))


RESULTS: Mapping[str, Lowering] = {
    "unpacked": _unpacked,
    "only_value": _only,
    "tally": by_row(_tally),
    "correlation_of": by_row(_correlation),
    "top_structs": by_row(_top),
    "list_sum": _list_sum,
}
