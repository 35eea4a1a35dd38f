from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from penstock.errors import ModelError
from penstock.kernel.dedup import DedupOperator
from penstock.kernel.port import START_OF_TIME, Counts, Frame, Time
from penstock.model.dedup import Dedup
from tests.kernel.frames import NEVER, a_stream, changes, delta, play, table

TEN = timedelta(milliseconds=10)


def an_operator(*, within: timedelta | None = None, changelog: bool = False) -> DedupOperator:
    return DedupOperator(Dedup(a_stream(changelog=changelog), ("key",), within))


def test_the_first_row_of_each_key_is_given_once() -> None:
    steps = play(
        an_operator(),
        (delta({"key": "a", "n": 1}, {"key": "b", "n": 2}, {"key": "a", "n": 3}), NEVER),
        (delta({"key": "b", "n": 4}, {"key": None, "n": 5}, {"key": None, "n": 6}), NEVER),
    )
    assert changes(steps, "key", "n") == [(1, "a", 1), (1, "b", 2), (1, None, 5)]
    assert steps[0].counts == Counts(taken=3, passed=2, filtered=1, given=2)


def test_without_keys_all_columns_make_a_copy() -> None:
    operator = DedupOperator(Dedup(a_stream(), ()))
    steps = play(operator, (delta({"n": 1}, {"n": 1}, {"n": 1, "key": "a"}), NEVER))
    assert changes(steps, "key", "n") == [(1, None, 1), (1, "a", 1)]


def test_packed_rows_give_the_same_results_and_the_same_counts() -> None:
    rows = delta({"key": "a", "n": 1}, {"key": "a", "n": 2}, {"key": "b", "n": 3})
    packed = an_operator().pack(rows, START_OF_TIME)
    assert packed.height == 2
    [plain], [small] = play(an_operator(), (rows, NEVER)), play(an_operator(), (packed, NEVER))
    assert small.output.equals(plain.output)
    assert small.counts == plain.counts


def test_packed_and_unpacked_rows_may_come_together() -> None:
    packed = an_operator().pack(delta({"key": "a"}, {"key": "a"}), START_OF_TIME)
    both = pl.concat([packed, delta({"key": "a"})], how="diagonal")
    assert play(an_operator(), (both, NEVER))[0].counts == Counts(3, 1, 2, given=1)


def test_a_copy_is_one_that_is_less_than_within_apart() -> None:
    rows = [{"key": "a", "n": n, "t": t} for n, t in enumerate((0, 9, 10, 19, 20, 15))]
    steps = play(an_operator(within=TEN), (delta(*rows), NEVER))
    assert changes(steps, "n", "_time") == [(1, 0, 0), (1, 2, 10), (1, 4, 20)]


def test_keys_leave_once_the_watermark_passes_their_time_and_within() -> None:
    operator = an_operator(within=TEN)
    steps = play(
        operator,
        (delta({"key": "a", "t": 0}, {"key": "b", "t": 5}), Time(9)),
        (delta(), Time(10)),
        (delta(), Time(15)),
    )
    assert [step.state.rows for step in steps] == [2, 1, 0]


def test_a_row_behind_the_watermark_is_late() -> None:
    steps = play(
        an_operator(within=TEN),
        (delta({"key": "a", "t": 30}), Time(30)),
        (delta({"key": "b", "n": 1, "t": 29}, {"key": "c", "t": 30}), Time(30)),
    )
    assert steps[1].late is not None
    assert steps[1].late.select("key", "n").rows() == [("b", 1)]
    assert "watermark" in steps[1].late["_reason"][0]
    assert steps[1].counts == Counts(taken=2, passed=1, late=1, given=1)


def test_what_is_packed_for_within_are_only_rows_of_one_time_that_are_not_late() -> None:
    rows = delta(*({"key": "a", "t": t} for t in (5, 5, 12, 12, 20)))
    packed = an_operator(within=TEN).pack(rows, 10)
    assert sorted(packed["_time"].to_list()) == [5, 5, 12, 20]
    assert play(an_operator(within=TEN), (packed, Time(10)))[0].counts.taken == 5


@pytest.mark.parametrize("seed", range(6))
def test_any_split_into_batches_gives_the_same_rows_within_a_time(seed: int) -> None:
    chance = random.Random(seed)
    times = sorted(chance.randint(0, 80) for _ in range(40))
    rows = [{"key": chance.choice("ab"), "n": n, "t": t} for n, t in enumerate(times)]
    whole = play(an_operator(within=TEN), (delta(*rows), NEVER))
    parts = [(part, Time(_least(part))) for part in _split(rows, chance)]
    steps = play(an_operator(within=TEN), *parts)
    assert sorted(changes(steps, "n")) == sorted(changes(whole, "n"))


def test_over_a_changelog_a_key_goes_when_its_last_copy_does() -> None:
    one, other = {"key": "a", "n": 1}, {"key": "a", "n": 2}
    steps = play(
        an_operator(changelog=True),
        (delta(one, other), NEVER),
        (delta({**other, "w": -1}), NEVER),
        (delta(other, {**one, "w": -1}), NEVER),
        (delta({**other, "w": -1}), NEVER),
    )
    assert [changes([step], "n") for step in steps] == [
        [(1, 1)],
        [],
        [(-1, 1), (1, 2)],
        [(-1, 2)],
    ]
    assert steps[-1].state.rows == 0


def test_what_is_taken_back_before_it_comes_is_owed() -> None:
    row = {"key": "a", "n": 1}
    steps = play(
        an_operator(changelog=True),
        (delta({**row, "w": -1}), NEVER),
        (delta(row), NEVER),
        (delta(row), NEVER),
    )
    assert [changes([step], "n") for step in steps] == [[], [], [(1, 1)]]


@pytest.mark.parametrize("seed", range(10))
def test_any_split_of_a_changelog_leaves_the_first_of_the_remaining_rows(seed: int) -> None:
    chance = random.Random(seed)
    held: list[dict[str, Any]] = []
    log: list[dict[str, Any]] = []
    for _ in range(60):
        if held and chance.random() < 0.4:
            row = chance.choice(held)
            last = max(place for place, item in enumerate(held) if item == row)
            del held[last]
            log.append({**row, "w": -1})
        else:
            row = {"key": chance.choice("abc"), "n": chance.randint(0, 3)}
            held.append(row)
            log.append(row)
    expected: dict[tuple[Any, ...], int] = Counter()
    for key in "abc":
        first = next((row["n"] for row in held if row["key"] == key), None)
        if first is not None:
            expected[key, first] += 1
    batches = [(part, NEVER) for part in _split(log, chance)]
    assert table(play(an_operator(changelog=True), *batches), "key", "n") == expected


def test_a_time_within_which_copies_are_sought_must_have_a_meaning() -> None:
    with pytest.raises(ModelError, match="DEDUP_WITHIN"):
        an_operator(within=timedelta(0))
    with pytest.raises(ModelError, match="DEDUP_CHANGELOG"):
        an_operator(within=TEN, changelog=True)


def _split(rows: list[dict[str, Any]], chance: random.Random) -> list[Frame]:
    parts: list[Frame] = []
    while rows:
        size = chance.randint(1, 9)
        parts.append(delta(*rows[:size]))
        rows = rows[size:]
    return parts


def _least(rows: Frame) -> int:
    least = rows["_time"].min()
    assert isinstance(least, int)
    return least
