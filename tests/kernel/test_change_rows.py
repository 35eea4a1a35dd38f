from __future__ import annotations

import polars as pl
import pytest

from penstock.errors import ModelError
from penstock.kernel.change_rows import change_rows, row_changes
from penstock.model.change_rows import ChangeRows, RowChanges
from penstock.model.expr import Column
from penstock.model.source import Stream
from penstock.model.words import step_words
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, INT64, STRING

ROWS = Stream("s", Schema((Field("k", STRING), Field("n", INT64), Field("gone", BOOLEAN))))


def _changes(*rows: tuple[str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(
        [(key, n, weight, False) for key, n, weight in rows],
        schema={"k": pl.String, "n": pl.Int64, "_weight": pl.Int32, "gone": pl.Boolean},
        orient="row",
    )


def _told(frame: pl.DataFrame) -> list[tuple[str, int, bool]]:
    assert frame["_weight"].to_list() == [1] * frame.height
    return frame.select("k", "n", "gone").rows()


def test_every_change_is_a_row_that_says_what_it_is() -> None:
    changes = _changes(("a", 1, 1), ("a", 1, -1), ("a", 2, 1))
    told = change_rows(changes, "gone")
    assert _told(told) == [("a", 1, False), ("a", 1, True), ("a", 2, False)]
    assert row_changes(told, "gone").equals(changes.with_columns(gone=pl.col("_weight") < 0))


def test_of_a_key_only_what_is_new_or_gone_is_told() -> None:
    changes = _changes(("a", 1, 1), ("b", 7, 1), ("a", 1, -1), ("a", 2, 1), ("b", 7, -1))
    told = change_rows(changes, "gone", ("k",))
    assert _told(told) == [("a", 1, False), ("b", 7, False), ("a", 2, False), ("b", 7, True)]
    # Without a key all rows are of one.
    assert _told(change_rows(_changes(("a", 1, -1), ("b", 2, 1)), "gone", ())) == [("b", 2, False)]


def test_what_a_condition_leaves_out_is_gone_only_where_it_was_there() -> None:
    changes = _changes(
        ("a", 1, 1), ("a", 1, -1), ("a", 5, 1), ("a", 5, -1), ("a", 2, 1), ("a", 2, -1), ("a", 3, 1)
    )
    told = change_rows(changes, "gone", ("k",), pl.col("n") > 4)
    assert _told(told) == [("a", 5, False), ("a", 2, True)]


def test_a_mark_must_be_true_or_false() -> None:
    for step in (lambda: ChangeRows(ROWS, "n"), lambda: RowChanges(ROWS, "n")):
        with pytest.raises(ModelError, match="CONDITION_TYPE"):
            step()


def test_the_steps_say_what_they_do() -> None:
    back = RowChanges(ROWS, "gone")
    assert back.retracts
    assert step_words(back).title == "taken back where gone"
    rows = ChangeRows(back, "gone", ("k",), Column("gone"))
    assert not rows.retracts
    assert step_words(rows).title == "marked by gone of each k where gone"


@pytest.mark.parametrize("new", [("a", "b", None), ("a", None), ()])
def test_what_is_taken_back_in_front_is_told_where_nothing_newer_comes(
    new: tuple[str | None, ...],
) -> None:
    gone = [("a", 1, -1), (None, 2, -1), ("b", 3, -1)]
    changes = _changes(*gone, *((key, 9, 1) for key in new))  # type: ignore[arg-type]
    left = [(key, n, True) for key, n, _ in gone if key not in new]
    told = change_rows(changes, "gone", ("k",))
    assert _told(told) == [*left, *((key, 9, False) for key in new)]
