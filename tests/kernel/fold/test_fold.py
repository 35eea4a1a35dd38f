from __future__ import annotations

import polars as pl
import pytest

from penstock.errors import SchemaError
from penstock.kernel.fold.fold import Groups
from penstock.model.expr import Call, Column, Literal
from penstock.model.measure import Measure
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64
from tests.kernel.fold.oracle import BY, BY_TYPES, Row, fold_of, frame_of, measure, table_of

COUNT = measure("count", None, "count")
TOTAL = measure("sum", "n", "total")
LISTED = measure("collect_list", "n", "listed")
ROWS = [Row("a", 1), Row("b", 2), Row("a", 3), Row(None, 4), Row("a", 5, time=12)]


def test_each_group_gives_one_row_in_the_order_of_its_first() -> None:
    fold = fold_of(COUNT, TOTAL, LISTED)
    result = fold.result(fold.fold(frame_of(ROWS), BY), BY)
    assert result.columns == [*BY, "_rows", "count", "total", "listed"]
    assert result.rows() == [
        ("a", 0, 10, 2, 2, 4, [1, 3]),
        ("b", 0, 10, 1, 1, 2, [2]),
        (None, 0, 10, 1, 1, 4, [4]),
        ("a", 10, 20, 1, 1, 5, [5]),
    ]


def test_without_group_columns_all_rows_are_one_group() -> None:
    fold = fold_of(COUNT, TOTAL, LISTED)
    parts = [fold.fold(frame_of(part), []) for part in (ROWS[:2], ROWS[2:])]
    groups = fold.merge(parts, [])
    assert fold.result(groups, []).rows() == [(5, 5, 15, [1, 2, 3, 4, 5])]
    chosen = frame_of(ROWS[:1])
    assert fold.result(fold.select(groups, chosen, [], keep=True), []).height == 1
    assert fold.result(fold.select(groups, chosen, [], keep=False), []).height == 0
    assert fold.result(fold.empty({}), []).height == 0


def test_no_groups_have_all_columns() -> None:
    fold = fold_of(COUNT, TOTAL, LISTED, retracts=True)
    empty, some = fold.empty(BY_TYPES), fold.fold(frame_of(ROWS), BY)
    assert empty.columns.schema == some.columns.schema
    assert {k: v.schema for k, v in empty.sets.items()} == {
        k: v.schema for k, v in some.sets.items()
    }
    assert fold.result(empty, BY).schema == fold.result(some, BY).schema


def test_a_group_taken_back_whole_gives_what_no_rows_give() -> None:
    fold = fold_of(
        COUNT, TOTAL, LISTED, measure("sum", "x", "s"), measure("max", "n", "m"), retracts=True
    )
    back = [Row("a", 1, 0.1), Row("a", 1, 0.1, weight=-1)]
    assert table_of(fold, fold.fold(frame_of(back), BY)) == {("a", 0, 10): (0, 0, 0, [], 0.0, None)}


def test_what_is_left_of_values_taken_back_before_they_came_is_their_difference() -> None:
    fold = fold_of(TOTAL, measure("sum", "x", "s"), measure("max", "n", "m"), retracts=True)
    swap = [Row("a", 5, 5.0, weight=-1), Row("a", 7, 7.0)]
    assert table_of(fold, fold.fold(frame_of(swap), BY)) == {("a", 0, 10): (0, 2, 2.0, 7)}


def test_groups_are_renamed_and_become_one() -> None:
    fold = fold_of(TOTAL, LISTED)
    groups = fold.fold(frame_of(ROWS), BY)
    mapping = pl.DataFrame(
        {"key": ["a", "a"], "_start": [0, 10], "_end": [10, 20], "_new__start": [0, 0]}
    ).with_columns(_new__end=pl.lit(20, pl.Int64))
    assert table_of(fold, fold.regroup(groups, mapping, BY)) == {
        ("a", 0, 20): (3, 9, [1, 3, 5]),
        ("b", 0, 10): (1, 2, [2]),
        (None, 0, 10): (1, 4, [4]),
    }
    assert fold.regroup(groups, mapping.clear(), BY) is groups


def test_groups_are_chosen_or_left_out() -> None:
    fold = fold_of(TOTAL, LISTED)
    groups = fold.fold(frame_of(ROWS), BY)
    chosen = frame_of([Row(None), Row("b")])
    kept = fold.select(groups, chosen, BY, keep=True)
    rest = fold.select(groups, chosen, BY, keep=False)
    assert [key for key, *_ in table_of(fold, kept)] == ["b", None]
    assert [key for key, *_ in table_of(fold, rest)] == ["a", "a"]
    assert sum(table.height for table in kept.sets.values()) == 2
    assert table_of(fold, fold.union([kept, rest])) == table_of(fold, groups)


def test_rows_that_came_later_stay_later_when_their_group_becomes_part_of_another() -> None:
    fold = fold_of(LISTED, measure("first", "n", "first", by="arrival"))
    long = fold.fold(frame_of([Row("a", 1), Row("a", 2), Row("a", 3)]), BY)
    new = fold.fold(frame_of([Row("a", 9, time=12)]), BY)
    state = fold.union([long, fold.after(new, long)])
    mapping = state.columns.select(
        *BY, pl.lit(0, pl.Int64).alias("_new__start"), pl.lit(20, pl.Int64).alias("_new__end")
    )
    found = table_of(fold, fold.regroup(state, mapping, BY))
    assert found == {("a", 0, 20): (4, [1, 2, 3, 9], 1)}
    other_way = fold.union([fold.after(long, new), new])
    found = table_of(fold, fold.regroup(other_way, mapping, BY))
    assert found == {("a", 0, 20): (4, [9, 1, 2, 3], 9)}


def test_order_of_arrival_counts_only_where_a_measure_is_by_arrival() -> None:
    fold = fold_of(TOTAL)
    groups = fold.fold(frame_of(ROWS), BY)
    assert fold.after(groups, groups) is groups
    assert fold.packable
    for function in ("first", "last", "collect_list", "collect_set"):
        assert not fold_of(TOTAL, measure(function)).packable


def test_accumulators_are_stored_under_one_name() -> None:
    fold = fold_of(TOTAL, LISTED)
    tables = fold.tables(fold.fold(frame_of(ROWS), BY))
    assert list(tables) == ["fold", "fold.list(n)"]
    assert isinstance(fold.groups(tables), Groups)


def test_measures_of_the_same_values_share_their_table() -> None:
    measures = [
        measure("min", "n", "a"),
        measure("max", "n", "b"),
        measure("quantile", "n", "c", q=0.5),
        measure("count_distinct", "n", "d"),
        measure("top_k", "n", "e", k=1),
        measure("max", "x", "f"),
    ]
    groups = fold_of(*measures, retracts=True).fold(frame_of(ROWS), BY)
    assert list(groups.sets) == ["values(n)", "values(x)"]


def test_arguments_are_computed_in_each_row() -> None:
    twice = Call("multiply", (Column("n"), Literal(2)))
    fold = fold_of(
        Measure("ones", "sum", (Literal(1),)),
        Measure("twice", "sum", (twice,)),
        Measure("most", "max", (twice,)),
    )
    groups = fold.fold(frame_of(ROWS), ["_start"])
    assert fold.result(groups, ["_start"]).rows() == [(0, 4, 4, 20, 8), (10, 1, 1, 10, 10)]


def test_a_misspelt_column_is_named_with_its_place() -> None:
    with pytest.raises(SchemaError, match=r"COLUMN_MISSING.*shop\.py:7"):
        fold_of(measure("sum", "m"))


def test_keys_may_be_named_like_numbers_of_arrival() -> None:
    schema = Schema((Field("order_seq", INT64), Field("n", INT64)))
    fold = fold_of(measure("collect_list", "n"), schema=schema)
    rows = frame_of([Row("a", 1), Row("a", 2)]).with_columns(order_seq=pl.lit(7, pl.Int64))
    part = fold.fold(rows, ["order_seq"])
    merged = fold.merge([part, part], ["order_seq"])
    assert fold.result(merged, ["order_seq"]).rows() == [(7, 4, [1, 2, 1, 2])]
