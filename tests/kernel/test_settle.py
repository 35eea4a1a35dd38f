from __future__ import annotations

import polars as pl

from penstock.kernel.port import START_OF_TIME, Counts
from penstock.kernel.settle import SettleOperator, settle
from penstock.model.settle import Settle
from tests.kernel.frames import NEVER, a_stream, changes, delta, play


def settled(*rows: dict[str, object]) -> list[tuple[object, ...]]:
    frame = settle(delta(*rows), ("key",), ("key", "n"))
    return frame.select("_weight", "key", "n").rows()


def test_an_update_leaves_the_new_row_in_whatever_order_its_halves_come() -> None:
    old, new = {"key": "a", "n": 1, "w": -1}, {"key": "a", "n": 2}
    assert settled(old, new) == [(1, "a", 2)]
    assert settled(new, old) == [(1, "a", 2)]


def test_what_is_only_taken_back_is_gone() -> None:
    assert settled({"key": "a", "n": 1, "w": -1}, {"key": "b", "n": 1}) == [
        (-1, "a", 1),
        (1, "b", 1),
    ]


def test_what_comes_and_goes_in_one_batch_leaves_nothing() -> None:
    assert settled({"key": "a", "n": 1}, {"key": "a", "n": 1, "w": -1}) == []


def test_several_changes_of_a_key_leave_one() -> None:
    rows = [(1, -1), (2, 1), (2, -1), (3, 1)]
    assert settled(*({"key": "a", "n": n, "w": weight} for n, weight in rows)) == [(1, "a", 3)]
    rows = [(1, -1), (2, 1), (2, -1)]
    assert settled(*({"key": "a", "n": n, "w": weight} for n, weight in rows)) == [(-1, "a", 1)]


def test_no_changes_are_settled_as_they_are() -> None:
    frame = delta({"key": "a"}).clear()
    assert settle(frame, ("key",), ("key",)) is frame


def test_the_operator_settles_each_batch_and_remembers_nothing() -> None:
    operator = SettleOperator(Settle(a_stream(changelog=True), ("key",)))
    rows = delta({"key": "a", "n": 1, "w": -1}, {"key": "a", "n": 2})
    assert operator.keys == ("key",)
    assert operator.pack(rows, START_OF_TIME) is rows
    steps = play(operator, (rows, NEVER), (rows.filter(pl.col("n") == 1), NEVER))
    assert changes(steps, "n") == [(1, 2), (-1, 1)]
    assert steps[0].counts == Counts(taken=2, passed=2, given=1)
    assert steps[1].state.rows == 0
