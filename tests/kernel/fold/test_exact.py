from __future__ import annotations

import math
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.fold.oracle import Row, fold_of, folded, frame_of, measure

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e300, 1e300)
INFINITE = math.inf


def total(*values: tuple[float, int]) -> float:
    rows = [Row("a", x=value, weight=weight) for value, weight in values]
    (found,) = folded(rows, measure("sum"), retracts=True)
    assert isinstance(found, float)
    return found


def test_a_small_number_survives_a_large_one_that_is_taken_back() -> None:
    assert total((1e17, 1), (1.0, 1), (1e17, -1)) == 1.0
    assert total((1e300, 1), (5e-324, 1), (1e300, -1)) == 5e-324
    assert total((0.1, 1), (0.2, 1), (0.1, -1), (0.2, -1)) == 0.0


@pytest.mark.parametrize(
    ("strange", "other", "both"),
    [
        (math.nan, INFINITE, math.nan),
        (INFINITE, 1.0, INFINITE),
        (-INFINITE, 1.0, -INFINITE),
        (INFINITE, -INFINITE, math.nan),
    ],
)
def test_what_is_no_number_can_be_taken_back(strange: float, other: float, both: float) -> None:
    assert total((strange, 1), (other, 1)) == pytest.approx(both, nan_ok=True)
    assert total((strange, 1), (other, 1), (strange, -1)) == other


def test_numbers_that_cancel_are_there_all_the_same() -> None:
    rows = [
        Row("a", x=1.5),
        Row("a", x=-1.5),
        Row("b"),
        Row("c", x=1.0),
        Row("c", x=1.0, weight=-1),
    ]
    assert folded(rows, measure("sum"), retracts=True) == [0.0, None, 0.0]
    assert folded(rows, measure("avg"), retracts=True) == [0.0, None, None]


def test_a_sum_too_large_is_infinite() -> None:
    assert total((1.7e308, 1), (1.7e308, 1)) == INFINITE
    assert total((1.7e308, 1), (1.7e308, 1), (1.7e308, -1)) == 1.7e308


@given(st.lists(moderate, max_size=20))
def test_the_sum_is_rounded_once(values: list[float]) -> None:
    if not values:
        return
    right = sum(map(Fraction, values))
    found = total(*((value, 1) for value in values))
    assert abs(Fraction(found) - right) <= Fraction(math.ulp(found))


@given(st.lists(finite, min_size=1, max_size=10), st.lists(moderate, max_size=5))
def test_numbers_taken_back_leave_no_trace(gone: list[float], kept: list[float]) -> None:
    both = [(value, 1) for value in [*gone, *kept]] + [(value, -1) for value in gone]
    assert total(*both, (0.0, 1)) == total(*((value, 1) for value in kept), (0.0, 1))


@given(finite)
def test_one_number_is_its_own_sum(value: float) -> None:
    assert total((value, 1)) == value


def test_many_groups_at_once() -> None:
    fold = fold_of(measure("sum"), retracts=True)
    rows = frame_of([Row(str(index % 7), x=index / 8) for index in range(300)])
    groups = fold.merge([fold.fold(rows, ["key"])] * 3, ["key"])
    found = dict(fold.result(groups, ["key"]).select("key", "m").rows())
    assert found == {
        str(key): 3 * sum(index / 8 for index in range(key, 300, 7)) for key in range(7)
    }
    assert fold.result(groups, ["key"])["m"].dtype == pl.Float64
