"""Rows for a fold, and what each measure is by plain Python over the rows of one group."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import polars as pl

from penstock.kernel.fold.fold import Fold, Groups
from penstock.kernel.port import Frame
from penstock.model.expr import Column, Constant
from penstock.model.measure import Function, Measure
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT64, STRING

SCHEMA = Schema((Field("key", STRING), Field("n", INT64), Field("x", FLOAT64)))
BY = ["key", "_start", "_end"]
BY_TYPES: Mapping[str, pl.DataType] = {
    "key": pl.String(),
    "_start": pl.Int64(),
    "_end": pl.Int64(),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a stream."""

    key: str | None
    n: int | None = None
    x: float | None = None
    time: int = 0
    weight: int = 1


def frame_of(rows: Sequence[Row], window: int = 10) -> Frame:
    """The rows as a kernel frame, in tumbling windows."""
    return pl.DataFrame(
        {
            "key": pl.Series([row.key for row in rows], dtype=pl.String),
            "n": pl.Series([row.n for row in rows], dtype=pl.Int64),
            "x": pl.Series([row.x for row in rows], dtype=pl.Float64),
            "_weight": pl.Series([row.weight for row in rows], dtype=pl.Int32),
            "_time": pl.Series([row.time for row in rows], dtype=pl.Int64),
            "_start": pl.Series([row.time // window * window for row in rows], dtype=pl.Int64),
            "_end": pl.Series(
                [row.time // window * window + window for row in rows], dtype=pl.Int64
            ),
        }
    )


def measure(
    function: Function, column: str | None = "x", name: str = "m", **settings: Constant
) -> Measure:
    """A measure of one column."""
    arguments = () if column is None else (Column(column),)
    return Measure(name, function, arguments, tuple(settings.items()), site="shop.py:7")


def fold_of(*measures: Measure, retracts: bool = False, schema: Schema = SCHEMA) -> Fold:
    """A fold over the columns key, n and x."""
    return Fold(measures, schema, retracts=retracts)


def folded(rows: Sequence[Row], *measures: Measure, retracts: bool = False) -> list[Any]:
    """The results of a single measure, or of several as tuples, one a group."""
    fold = fold_of(*measures, retracts=retracts)
    result = fold.result(fold.fold(frame_of(rows), BY), BY)
    names = [item.name for item in measures]
    return result[names[0]].to_list() if len(names) == 1 else result.select(names).rows()


def in_parts(fold: Fold, rows: Sequence[Row], cuts: Sequence[int]) -> Groups:
    """Fold the rows in parts that end at the cuts, and merge these one after the other."""
    groups = fold.empty(BY_TYPES)
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    for start, end in pairwise(edges):
        groups = fold.merge([groups, fold.fold(frame_of(rows[start:end]), BY)], BY)
    return groups


def table_of(fold: Fold, groups: Groups) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The results by group."""
    frame = fold.result(groups, BY)
    return {row[: len(BY)]: row[len(BY) :] for row in frame.rows()}


def standing(rows: Sequence[Row], value: Callable[[Row], Any]) -> list[Row]:
    """The rows that are left: what is taken back cancels the latest row of an equal value."""
    left: list[Row] = []
    for row in rows:
        if row.weight > 0:
            left.append(row)
            continue
        same = [i for i, other in enumerate(left) if value(other) == value(row)]
        del left[same[-1]]
    return left


def ranked(values: list[Any]) -> list[Any]:
    """In ascending order; NaN is the largest."""
    return sorted(values, key=lambda value: (math.isnan(value), value))


def quantile(values: list[Any], share: float) -> float | None:
    """By proportion between the two values around the place."""
    if not values:
        return None
    place = (len(values) - 1) * share
    low, high = ranked(values)[math.floor(place)], ranked(values)[math.ceil(place)]
    return float(low) if low == high else low + (high - low) * (place - math.floor(place))


def variance(values: list[Any]) -> float | None:
    """Of a sample, by exact fractions."""
    if len(values) < 2:
        return None
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    return float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))


def mean(values: list[Any]) -> float | None:
    """By exact fractions."""
    return float(sum(map(Fraction, values)) / len(values)) if values else None


def once(values: list[Any]) -> list[Any]:
    """Without repetition, in the order of the first of each."""
    return list(dict.fromkeys(values))
