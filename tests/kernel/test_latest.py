from __future__ import annotations

import random
from typing import Any

import pytest

from penstock.kernel.latest import LatestOperator
from penstock.kernel.port import START_OF_TIME, Counts
from penstock.model.latest import Latest, Order
from tests.kernel.frames import NEVER, a_stream, changes, delta, play, table


def an_operator(order: Order = "arrival", *, changelog: bool = False) -> LatestOperator:
    return LatestOperator(Latest(a_stream(changelog=changelog), ("key",), order))


def test_a_new_row_takes_the_old_one_back() -> None:
    steps = play(
        an_operator(),
        (delta({"key": "a", "n": 1}, {"key": "b", "n": 2}), NEVER),
        (delta({"key": "a", "n": 3}), NEVER),
    )
    assert changes(steps[:1], "key", "n") == [(1, "a", 1), (1, "b", 2)]
    assert changes(steps[1:], "key", "n") == [(-1, "a", 1), (1, "a", 3)]
    assert steps[1].counts == Counts(taken=1, passed=1, given=2)


def test_of_several_rows_in_a_batch_only_the_last_comes_out() -> None:
    rows = [{"key": "a", "n": n} for n in (1, 2, 3)]
    steps = play(an_operator(), (delta(*rows), NEVER))
    assert changes(steps, "n") == [(1, 3)]
    assert steps[0].counts.taken == 3


def test_the_same_row_again_changes_nothing() -> None:
    row = {"key": "a", "n": 1}
    steps = play(an_operator(), (delta(row), NEVER), (delta(row), NEVER))
    assert changes(steps[1:], "n") == []


def test_a_deletion_needs_the_key_alone_and_of_a_missing_key_does_nothing() -> None:
    steps = play(
        an_operator(),
        (delta({"key": "a", "n": 1}), NEVER),
        (delta({"key": "a", "w": -1}, {"key": "b", "w": -1}), NEVER),
    )
    assert changes(steps[1:], "key", "n") == [(-1, "a", 1)]
    assert steps[1].state.rows == 0


def test_what_is_taken_back_tells_when_it_ended() -> None:
    steps = play(
        an_operator(),
        (delta({"key": "a", "n": 1, "t": 1}), NEVER),
        (delta({"key": "a", "n": 2, "t": 5}), NEVER),
        (delta({"key": "a", "t": 9, "w": -1}), NEVER),
    )
    assert changes(steps, "_time", "_until") == [
        (1, 1, None),
        (-1, 1, 5),
        (1, 5, None),
        (-1, 5, 9),
    ]


def test_by_event_time_an_older_row_changes_nothing() -> None:
    steps = play(
        an_operator("event time"),
        (delta({"key": "a", "n": 1, "t": 10}), NEVER),
        (delta({"key": "a", "n": 2, "t": 5}), NEVER),
        (delta({"key": "a", "n": 3, "t": 10}), NEVER),
    )
    assert changes(steps, "n") == [(1, 1), (-1, 1), (1, 3)]


def test_by_event_time_a_deleted_key_is_not_brought_back_by_an_older_row() -> None:
    steps = play(
        an_operator("event time"),
        (delta({"key": "a", "n": 1, "t": 1}), NEVER),
        (delta({"key": "a", "t": 9, "w": -1}), NEVER),
        (delta({"key": "a", "n": 2, "t": 5}), NEVER),
        (delta({"key": "a", "n": 3, "t": 10}), NEVER),
    )
    assert changes(steps, "n") == [(1, 1), (-1, 1), (1, 3)]


def test_over_a_changelog_what_is_taken_back_lets_the_row_before_it_count_again() -> None:
    steps = play(
        an_operator(changelog=True),
        (delta({"key": "a", "n": 1}, {"key": "a", "n": 2}), NEVER),
        (delta({"key": "a", "n": 2, "w": -1}), NEVER),
        (delta({"key": "a", "n": 1, "w": -1}), NEVER),
    )
    assert changes(steps, "n") == [(1, 2), (-1, 2), (1, 1), (-1, 1)]


def test_packed_rows_give_the_same_as_unpacked_ones() -> None:
    operator = an_operator()
    rows = delta(*({"key": key, "n": n} for n, key in enumerate("abcaab")))
    packed = operator.pack(rows, START_OF_TIME)
    one, other = play(operator, (rows, NEVER)), play(operator, (packed, NEVER))
    assert packed.height == 3
    assert changes(one, "key", "n") == changes(other, "key", "n")
    assert one[0].counts == other[0].counts


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("order", ["arrival", "event time"])
def test_any_split_of_rows_and_deletions_gives_the_same_table(order: Order, seed: int) -> None:
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = [
        {"key": chance.choice("abc"), "n": n, "t": chance.randrange(9), "w": weight}
        for n, weight in enumerate(chance.choices([1, -1], [3, 1], k=30))
    ]
    cut = sorted(chance.sample(range(1, 30), 4))
    parts = [rows[a:b] for a, b in zip([0, *cut], [*cut, 30], strict=True)]
    whole = play(an_operator(order), (delta(*rows), NEVER))
    split = play(an_operator(order), *((delta(*part), NEVER) for part in parts))
    assert sorted(table(split, "key", "n")) == sorted(table(whole, "key", "n"))
    expected: dict[str, dict[str, Any]] = {}
    for row in rows:
        held = expected.get(row["key"])
        if order == "arrival" or held is None or row["t"] >= held["t"]:
            expected[row["key"]] = row
    left = [(row["key"], row["n"]) for row in expected.values() if row["w"] > 0]
    assert sorted(table(whole, "key", "n")) == sorted(left)
