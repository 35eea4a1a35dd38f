from __future__ import annotations

import polars as pl
import pytest

from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, array_of, struct_of
from tests.kernel.fold.oracle import BY, Row, fold_of, folded, frame_of, measure, table_of

LISTS = [measure("collect_list", "n", "list"), measure("collect_set", "n", "set")]


def rows_of(*values: int | None) -> list[Row]:
    """Rows of one group; a negative value takes back."""
    return [
        Row("a", value and abs(value), weight=-1 if value and value < 0 else 1) for value in values
    ]


@pytest.mark.parametrize("retracts", [False, True])
def test_values_stand_in_the_order_of_arrival_and_nulls_are_left_out(retracts: bool) -> None:
    rows = rows_of(3, 1, None, 3, 2)
    assert folded(rows, *LISTS, retracts=retracts) == [([3, 1, 3, 2], [3, 1, 2])]
    assert folded(rows_of(None), *LISTS, retracts=retracts) == [([], [])]


@pytest.mark.parametrize(
    ("values", "left", "once"),
    [
        ((1, 2, 1, -1), [1, 2], [1, 2]),
        ((1, 2, -1, 1), [2, 1], [2, 1]),
        ((1, 2, 1, -1, -1), [2], [2]),
        ((1, 1, 1, -1, -1, 2, 1, -1), [1, 2], [1, 2]),
    ],
)
def test_what_is_taken_back_is_the_latest_equal_value(
    values: tuple[int, ...], left: list[int], once: list[int]
) -> None:
    rows = rows_of(*values)
    assert folded(rows, *LISTS, retracts=True) == [(left, once)]
    fold = fold_of(*LISTS, retracts=True)
    parts = [fold.fold(frame_of([row]), BY) for row in rows]
    assert table_of(fold, fold.merge(parts, BY)) == {("a", 0, 10): (len(left), left, once)}


def test_a_part_may_take_back_what_another_has() -> None:
    fold = fold_of(*LISTS, retracts=True)
    have = fold.fold(frame_of(rows_of(1, 2, 3)), BY)
    change = fold.fold(frame_of(rows_of(-2, 4, -1, 1)), BY)
    found = table_of(fold, fold.merge([have, change], BY))
    assert found == {("a", 0, 10): (3, [3, 4, 1], [3, 4, 1])}
    # Alone it shows what it adds beyond what it takes back.
    assert table_of(fold, change) == {("a", 0, 10): (0, [4], [4])}


def test_a_row_may_count_more_than_once() -> None:
    rows = [Row("a", 1, weight=3), Row("a", 2), Row("a", 1, weight=-2)]
    assert folded(rows, *LISTS, retracts=True) == [([1, 2], [1, 2])]


@pytest.mark.parametrize("retracts", [False, True])
def test_lists_and_structs_can_be_collected(retracts: bool) -> None:
    schema = Schema((Field("l", array_of(INT64)), Field("s", struct_of(a=INT64))))
    measures = [measure("collect_set", "l", "lists"), measure("collect_list", "s", "structs")]
    fold = fold_of(*measures, schema=schema, retracts=retracts)
    rows = frame_of([Row("a")] * 3).with_columns(
        pl.Series("l", [[1], [2, None], [1]]), pl.Series("s", [{"a": 1}, {"a": 2}, {"a": 1}])
    )
    (found,) = fold.result(fold.fold(rows, ["key"]), ["key"]).select("lists", "structs").rows()
    assert found == ([[1], [2, None]], [{"a": 1}, {"a": 2}, {"a": 1}])


@pytest.mark.parametrize("retracts", [False, True])
def test_only_so_many_values_are_kept_where_so_many_are_asked_for(retracts: bool) -> None:
    rows = rows_of(3, 1, 3, 2)
    asked = [
        measure("collect_list", "n", "first", first=2),
        measure("collect_list", "n", "last", last=3),
        measure("collect_set", "n", "set", first=2),
    ]
    assert folded(rows, *asked, retracts=retracts) == [([3, 1], [1, 3, 2], [3, 1])]
    fold = fold_of(*asked, retracts=retracts)
    parts = [fold.fold(frame_of([row]), BY) for row in rows]
    assert table_of(fold, fold.merge(parts, BY)) == {("a", 0, 10): (4, [3, 1], [1, 3, 2], [3, 1])}


def test_what_is_taken_back_makes_room_for_a_later_value() -> None:
    first = measure("collect_list", "n", "first", first=2)
    assert folded(rows_of(1, 2, 3, -1), first, retracts=True) == [[2, 3]]
