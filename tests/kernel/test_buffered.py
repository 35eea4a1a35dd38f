from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock.kernel.buffered import BUFFER, BufferedAggregate
from penstock.kernel.port import Frame, State, Time
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    ByTime,
    Domain,
    Policy,
)
from tests.kernel.frames import NEVER, a_stream, delta, play

SECOND = timedelta(seconds=1)
MARK = ByPunctuation(Column("mark"))
LIST = Measure("list", "collect_list", (Column("n"),))


def an_operator(
    window: Buffered, *, keys: tuple[str, ...] = ("key",), panes: bool = False
) -> BufferedAggregate:
    return BufferedAggregate(Aggregate(a_stream(), keys, (LIST,), window, panes=panes))


def numbers(*values: int | None) -> Frame:
    """Rows of one key; none is a punctuation."""
    return delta(*({"key": "a", "n": n, "x": float(n or 0), "mark": n is None} for n in values))


def lists(window: Buffered, *batches: Frame) -> list[list[int]]:
    steps = play(an_operator(window), *((batch, NEVER) for batch in batches))
    return [row for step in steps for row in step.output["list"].to_list()]


def left(window: Buffered, *batches: Frame) -> list[int]:
    steps = play(an_operator(window), *((batch, NEVER) for batch in batches))
    return [] if not steps[-1].state.tables else steps[-1].state.tables[BUFFER]["n"].to_list()


def test_a_tumbling_count_is_given_out_right_after_the_row_that_fills_it() -> None:
    window = Buffered("tumbling", ByCount(3))
    assert lists(window, numbers(1, 2), numbers(3, 4, 5, 6, 7)) == [[1, 2, 3], [4, 5, 6]]
    assert left(window, numbers(1, 2), numbers(3, 4, 5, 6, 7)) == [7]


def test_a_sliding_count_holds_the_last_rows() -> None:
    assert lists(Buffered("sliding", ByCount(3)), numbers(1, 2, 3), numbers(4, 5)) == [
        [1],
        [1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 5],
    ]


def test_a_sliding_count_fires_after_every_so_many_rows() -> None:
    window = Buffered("sliding", ByCount(4), ByCount(2))
    assert lists(window, numbers(1, 2, 3), numbers(4, 5, 6)) == [[1, 2], [1, 2, 3, 4], [3, 4, 5, 6]]


def test_a_sliding_count_that_is_not_partial_waits_until_it_is_full() -> None:
    window = Buffered("sliding", ByCount(3), ByCount(2), partial=False)
    assert lists(window, numbers(1, 2, 3), numbers(4, 5)) == [[1, 2, 3], [3, 4, 5]]
    each = Buffered("sliding", ByCount(2), partial=False)
    assert lists(each, numbers(1, 2, 3)) == [[1, 2], [2, 3]]


def test_a_tumbling_delta_ends_with_the_row_that_lies_too_far_from_the_first() -> None:
    window = Buffered("tumbling", ByDelta("x", 10))
    assert lists(window, numbers(1, 5, 9), numbers(12, 30)) == [[1, 5, 9], [12]]
    assert left(window, numbers(1, 5, 9, 12, 30)) == [30]


def test_a_punctuation_gives_out_what_came_before_and_is_no_part_of_it() -> None:
    window = Buffered("tumbling", MARK)
    assert lists(window, numbers(0, 1, 2, None, 3), numbers(4, None, None)) == [[0, 1, 2], [3, 4]]
    assert left(window, numbers(0, None, 5)) == [5]


def test_a_delta_that_fires_does_not_yet_hold_the_row_that_made_it_fire() -> None:
    window = Buffered("sliding", ByCount(5), ByDelta("x", 2))
    assert lists(window, numbers(*range(4)), numbers(*range(4, 10))) == [
        [0, 1, 2],
        [1, 2, 3, 4, 5],
        [4, 5, 6, 7, 8],
    ]


def test_a_delta_may_fire_with_the_row_as_flink_does() -> None:
    window = Buffered("sliding", ByCount(9), ByDelta("x", 2), order="insert-evict-fire")
    assert lists(window, numbers(*range(7))) == [[0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6]]


def test_a_sliding_delta_evicts_what_lies_too_far_from_the_newest() -> None:
    window = Buffered("sliding", ByDelta("x", 2), ByCount(5))
    assert lists(window, numbers(*range(10), 11)) == [[2, 3, 4], [7, 8, 9]]
    assert left(window, numbers(*range(10), 11)) == [9, 11]


def test_a_sliding_punctuation_empties_the_buffer_or_looks_at_it() -> None:
    assert lists(Buffered("sliding", MARK), numbers(0, 1, None, 2)) == [[0], [0, 1], [2]]
    looked = Buffered("sliding", ByCount(2), MARK)
    assert lists(looked, numbers(0, 1, 2, None, 3, None)) == [[1, 2], [2, 3]]


def test_a_delta_without_a_value_neither_fires_nor_evicts() -> None:
    rows = delta({"key": "a", "n": 1, "x": 0.0}, {"key": "a", "n": 2}, {"key": "a", "n": 3, "x": 9})
    assert lists(Buffered("tumbling", ByDelta("x", 5)), rows) == [[1, 2]]


def timed(*rows: tuple[int, int | None]) -> Frame:
    return delta(*({"key": "a", "n": n, "t": t} for n, t in rows))


def played(window: Buffered, *batches: tuple[Frame, Time]) -> list[list[list[int]]]:
    steps = play(an_operator(window), *batches)
    return [step.output["list"].to_list() for step in steps]


def test_a_tumbling_time_ends_when_event_time_has_passed() -> None:
    found = played(
        Buffered("tumbling", ByTime(SECOND)),
        (timed((1, 0), (2, 500), (3, 1000)), Time(900)),
        (timed(), Time(1999)),
        (timed(), Time(2000)),
    )
    assert found == [[[1, 2]], [], [[3]]]


def test_a_tumbling_time_of_the_clock_ends_without_a_row() -> None:
    operator = an_operator(Buffered("tumbling", ByTime(SECOND), domain="processing"))
    steps = play(
        operator,
        (timed((1, 0)), Time(clock=100)),
        (timed((2, 0)), Time(clock=700)),
        (timed(), Time(clock=1100)),
    )
    assert [step.wake_at for step in steps] == [1100, 1100, None]
    assert [step.output["list"].to_list() for step in steps] == [[], [], [[1, 2]]]
    assert steps[-1].state.rows == 0


def test_a_sliding_time_holds_rows_of_the_last_span_and_fires_periodically() -> None:
    window = Buffered("sliding", ByTime(3 * SECOND), ByTime(SECOND))
    found = played(
        window,
        (timed((1, 0), (2, 500), (3, 1000), (4, 2600)), Time(0)),
        (timed(), Time(4000)),
        (timed(), Time(9000)),
    )
    assert found == [[[1, 2], [1, 2, 3]], [[2, 3, 4]], []]


def test_rows_that_come_out_of_order_are_evicted_by_their_time() -> None:
    window = Buffered("sliding", ByTime(2 * SECOND), ByCount(2))
    rows = timed((1, 1000), (2, 3999), (3, 3500), (4, 2001), (5, 1001), (6, 1002))
    assert played(window, (rows, NEVER)) == [[[2], [2, 3, 4], [2, 3, 4]]]


def test_rows_may_leave_only_after_the_buffer_was_given_out() -> None:
    window = Buffered("sliding", ByTime(2 * SECOND), ByCount(2), order="insert-fire-evict")
    rows = timed((1, 1000), (2, 4000), (3, 3500), (4, 2001), (5, 1001), (6, 1002))
    assert played(window, (rows, NEVER)) == [[[1, 2], [2, 3, 4], [2, 3, 4, 5, 6]]]


def test_rows_without_a_time_are_not_evicted_by_time() -> None:
    window = Buffered("sliding", ByTime(SECOND), ByCount(2), order="insert-fire-evict")
    assert played(window, (timed((1, None), (2, None)), NEVER)) == [[[1, 2]]]


def test_results_say_which_times_they_cover_and_which_they_are() -> None:
    operator = an_operator(Buffered("tumbling", ByCount(2)), panes=True)
    steps = play(operator, (timed((1, 7), (2, 5), (3, 9), (4, 8)), NEVER))
    rows = steps[0].output.rows(named=True)
    assert [(row["window_start"].timestamp(), row["window_end"].timestamp()) for row in rows] == [
        (0.005, 0.008),
        (0.008, 0.010),
    ]
    assert [(row["_time"], row["pane_index"], row["pane_first"]) for row in rows] == [
        (7, 0, True),
        (9, 1, False),
    ]
    assert steps[0].output.columns[:4] == ["key", "window_start", "window_end", "list"]


def test_each_key_has_a_buffer_of_its_own_and_results_come_in_order_of_arrival() -> None:
    rows = delta(*({"key": "ab"[n % 2], "n": n} for n in range(8)))
    steps = play(an_operator(Buffered("tumbling", ByCount(2))), (rows, NEVER))
    assert steps[0].output["list"].to_list() == [[0, 2], [1, 3], [4, 6], [5, 7]]


def test_without_keys_all_rows_share_a_buffer() -> None:
    rows = delta(*({"key": str(n), "n": n} for n in range(5)))
    steps = play(an_operator(Buffered("tumbling", ByCount(2)), keys=()), (rows, NEVER))
    assert steps[0].output["list"].to_list() == [[0, 1], [2, 3]]


POLICIES: Sequence[Policy] = (ByCount(3), ByDelta("x", 4), MARK, ByTime(5 * SECOND))
WINDOWS = [
    *(Buffered("tumbling", evict) for evict in POLICIES),
    *(Buffered("sliding", evict, fire) for evict in POLICIES for fire in (None, *POLICIES)),
    Buffered("sliding", ByCount(4), ByCount(3), partial=False),
    Buffered("sliding", ByDelta("x", 4), ByCount(2), partial=False),
    Buffered("sliding", ByTime(SECOND), ByCount(2), order="insert-fire-evict"),
    Buffered("sliding", ByCount(2), ByCount(2), order="fire-evict-insert"),
]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_any_split_into_batches_and_a_restart_give_the_same_results(window: Buffered) -> None:
    chance = random.Random(4)
    rows: list[dict[str, Any]] = [
        {
            "key": chance.choice("ab"),
            "n": n,
            "x": float(n + chance.randint(-2, 2)),
            "mark": chance.random() < 0.2,
            "t": n * 400 + chance.randint(0, 900),
        }
        for n in range(60)
    ]
    [whole] = play(an_operator(window), (delta(*rows), NEVER))
    state, found = State(), []
    while rows:
        size = chance.randint(1, 7)
        # A new operator each time: what it knows is in its state.
        step = an_operator(window).step(state, delta(*rows[:size]), NEVER)
        found += step.output["list"].to_list()
        state, rows = step.state, rows[size:]
    assert found == whole.output["list"].to_list()
    assert state.rows == whole.state.rows


@pytest.mark.parametrize("domain", ["processing", "ingestion"])
def test_other_times_than_that_of_the_event_may_count(domain: Domain) -> None:
    operator = an_operator(Buffered("tumbling", ByCount(1), domain=domain))
    rows = delta({"key": "a", "n": 1, "t": 5, "taken": 70})
    [step] = play(operator, (rows, Time(clock=90)))
    assert step.output["_time"].to_list() == [90 if domain == "processing" else 70]


def test_rows_are_not_packed_since_their_order_decides() -> None:
    rows = numbers(1, 2)
    assert an_operator(Buffered("tumbling", ByCount(2))).pack(rows, 0) is rows
