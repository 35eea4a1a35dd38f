from __future__ import annotations

import math
from datetime import date

import polars as pl
import pytest

from penstock.errors import ModelError
from penstock.model.measure import Function
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, BYTES, DATE, INT64, STRING, Type, array_of
from tests.kernel.fold.oracle import Row, fold_of, folded, frame_of, measure

NAN = math.nan
EARLY, LATE = date(1969, 1, 1), date(2024, 2, 1)


@pytest.mark.parametrize("retracts", [False, True])
def test_nan_is_larger_than_all_numbers(retracts: bool) -> None:
    rows = [Row("a", x=NAN), Row("a", x=1.0), Row("b", x=NAN), Row("c")]
    smallest = folded(rows, measure("min"), retracts=retracts)
    largest = folded(rows, measure("max"), retracts=retracts)
    best = folded(rows, measure("top_k", k=2), retracts=retracts)
    assert smallest == pytest.approx([1.0, NAN, None], nan_ok=True)
    assert largest == pytest.approx([NAN, NAN, None], nan_ok=True)
    assert [len(values) for values in best] == [2, 1, 0]
    assert math.isnan(best[0][0])
    assert best[0][1] == 1.0


@pytest.mark.parametrize("retracts", [False, True])
@pytest.mark.parametrize(
    ("type_", "values", "least", "most"),
    [
        (STRING, ["b", "ä", "B", None], "B", "ä"),
        (BYTES, [b"b", b"\xff", b"", None], b"", b"\xff"),
        (BOOLEAN, [True, False, None, True], False, True),
        (
            DATE,
            [date(2024, 2, 1), date(1969, 1, 1), None, None],
            date(1969, 1, 1),
            date(2024, 2, 1),
        ),
    ],
)
def test_all_that_has_an_order_has_extremes(
    type_: Type, values: list[object], least: object, most: object, retracts: bool
) -> None:
    measures = [
        measure("min", "v", "min"),
        measure("max", "v", "max"),
        measure("top_k", "v", "top", k=1),
        measure("top_k_distinct", "v", "once", k=1),
    ]
    fold = fold_of(*measures, schema=Schema((Field("v", type_),)), retracts=retracts)
    rows = frame_of([Row("a")] * 4).with_columns(pl.Series("v", values))
    part = fold.fold(rows, ["key"])
    found = fold.result(fold.merge([part, part], ["key"]), ["key"])
    assert found.rows() == [("a", 8, least, most, [most], [most])]


def test_the_second_largest_comes_up_when_the_largest_is_taken_back() -> None:
    rows = [Row("a", 5), Row("a", 7), Row("a", 7), Row("a", 7, weight=-1)]
    largest = [measure("max", "n", "max"), measure("top_k", "n", "top", k=2)]
    assert folded(rows, *largest, retracts=True) == [(7, [7, 5])]
    rows.append(Row("a", 7, weight=-1))
    assert folded(rows, *largest, retracts=True) == [(5, [5])]


def test_only_the_largest_values_are_kept_where_nothing_is_taken_back() -> None:
    fold = fold_of(measure("top_k", "n", k=3))
    rows = frame_of([Row("a", value % 10) for value in range(100)])
    groups = fold.fold(rows, ["key"])
    assert [table.height for table in groups.sets.values()] == [3]
    assert fold.result(groups, ["key"])["m"].to_list() == [[9, 9, 9]]


@pytest.mark.parametrize("function", ["min", "max", "top_k"])
def test_what_has_no_order_has_no_extremes(function: Function) -> None:
    with pytest.raises(ModelError, match=r"AGGREGATE_TYPE.*array<int64>"):
        fold_of(measure(function, "l", k=1), schema=Schema((Field("l", array_of(INT64)),)))
