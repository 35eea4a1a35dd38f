from __future__ import annotations

import polars as pl
import pytest

from penstock.errors import StateError
from penstock.kernel.changelog import fold_changelog, latest_by


def changes(*rows: tuple[str, float | None, int]) -> pl.DataFrame:
    schema = {"key": pl.String, "value": pl.Float64, "_weight": pl.Int32}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def test_what_was_taken_back_is_gone_and_what_was_added_twice_is_there_twice() -> None:
    folded = fold_changelog(
        changes(("a", 1, 1), ("b", 2, 1), ("a", 1, -1), ("b", 2, 1), ("a", 3, 1)), ["key", "value"]
    )
    assert folded.rows() == [("b", 2.0), ("b", 2.0), ("a", 3.0)]


def test_nulls_and_nan_are_rows_like_others() -> None:
    nan = float("nan")
    folded = fold_changelog(
        changes(("a", None, 1), ("a", nan, 1), ("a", nan, -1), ("b", None, 1), ("b", None, -1)),
        ["key", "value"],
    )
    assert folded.rows() == [("a", None)]


def test_an_empty_changelog_is_an_empty_table() -> None:
    folded = fold_changelog(changes(), ["key", "value"])
    assert folded.rows() == []
    assert folded.columns == ["key", "value"]


def test_a_row_taken_back_too_often_is_refused() -> None:
    with pytest.raises(StateError, match="CHANGELOG_NEGATIVE"):
        fold_changelog(changes(("a", 1, -1)), ["key", "value"])


def test_lists_are_compared_by_what_they_hold() -> None:
    frame = pl.DataFrame({"l": [[1, 2], [1, 2], [2, 1]], "_weight": [1, -1, 1]})
    assert fold_changelog(frame, ["l"]).rows() == [([2, 1],)]


def test_the_latest_row_of_a_key_is_the_one_that_came_last() -> None:
    latest = latest_by(changes(("a", 1, 1), ("b", 2, 1), ("a", 3, 1)), ["key"], ["key", "value"])
    assert sorted(latest.rows()) == [("a", 3.0), ("b", 2.0)]
