from __future__ import annotations

import polars as pl
import pytest

from penstock.kernel.fold.fold import Fold
from penstock.kernel.port import Frame
from tests.kernel.fold.oracle import Row, fold_of, folded, frame_of, measure

NEARLY = measure("approx_count_distinct", "n")


def frame_with(values: range) -> Frame:
    return frame_of([Row("a")]).drop("n").join(pl.DataFrame({"n": values}), how="cross")


def estimate(fold: Fold, *parts: range) -> int:
    groups = fold.merge([fold.fold(frame_with(part), ["key"]) for part in parts], ["key"])
    (found,) = fold.result(groups, ["key"])["m"].to_list()
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("size", [1, 10, 100, 1_000, 5_000, 10_000, 20_000, 100_000])
def test_the_estimate_is_near(size: int) -> None:
    # Five standard deviations, though never less than one value.
    assert estimate(fold_of(NEARLY), range(size)) == pytest.approx(size, rel=0.08, abs=1)


def test_values_seen_again_change_nothing() -> None:
    fold = fold_of(NEARLY)
    whole = estimate(fold, range(3_000))
    assert estimate(fold, range(2_000), range(1_000, 3_000), range(3_000)) == whole


def test_the_registers_of_a_group_are_bounded() -> None:
    fold = fold_of(NEARLY)
    (table,) = fold.fold(frame_with(range(100_000)), ["key"]).sets.values()
    assert table.height == 4096 / 8


def test_nulls_are_left_out() -> None:
    assert folded([Row("a", 1), Row("a"), Row("b")], NEARLY) == [1, 0]


def test_where_rows_are_taken_back_the_count_is_exact() -> None:
    rows = [Row("a", 1), Row("a", 2), Row("a", 2, weight=-1)]
    assert folded(rows, NEARLY, retracts=True) == [1]


def test_a_few_numbered_groups_have_the_registers_that_many_have() -> None:
    fold = fold_of(NEARLY)
    rows = frame_with(range(20_000)).with_columns(pl.Series("_slice", [0, 2] * 10_000))
    few, many = (fold.fold(part, ["_slice"]) for part in (rows, rows.with_columns(_slice=7)))
    both = fold.fold(rows.with_columns(pl.col("_slice") * 10**6), ["_slice"])
    (short,), (long,) = few.sets.values(), both.sets.values()
    renamed = long.with_columns(pl.col("_slice") // 10**6).select(short.columns)
    assert short.schema == renamed.schema
    assert short.equals(renamed.sort("_slice", "_block"))
    assert few.columns["_rows"].to_list() == [10_000, 10_000]
    assert many.columns.to_dict(as_series=False) == {"_slice": [7], "_rows": [20_000]}
