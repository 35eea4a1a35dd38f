from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from penstock.kernel.port import START_OF_TIME, Counts, Frame, Time
from penstock.kernel.top_n import TopNOperator
from penstock.model.top_n import TopN
from tests.kernel.frames import NEVER, a_stream, changes, delta, play, table


def an_operator(
    n: int = 2,
    *,
    keys: tuple[str, ...] = ("key",),
    by: str = "n",
    descending: bool = True,
    changelog: bool = False,
) -> TopNOperator:
    return TopNOperator(TopN(a_stream(changelog=changelog), keys, by, n, descending))


def test_a_row_that_comes_among_the_best_is_given_and_the_one_that_leaves_taken_back() -> None:
    steps = play(
        an_operator(),
        (delta({"key": "a", "n": 5}, {"key": "a", "n": 3}, {"key": "b", "n": 1}), NEVER),
        (delta({"key": "a", "n": 4}, {"key": "a", "n": 1}), NEVER),
    )
    assert sorted(changes(steps[:1], "key", "n")) == [(1, "a", 3), (1, "a", 5), (1, "b", 1)]
    assert changes(steps[1:], "key", "n") == [(-1, "a", 3), (1, "a", 4)]
    assert steps[1].counts == Counts(taken=2, passed=1, filtered=1, given=2)


def test_what_is_taken_back_carries_the_time_it_was_given_with() -> None:
    steps = play(
        an_operator(1),
        (delta({"key": "a", "n": 1, "t": 5}), NEVER),
        (delta({"key": "a", "n": 2, "t": 9}), NEVER),
    )
    assert changes(steps, "_time") == [(1, 5), (-1, 5), (1, 9)]


def test_of_equal_rows_the_first_is_better() -> None:
    rows = [{"key": "a", "n": 1, "x": float(x)} for x in range(3)]
    steps = play(an_operator(2), (delta(*rows[:1]), NEVER), (delta(*rows[1:]), NEVER))
    assert changes(steps, "x") == [(1, 0.0), (1, 1.0)]


@pytest.mark.parametrize(
    ("descending", "expected"), [(True, ["nan", "2.0"]), (False, ["1.0", "2.0"])]
)
def test_nan_is_the_greatest_and_null_is_last(descending: bool, expected: list[str]) -> None:
    rows = [{"key": "a", "x": x} for x in (None, 1.0, float("nan"), 2.0)]
    steps = play(an_operator(2, by="x", descending=descending), (delta(*rows), NEVER))
    assert [str(row[1]) for row in changes(steps, "x")] == expected


def test_without_keys_all_rows_are_one_group() -> None:
    rows = [{"key": key, "n": n} for key, n in (("a", 1), ("b", 3), ("c", 2))]
    steps = play(an_operator(1, keys=()), (delta(*rows), NEVER))
    assert changes(steps, "key") == [(1, "b")]


def test_only_the_best_rows_are_kept_where_none_is_taken_back() -> None:
    rows = [{"key": key, "n": n} for key in "ab" for n in range(50)]
    assert play(an_operator(3), (delta(*rows), NEVER))[0].state.rows == 6


@pytest.mark.parametrize("keys", [("key",), ()])
def test_packed_rows_give_the_same_results_and_the_same_counts(keys: tuple[str, ...]) -> None:
    rows = delta(*({"key": "ab"[n % 2], "n": n % 5} for n in range(20)))
    packed = an_operator(keys=keys).pack(rows, START_OF_TIME)
    assert packed.height == (4 if keys else 2)
    [plain] = play(an_operator(keys=keys), (rows, NEVER))
    [small] = play(an_operator(keys=keys), (packed, NEVER))
    assert small.output.equals(plain.output)
    assert small.counts == plain.counts


def test_rows_of_a_changelog_are_not_packed() -> None:
    rows = delta({"key": "a", "n": 1}, {"key": "a", "n": 1, "w": -1})
    assert an_operator(changelog=True).pack(rows, START_OF_TIME) is rows


def test_a_row_moves_up_when_a_better_one_is_taken_back() -> None:
    steps = play(
        an_operator(1, changelog=True),
        (delta({"key": "a", "n": 2}, {"key": "a", "n": 1}), NEVER),
        (delta({"key": "a", "n": 2, "w": -1}), NEVER),
    )
    assert changes(steps, "n") == [(1, 2), (-1, 2), (1, 1)]


@pytest.mark.parametrize("seed", range(10))
def test_any_split_of_a_changelog_leaves_the_best_of_the_remaining_rows(seed: int) -> None:
    chance = random.Random(seed)
    held: list[dict[str, Any]] = []
    log: list[dict[str, Any]] = []
    for _ in range(60):
        if held and chance.random() < 0.4:
            row = held.pop(chance.randrange(len(held)))
            log.append({**row, "w": -1})
        else:
            held.append({"key": chance.choice("ab"), "n": chance.randint(0, 9)})
            log.append(held[-1])
    expected: dict[tuple[Any, ...], int] = {}
    for key in "ab":
        for n in sorted((row["n"] for row in held if row["key"] == key), reverse=True)[:3]:
            expected[key, n] = expected.get((key, n), 0) + 1
    batches = []
    while log:
        size = chance.randint(1, 9)
        batches.append((delta(*log[:size]), NEVER))
        log = log[size:]
    assert table(play(an_operator(3, changelog=True), *batches), "key", "n") == expected


def test_no_rows_change_nothing() -> None:
    operator = an_operator()
    steps = play(operator, (delta({"key": "a", "n": 1}), NEVER), (delta(), NEVER))
    assert changes(steps[1:], "n") == []
    assert steps[1].state.rows == 1


def test_packed_and_unpacked_rows_may_come_together() -> None:
    packed = an_operator(1).pack(delta({"key": "a", "n": 1}, {"key": "a", "n": 2}), START_OF_TIME)
    both: Frame = pl.concat([packed, delta({"key": "a", "n": 3})], how="diagonal")
    assert play(an_operator(1), (both, NEVER))[0].counts == Counts(3, 1, 2, given=1)


def test_places_are_told_and_a_row_that_moves_is_taken_back_from_where_it_was() -> None:
    operator = TopNOperator(TopN(a_stream(), ("key",), "n", 2, number="place"))
    steps = play(
        operator,
        (delta({"key": "a", "n": 5}, {"key": "a", "n": 3}), NEVER),
        (delta({"key": "a", "n": 4}), NEVER),
        (delta({"key": "a", "n": 9}, {"key": "b", "n": 1}), NEVER),
    )
    assert table(steps, "key", "n", "place") == {("a", 9, 1): 1, ("a", 5, 2): 1, ("b", 1, 1): 1}
    assert changes(steps[1:2], "n", "place") == [(-1, 3, 2), (1, 4, 2)]


def test_a_group_is_given_once_when_its_time_has_come_and_is_forgotten() -> None:
    operator = TopNOperator(TopN(a_stream(), ("n",), "x", 1, ties=True, until="n"))
    rows = [{"n": 10, "x": 1.0}, {"n": 10, "x": 2.0}, {"n": 10, "x": 2.0}, {"n": 20, "x": 0.5}]
    steps = play(
        operator,
        (delta(*rows[:2]), Time(5, 0)),
        (delta(*rows[2:]), Time(12, 0)),
        (delta(*rows[:1]), Time(20, 0)),
    )
    assert [step.output.height for step in steps] == [0, 2, 1]
    assert changes(steps, "n", "x", "_time") == [(1, 10, 2.0, 9), (1, 10, 2.0, 9), (1, 20, 0.5, 19)]
    late = steps[2].late
    assert late is not None
    assert late["x"].to_list() == [1.0]
    assert steps[2].state.rows == 0


def test_a_changelog_is_chosen_from_when_its_group_ends() -> None:
    relation = TopN(a_stream(changelog=True), ("n",), "x", 1, until="n")
    steps = play(
        TopNOperator(relation),
        (delta({"n": 10, "x": 1.0}, {"n": 10, "x": 2.0}), NEVER),
        (delta({"n": 10, "x": 2.0, "w": -1}), Time(10, 0)),
    )
    assert changes(steps, "x") == [(1, 1.0)]
    assert not relation.retracts


def _best(rows: list[dict[str, Any]], group: str, *, ties: bool) -> dict[tuple[Any, ...], int]:
    """The best 3 of each group with their places, found the plain way."""
    best: dict[tuple[Any, ...], int] = {}
    for value in {row[group] for row in rows}:
        mine = sorted(row["t"] for row in rows if row[group] == value)
        ns = {row["t"]: row["n"] for row in rows}
        mine.sort(key=lambda t: -ns[t])
        for place, t in enumerate(mine, 1):
            number = 1 + sum(ns[other] > ns[t] for other in mine) if ties else place
            if number <= 3:
                best[value, t, number] = 1
    return best


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("group", ["key", "x"])
@pytest.mark.parametrize("nulls", [True, False])
@pytest.mark.parametrize("ties", [True, False])
def test_after_every_batch_the_table_is_that_of_all_rows(
    seed: int, group: str, *, nulls: bool, ties: bool
) -> None:
    chance = random.Random(seed)
    values: list[Any] = [*("abc" if group == "key" else (1.0, 2.0)), *([None] if nulls else [])]
    rows: list[dict[str, Any]] = [
        {group: chance.choice(values), "n": chance.randint(0, 6), "t": t} for t in range(60)
    ]
    relation = TopN(a_stream(), (group,), "n", 3, ties=ties, number="place")
    cut = [0, *sorted(chance.sample(range(1, 60), 5)), 60]
    batches = [(delta(*rows[a:b]), NEVER) for a, b in pairwise(cut)]
    steps = play(TopNOperator(relation), *batches)
    for number, end in enumerate(cut[1:], 1):
        found = table(steps[:number], group, "_time", "place")
        assert found == _best(rows[:end], group, ties=ties)
        held = steps[number - 1].state.tables["rows"]
        assert held.select(group, "_time").rows() == sorted(
            {(value, t) for value, t, _ in found}, key=lambda it: it[1]
        )


def test_rows_that_stay_keep_their_places_and_a_step_says_which_left() -> None:
    steps = play(
        an_operator(1),
        (delta(*({"key": key, "n": 5} for key in "abcd")), NEVER),
        (delta({"key": "b", "n": 6}, {"key": "c", "n": 1}), NEVER),
        (delta({"key": "a", "n": 1}), NEVER),
    )
    assert steps[1].state.tables["rows"]["key"].to_list() == ["a", "c", "d", "b"]
    assert steps[1].state.left["rows"].tolist() == [1]
    # Nothing has changed, and there is nothing to store.
    assert steps[2].state.tables["rows"] is steps[1].state.tables["rows"]
