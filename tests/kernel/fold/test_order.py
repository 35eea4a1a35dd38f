from __future__ import annotations

import polars as pl
import pytest

from tests.kernel.fold.oracle import BY, Row, fold_of, folded, frame_of, measure, table_of

ENDS = [
    measure("first", "n", "first"),
    measure("last", "n", "last"),
    measure("first", "n", "came first", by="arrival"),
    measure("last", "n", "came last", by="arrival"),
]
ROWS = [Row("a", None, time=0), Row("a", 1, time=5), Row("a", 2, time=2), Row("a", 3, time=2)]


@pytest.mark.parametrize("retracts", [False, True])
def test_event_time_decides_and_arrival_between_equals(retracts: bool) -> None:
    rows = [*ROWS, Row("a", 4, time=5), Row("a", 5, time=3), Row("a", None, time=9)]
    assert folded(rows, *ENDS, retracts=retracts) == [(2, 4, 1, 5)]
    assert folded([Row("a")], *ENDS, retracts=retracts) == [(None, None, None, None)]


@pytest.mark.parametrize("retracts", [False, True])
def test_a_row_without_time_is_the_earliest(retracts: bool) -> None:
    fold = fold_of(*ENDS[:2], retracts=retracts)
    rows = frame_of(ROWS[1:]).with_columns(_time=pl.Series([5, None, 7], dtype=pl.Int64))
    assert fold.result(fold.fold(rows, ["key"]), ["key"]).rows() == [("a", 3, 2, 3)]


@pytest.mark.parametrize("retracts", [False, True])
def test_parts_keep_the_order_they_came_in(retracts: bool) -> None:
    fold = fold_of(*ENDS, retracts=retracts)
    parts = [fold.fold(frame_of([row]), BY) for row in ROWS]
    assert table_of(fold, fold.merge(parts, BY)) == {("a", 0, 10): (4, 2, 1, 1, 3)}
    assert table_of(fold, fold.merge(parts[::-1], BY)) == {("a", 0, 10): (4, 3, 1, 3, 1)}


def test_what_is_taken_back_gives_way_to_the_next() -> None:
    back = [Row("a", 2, time=2, weight=-1), Row("a", 1, time=5, weight=-1)]
    assert folded([*ROWS, *back], *ENDS, retracts=True) == [(3, 3, 3, 3)]


def test_of_equal_values_that_of_the_same_time_is_taken_back() -> None:
    rows = [Row("a", 1, time=1), Row("a", 2, time=5), Row("a", 1, time=9)]
    late = Row("a", 1, time=9, weight=-1)
    early = Row("a", 1, time=1, weight=-1)
    assert folded([*rows, late], *ENDS[:2], retracts=True) == [(1, 2)]
    assert folded([*rows, early], *ENDS[:2], retracts=True) == [(2, 1)]


def test_a_value_taken_back_at_another_time_is_taken_back_all_the_same() -> None:
    rows = [Row("a", 1, time=1), Row("a", 2, time=5), Row("a", 2, time=7, weight=-1)]
    assert folded(rows, *ENDS[:2], retracts=True) == [(1, 1)]
