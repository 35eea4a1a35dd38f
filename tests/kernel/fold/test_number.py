from __future__ import annotations

import math
from decimal import Decimal

import polars as pl
import pytest

from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, INT32, Type, decimal_of
from tests.kernel.fold.oracle import Row, fold_of, folded, frame_of, measure

NAN = math.nan


@pytest.mark.parametrize("retracts", [False, True])
def test_nulls_are_left_out(retracts: bool) -> None:
    rows = [Row("a", 1, 2.0), Row("a"), Row("a", 3, 4.0), Row("b"), Row("b")]
    measures = [
        measure("count", None, "rows"),
        measure("count", "n", "there"),
        measure("sum", "n", "n"),
        measure("sum", "x", "x"),
        measure("avg", "n", "mean"),
        measure("avg", "x", "other"),
    ]
    assert folded(rows, *measures, retracts=retracts) == [
        (3, 2, 4, 6.0, 2.0, 3.0),
        (2, 0, None, None, None, None),
    ]


@pytest.mark.parametrize("retracts", [False, True])
def test_nan_is_a_number_like_others_in_a_sum(retracts: bool) -> None:
    (found,) = folded([Row("a", x=NAN), Row("a", x=1.0)], measure("sum"), retracts=retracts)
    assert math.isnan(found)


def test_the_average_of_large_numbers_does_not_overflow() -> None:
    large = 2**62 + 2**20
    rows = [Row("a", large), Row("a", large), Row("a", large), Row("b", -large), Row("b", -large)]
    assert folded(rows, measure("avg", "n")) == [float(large), float(-large)]


def test_a_column_without_nulls_needs_no_count_of_its_own() -> None:
    schema = Schema((Field("n", INT32, nullable=False),))
    fold = fold_of(measure("count", "n", "c"), measure("avg", "n"), schema=schema)
    rows = frame_of([Row("a", 1), Row("a", 4)]).with_columns(pl.col("n").cast(pl.Int32))
    groups = fold.fold(rows, ["key"])
    assert groups.columns.columns == ["key", "_rows", "_a1_s"]
    assert fold.result(groups, ["key"]).rows() == [("a", 2, 2, 2.5)]


@pytest.mark.parametrize("retracts", [False, True])
@pytest.mark.parametrize(
    ("type_", "values", "total", "mean"),
    [
        (decimal_of(4, 2), ["99.99", "99.99", "0.02"], Decimal("200.00"), 200 / 3),
        (BOOLEAN, [True, True, False], 2, 2 / 3),
        (INT32, [2**31 - 1, 2**31 - 1, 2], 2**32, 2**32 / 3),
    ],
)
def test_sums_have_room(
    type_: Type, values: list[object], total: object, mean: float, retracts: bool
) -> None:
    schema = Schema((Field("v", type_),))
    fold = fold_of(
        measure("sum", "v", "sum"), measure("avg", "v", "avg"), schema=schema, retracts=retracts
    )
    rows = frame_of([Row("a")] * 3)
    kind = fold.empty({}).columns.schema
    column = pl.Series("v", values)
    column = column.str.to_decimal(scale=2) if isinstance(values[0], str) else column
    column = column.cast(pl.Int32) if type_ is INT32 else column
    groups = fold.merge([fold.fold(rows.with_columns(column), [])], [])
    (row,) = fold.result(groups, []).rows()
    assert row[:2] == (3, total)
    assert row[2] == pytest.approx(mean)
    assert groups.columns.schema == kind
