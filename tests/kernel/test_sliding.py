from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from penstock.kernel.port import Counts, Frame, Time
from penstock.kernel.sliding import SlidingAggregate
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.refine import Mode, Refinement
from penstock.model.window import Domain, Sliding
from tests.kernel.frames import ENDED, NEVER, a_stream, changes, delta, play, table

TEN = timedelta(milliseconds=10)
SUM = Measure("sum", "sum", (Column("n"),))
COUNT = Measure("count", "count")


def an_operator(
    mode: Mode = "accumulating",
    *,
    keep_late: int = 100,
    changelog: bool = False,
    keys: tuple[str, ...] = ("key",),
    domain: Domain = "event",
) -> SlidingAggregate:
    relation = Aggregate(
        a_stream(changelog=changelog),
        keys,
        (SUM, COUNT),
        Sliding(TEN, domain),
        refinement=Refinement(mode),
    )
    return SlidingAggregate(relation, keep_late)


def timed(*rows: tuple[int, int]) -> Frame:
    return delta(*({"key": "a", "n": n, "t": t} for n, t in rows))


def test_every_row_has_the_rows_of_its_key_that_are_at_most_so_old() -> None:
    rows = timed((1, 0), (2, 5), (4, 10), (8, 11), (16, 40))
    steps = play(an_operator(), (rows, NEVER), (timed(), ENDED))
    assert changes(steps, "_time", "sum") == [
        (1, 0, 1),
        (1, 5, 3),
        (1, 10, 6),
        (1, 11, 14),
        (1, 40, 16),
    ]


def test_a_window_is_given_out_when_the_watermark_has_passed_its_row() -> None:
    steps = play(an_operator(), (timed((1, 5)), Time(5)), (timed(), Time(6)), (timed(), Time(7)))
    assert [step.output.height for step in steps] == [0, 1, 0]


def test_results_name_the_window_that_ends_with_the_row() -> None:
    [_, step] = play(an_operator(keep_late=0), (timed((1, 50)), NEVER), (timed(), ENDED))
    row = step.output.row(0, named=True)
    assert (row["window_start"].timestamp(), row["window_end"].timestamp()) == (0.041, 0.051)
    assert (row["_pane_timing"], row["_pane_index"], row["_pane_last"]) == ("on-time", 0, True)


def test_rows_of_one_time_share_a_window() -> None:
    steps = play(an_operator(), (timed((1, 5), (2, 5)), NEVER), (timed(), ENDED))
    assert changes(steps, "sum", "count") == [(1, 3, 2)]


def test_keys_do_not_see_one_another_and_null_is_a_key() -> None:
    rows = delta(*({"key": key, "n": 1, "t": t} for t, key in enumerate(("a", None, "a", None))))
    steps = play(an_operator(), (rows, NEVER), (timed(), ENDED))
    assert changes(steps, "key", "sum") == [(1, "a", 1), (1, None, 1), (1, "a", 2), (1, None, 2)]


def test_without_keys_all_rows_are_seen() -> None:
    rows = delta(*({"key": key, "n": 1, "t": t} for t, key in enumerate("ab")))
    assert changes(play(an_operator(keys=()), (rows, NEVER), (timed(), ENDED)), "sum") == [
        (1, 1),
        (1, 2),
    ]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("accumulating", [(1, 4, 9), (1, 5, 11)]),
        ("discarding", [(1, 4, 8), (1, 5, 8)]),
        ("retracting", [(1, 4, 9), (-1, 5, 3), (1, 5, 11)]),
    ],
)
def test_a_late_row_gives_its_window_and_corrects_those_it_belongs_to(
    mode: Mode, expected: list[tuple[int, int, int]]
) -> None:
    steps = play(
        an_operator(mode),
        (timed((1, 0), (2, 5), (4, 15)), Time(10)),
        (timed((8, 4)), Time(10)),
    )
    late = changes(steps[1:], "_time", "sum")
    # Where only news is told, the late row's own window holds nothing but it.
    assert late == expected
    assert set(steps[1].output["_pane_timing"]) == {"late"}


def test_a_row_whose_window_has_left_is_late() -> None:
    steps = play(
        an_operator(keep_late=20),
        (timed((1, 0), (2, 50)), Time(51)),
        (timed((4, 30), (8, 31)), Time(51)),
    )
    assert steps[1].late is not None
    assert steps[1].late["n"].to_list() == [4]
    assert steps[1].counts == Counts(taken=2, passed=1, late=1, given=1)


def test_rows_and_results_leave_when_nothing_can_need_them() -> None:
    operator = an_operator(keep_late=5)
    steps = play(operator, (timed((1, 0)), Time(1)), (timed(), Time(14)), (timed(), Time(15)))
    assert [step.state.rows for step in steps] == [2, 1, 0]


def test_by_the_clock_a_window_is_given_out_once_the_clock_has_gone_on() -> None:
    steps = play(
        an_operator(domain="processing"),
        (timed((1, 0), (2, 0)), Time(clock=100)),
        (timed((4, 0)), Time(clock=105)),
        (timed(), Time(clock=106)),
    )
    assert [step.wake_at for step in steps] == [101, 106, None]
    assert changes(steps, "_time", "sum") == [(1, 100, 3), (1, 105, 7)]


def test_by_the_clock_the_end_of_the_input_gives_out_the_rest() -> None:
    steps = play(
        an_operator(domain="processing"),
        (timed((1, 0)), Time(clock=100)),
        (timed(), Time(ENDED.watermark, 100)),
    )
    assert changes(steps, "sum") == [(1, 1)]
    assert steps[-1].state.rows == 0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("changelog", [False, True])
def test_any_split_and_any_disorder_leave_the_batch_answer(seed: int, changelog: bool) -> None:
    chance = random.Random(seed)
    rows = [(chance.choice("abc"), chance.randint(1, 9), chance.randint(0, 60)) for _ in range(40)]
    log: list[dict[str, Any]] = [{"key": k, "n": n, "t": t} for k, n, t in rows]
    gone = chance.sample(log, 13) if changelog else []
    log += [{**row, "w": -1} for row in gone]
    batches, watermark, rest = [], -100, log
    while rest:
        size = chance.randint(1, 7)
        watermark = max(watermark, chance.randint(-10, 70))
        batches.append((delta(*rest[:size]), Time(watermark)))
        rest = rest[size:]
    operator = an_operator("retracting", keep_late=10**6, changelog=changelog)
    steps = play(operator, *batches, (timed(), ENDED))
    held = Counter[tuple[Any, ...]](rows)
    held.subtract((row["key"], row["n"], row["t"]) for row in gone)
    assert table(steps, "key", "_time", "sum", "count") == _batch_answer(list(held.elements()))


def _batch_answer(rows: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    answer: dict[tuple[Any, ...], int] = {}
    for key, _, end in rows:
        seen = [n for other, n, t in rows if other == key and end - 10 < t <= end]
        answer[key, end, sum(seen), len(seen)] = 1
    return answer


def test_rows_are_not_packed_since_each_has_a_window() -> None:
    rows = timed((1, 0))
    assert an_operator().pack(rows, 0) is rows
