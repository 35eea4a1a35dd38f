from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from penstock.errors import ModelError, RunError
from penstock.front.dsl.states import list_state, map_state, value_state
from penstock.kernel.port import Counts, Frame, Time
from tests.kernel.frames import NEVER, changes, delta, play
from tests.kernel.processes import a_batch_operator

TOTAL = {"total": value_state(int, default=0)}


def summed(rows: Frame, state: Frame) -> tuple[Frame, Frame]:
    """A running total of each key."""
    before = rows.join(state, on="key", how="left", nulls_equal=True, maintain_order="left")
    running = pl.col("n").cum_sum().over("key") + pl.col("total")
    after = before.with_columns(running.alias("total"))
    new = after.group_by("key", maintain_order=True).agg(pl.col("total").last())
    return after, new


def test_it_takes_the_rows_of_all_keys_and_gives_their_new_state() -> None:
    rows = [{"key": key, "n": n, "t": n} for n, key in enumerate("abab", start=1)]
    steps = play(
        a_batch_operator(summed, state=TOTAL),
        (delta(*rows[:3]), NEVER),
        (delta(*rows[3:], {"key": None, "n": 9}), NEVER),
        (delta(), Time(5, 5)),
    )
    assert changes(steps, "key", "total", "_time") == [
        (1, "a", 1, 1),
        (1, "b", 2, 2),
        (1, "a", 4, 3),
        (1, "b", 6, 4),
        (1, None, 9, 0),
    ]
    assert steps[1].state.tables["total"].rows() == [("a", 4), ("b", 6), (None, 9)]
    assert steps[0].counts == Counts(taken=3, passed=3, given=3)
    assert steps[2].state.tables["total"] is steps[1].state.tables["total"]


def test_a_key_at_its_default_or_left_out_is_forgotten() -> None:
    def fold(rows: Frame, state: Frame) -> tuple[Frame, Frame]:
        after, new = summed(rows, state)
        return after, new.filter(pl.col("total") < 100)

    steps = play(
        a_batch_operator(fold, state=TOTAL),
        (delta(*({"key": key, "n": 5} for key in "abc")), NEVER),
        (delta({"key": "a", "n": -5}, {"key": "b", "n": 100}), NEVER),
    )
    assert steps[1].state.tables["total"].rows() == [("c", 5)]


def test_it_may_give_more_or_fewer_rows_with_their_time() -> None:
    def latest(rows: Frame, state: Frame) -> tuple[Frame, Frame]:
        found = rows.group_by("key", maintain_order=True).agg(
            pl.col("n").sum().alias("total"), pl.col("_time").max()
        )
        return found, state

    rows = [{"key": "a", "n": n, "t": n} for n in range(4)]
    (step,) = play(a_batch_operator(latest), (delta(*rows), NEVER))
    assert step.dead is None, step.dead["error"][0]
    assert changes([step], "key", "total", "_time") == [(1, "a", 6, 3)]


def test_rows_without_a_key_are_one_group() -> None:
    def all_of(rows: Frame, state: Frame) -> tuple[Frame, Frame]:
        total = (state["total"].item() or 0) + rows["n"].sum()
        return rows.select("key", pl.lit(total).alias("total")), pl.DataFrame({"total": [total]})

    steps = play(
        a_batch_operator(all_of, keys=(), state={"total": int}),
        (delta({"key": "a", "n": 1}, {"key": "b", "n": 2}), NEVER),
        (delta({"key": "a", "n": 4}), NEVER),
    )
    assert changes(steps, "total") == [(1, 3), (1, 3), (1, 7)]


def test_lists_and_maps_are_columns_too() -> None:
    def kept(rows: Frame, state: Frame) -> tuple[Frame, Frame]:
        assert state.schema["seen"] == pl.List(pl.Int64)
        assert state.schema["names"] == pl.Map(pl.String(), pl.Int64())
        found = rows.group_by("key", maintain_order=True).agg(pl.col("n"))
        lists = state.join(found, on="key", maintain_order="left")
        seen = pl.concat_list(pl.col("seen").fill_null([]), "n").alias("seen")
        return rows.with_columns(total=0), lists.select("key", seen, "names")

    state = {"seen": list_state(int), "names": map_state(str, int)}
    steps = play(
        a_batch_operator(kept, state=state),
        (delta({"key": "a", "n": 1}), NEVER),
        (delta({"key": "a", "n": 2}), NEVER),
    )
    assert steps[1].dead is None
    assert steps[1].state.tables["seen"].rows() == [("a", [1, 2])]


def test_a_state_is_forgotten_when_its_time_is_over() -> None:
    state = {"total": value_state(int, default=0, ttl="10ms")}
    steps = play(
        a_batch_operator(summed, state=state),
        (delta({"key": "a", "n": 1, "t": 0}, {"key": "b", "n": 1, "t": 8}), Time(0, 0)),
        (delta({"key": "a", "n": 1, "t": 4}), Time(10, 0)),
        (delta(), Time(14, 0)),
    )
    assert steps[1].state.tables["total"].rows() == [("a", 2, 4), ("b", 1, 8)]
    assert steps[2].state.tables["total"].rows() == [("b", 1, 8)]


def test_the_rows_of_a_key_that_makes_it_raise_are_dead_letters_and_its_state_stays() -> None:
    def careful(rows: Frame, state: Frame) -> tuple[Frame, Frame]:
        if (rows["n"] < 0).any():
            message = "negative"
            raise ValueError(message)
        return summed(rows, state)

    steps = play(
        a_batch_operator(careful, state=TOTAL),
        (delta(*({"key": key, "n": 1} for key in "abcde")), NEVER),
        (
            delta(
                *({"key": key, "n": n} for key, n in zip("abcbe", (1, -1, 1, 1, 1), strict=True))
            ),
            NEVER,
        ),
    )
    assert steps[1].counts == Counts(taken=5, passed=3, dead=2, given=3)
    assert changes(steps[1:], "key", "total") == [(1, "a", 2), (1, "c", 2), (1, "e", 2)]
    totals = {"a": 2, "b": 1, "c": 2, "d": 1, "e": 2}
    assert dict(steps[1].state.tables["total"].rows()) == totals
    assert steps[1].dead is not None
    assert steps[1].dead["error"].to_list() == ["ValueError: negative"] * 2


def test_a_result_without_a_declared_column_makes_dead_letters() -> None:
    (step,) = play(
        a_batch_operator(lambda rows, state: (rows, state)), (delta({"key": "a"}), NEVER)
    )
    assert step.dead is not None
    assert "RESULT_COLUMN" in step.dead["error"][0]


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda rows, _: rows, "FUNCTION_RESULT"),
        (lambda rows, _: (rows, 5), "FUNCTION_RESULT"),
        (lambda rows, state: (rows.with_columns(total=1), state.vstack(state)), "FUNCTION_RESULT"),
        (
            lambda rows, state: (rows.with_columns(total=1), state.with_columns(key=pl.lit("z"))),
            "FUNCTION_RESULT",
        ),
        (lambda rows, state: (rows.head(0).select("key", total=1), state), "FUNCTION_ROWS"),
    ],
)
def test_a_function_that_does_not_keep_to_its_form_ends_the_program(
    function: Any,  # noqa: ANN401
    code: str,
) -> None:
    with pytest.raises(RunError, match=code):
        play(a_batch_operator(function, state=TOTAL), (delta({"key": "a", "n": 1}), NEVER))


def test_more_than_one_row_of_state_for_all_rows_is_refused() -> None:
    def twice(rows: Frame, state: Frame) -> tuple[Frame, Frame]:
        return rows.with_columns(total=1), pl.concat([state, state])

    with pytest.raises(RunError, match="FUNCTION_RESULT"):
        play(a_batch_operator(twice, keys=(), state=TOTAL), (delta({"key": "a", "n": 1}), NEVER))


def test_a_state_named_like_a_key_is_refused() -> None:
    with pytest.raises(ModelError, match="PROCESS_NAMES"):
        a_batch_operator(summed, state={"key": int})
