from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.port import Frame
from penstock.spark.state_patch import patched, state_patch


def table(rows: int = 100, first: int = 0) -> Frame:
    numbers = range(first, first + rows)
    return pl.DataFrame(
        {
            "_pane": pl.Series(numbers, dtype=pl.Int64),
            "n": pl.Series([n * 2 for n in numbers], dtype=pl.Int64),
            "list": pl.Series(
                [[n, None] if n % 3 else [] for n in numbers], dtype=pl.List(pl.Int64)
            ),
            "pair": pl.Series([{"x": n / 3} for n in numbers], dtype=pl.Struct({"x": pl.Float64})),
            "raw": pl.Series([str(n).encode() for n in numbers], dtype=pl.Binary),
            "text": [None if n % 7 == 0 else f"t{n}" for n in numbers],
        }
    )


def changed(frame: Frame) -> Frame:
    """Other values in every column but the first."""
    other = table(frame.height, first=1000)
    return pl.concat([frame.select("_pane"), other.drop("_pane")], how="horizontal")


def kinds(patch: dict[str, Frame]) -> list[str]:
    return sorted(patch)


def holds(before: dict[str, Frame], after: dict[str, Frame]) -> dict[str, Frame]:
    patch = state_patch(before, after)
    found = patched(before, patch)
    assert found.keys() == after.keys()
    for name, frame in after.items():
        assert found[name].equals(frame, null_equal=True), name
        assert found[name].schema == frame.schema
    return patch


def test_what_is_the_same_is_not_written() -> None:
    before = table()
    assert holds({"a": before}, {"a": before}) == {}
    assert holds({"a": before}, {"a": table()}) == {}


def test_rows_changed_in_place_and_rows_at_the_end_are_written_alone() -> None:
    after = pl.concat(
        [
            pl.concat([table(7), changed(table(1, first=7)), table(92, first=8)]),
            table(3, first=100),
        ]
    )
    patch = holds({"a": table()}, {"a": after})
    assert kinds(patch) == ["at:a", "change:a"]
    assert patch["change:a"].height == 4


def test_rows_taken_out_and_put_at_the_end_are_written_alone() -> None:
    moved = table().filter(pl.col("_pane").is_in([3, 50, 99]))
    after = pl.concat([table().filter(~pl.col("_pane").is_in([3, 50, 99])), moved])
    patch = holds({"a": table()}, {"a": after})
    assert kinds(patch) == ["at:a", "cut:a"]
    assert patch["cut:a"].height == 3


def test_many_changes_another_schema_and_a_new_table_are_written_whole() -> None:
    assert kinds(holds({"a": table()}, {"a": table().with_columns(pl.col("n") + 1)})) == ["full:a"]
    assert kinds(holds({"a": table()}, {"a": table().drop("text")})) == ["full:a"]
    assert kinds(holds({}, {"a": table()})) == ["full:a"]
    assert kinds(holds({"a": table(), "b": table()}, {"a": table()})) == ["gone:b"]


@pytest.mark.parametrize("rows", [0, 1, 5, 5000])
def test_tables_of_any_length_come_back(rows: int) -> None:
    holds({"a": table(rows)}, {"a": table(rows).with_columns(pl.col("n") + 1)})
    holds({"a": table(rows)}, {"a": table(0)})
    holds({"a": table(0)}, {"a": table(rows)})
    holds({"a": table(rows)}, {"a": table(rows).reverse()})


@given(
    st.lists(st.integers(0, 40), max_size=60),
    st.lists(st.integers(0, 40), max_size=60),
    st.integers(0, 30),
)
def test_any_two_tables_lead_to_one_another(one: list[int], other: list[int], same: int) -> None:
    front = list(range(same)) * 5
    before = pl.DataFrame({"k": pl.Series([*front, *one], dtype=pl.Int64)})
    after = pl.DataFrame({"k": pl.Series([*front, *other], dtype=pl.Int64)})
    holds(
        {"a": before.with_columns(v=pl.col("k") % 3)}, {"a": after.with_columns(v=pl.col("k") % 3)}
    )


def test_of_a_table_that_grows_only_the_end_is_written() -> None:
    patch = holds({"a": table(100)}, {"a": table(300)})
    assert kinds(patch) == ["at:a", "change:a"]
    assert patch["change:a"].height == 200
    assert kinds(holds({"a": table(100)}, {"a": table(500)})) == ["full:a"]


def test_rows_that_a_step_says_have_left_are_not_looked_for() -> None:
    after = pl.concat([table().filter(~pl.col("_pane").is_in([3, 50])), table(90, first=100)])
    patch = state_patch({"a": table()}, {"a": after}, {"a": np.array([3, 50])})
    assert kinds(patch) == ["at:a", "cut:a"]
    assert patch["cut:a"].height == 90
    assert patched({"a": table()}, patch)["a"].equals(after)
    assert kinds(state_patch({"a": table()}, {"a": table(5)}, {"a": np.arange(100)})) == ["full:a"]
