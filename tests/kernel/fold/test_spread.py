from __future__ import annotations

import math

import pytest

from penstock.model.expr import Column
from penstock.model.measure import Measure
from tests.kernel.fold.oracle import BY, Row, fold_of, folded, frame_of, measure, table_of

NAN = math.nan


def rows_of(*values: float | None) -> list[Row]:
    return [Row("a", x=value) for value in values]


@pytest.mark.parametrize("retracts", [False, True])
@pytest.mark.parametrize(
    ("share", "result"), [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (0.9, 7.9), (1.0, 10.0)]
)
def test_a_quantile_lies_between_two_values(share: float, result: float, retracts: bool) -> None:
    rows = rows_of(10.0, 2.0, None, 3.0, 1.0)
    (found,) = folded(rows, measure("quantile", q=share), retracts=retracts)
    assert found == pytest.approx(result)


def test_quantiles_of_many_groups_are_found_at_once() -> None:
    rows = [Row(str(key), n=value) for value in range(9) for key in range(value + 1)]
    found = folded(rows, measure("quantile", "n", q=0.5))
    assert found == [(8 + key) / 2 for key in range(9)]


def test_a_quantile_may_be_no_number() -> None:
    rows = rows_of(1.0, NAN, math.inf)
    assert folded(rows, measure("quantile", q=0.5)) == [math.inf]
    (highest,) = folded(rows, measure("quantile", q=1.0))
    assert math.isnan(highest)
    assert folded(rows_of(None), measure("quantile", q=0.5)) == [None]


@pytest.mark.parametrize("retracts", [False, True])
def test_variance_is_that_of_a_sample(retracts: bool) -> None:
    both = [measure("variance", "x", "v"), measure("stddev", "x", "s")]
    assert folded(rows_of(1.0, 3.0, None), *both, retracts=retracts) == [(2.0, math.sqrt(2.0))]
    assert folded(rows_of(1.0), *both, retracts=retracts) == [(None, None)]
    assert folded(rows_of(None), *both, retracts=retracts) == [(None, None)]


@pytest.mark.parametrize("retracts", [False, True])
def test_variance_far_from_zero_is_not_lost(retracts: bool) -> None:
    far = 1e9
    fold = fold_of(measure("variance"), retracts=retracts)
    parts = [rows_of(far + 4), rows_of(far + 7, far + 13), rows_of(None), rows_of(far + 16)]
    groups = fold.merge([fold.fold(frame_of(part), BY) for part in parts], BY)
    assert table_of(fold, groups) == {("a", 0, 10): (5, 30.0)}


@pytest.mark.parametrize("retracts", [False, True])
def test_a_histogram_counts_what_lies_outside_in_its_edges(retracts: bool) -> None:
    rows = rows_of(-5.0, 0.0, 4.9, 5.0, 9.9, 10.0, 99.0, NAN, -math.inf, None)
    asked = measure("histogram", bins=2, low=0.0, high=10.0)
    assert folded(rows, asked, retracts=retracts) == [
        [{"low": 0.0, "high": 5.0, "count": 4}, {"low": 5.0, "high": 10.0, "count": 5}]
    ]
    assert folded([Row("a")], asked, retracts=retracts) == [
        [{"low": 0.0, "high": 5.0, "count": 0}, {"low": 5.0, "high": 10.0, "count": 0}]
    ]


def test_whole_numbers_have_a_spread() -> None:
    rows = [Row("a", n=value) for value in (1, 2, 4)]
    assert folded(rows, measure("histogram", "n", bins=1, low=0.0, high=3.0)) == [
        [{"low": 0.0, "high": 3.0, "count": 3}]
    ]
    assert folded(rows, measure("variance", "n")) == [pytest.approx(7 / 3)]


@pytest.mark.parametrize("retracts", [False, True])
def test_different_values_count_once(retracts: bool) -> None:
    rows = rows_of(0.0, -0.0, 1.0, NAN, NAN, None)
    assert folded(rows, measure("count_distinct"), retracts=retracts) == [3]
    assert folded([Row("a")], measure("count_distinct"), retracts=retracts) == [0]


def test_values_of_several_columns_are_different_as_a_whole() -> None:
    rows = [Row("a", 1, 1.0), Row("a", 1, 2.0), Row("a", 1, 1.0), Row("a", 1)]
    pair = Measure("m", "count_distinct", (Column("n"), Column("x")))
    assert folded(rows, pair) == [2]
