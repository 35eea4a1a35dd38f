from __future__ import annotations

import pytest

from penstock.kernel.port import END_OF_TIME, Counts
from penstock.model.expr import Call, Column, Literal
from penstock.model.join import How
from penstock.model.join_bound import SameWindow
from penstock.model.window import Hopping, Session, Tumbling
from tests.kernel.joins import JoinBench, a_join, ms

TEN = SameWindow(Tumbling(ms(10)))
HOPS = SameWindow(Hopping(ms(10), ms(5)))
SESSIONS = SameWindow(Session(ms(3)))


def test_rows_meet_in_their_common_window_as_soon_as_both_are_there() -> None:
    bench = JoinBench(a_join("inner", TEN))
    bench.both([(1, 1, 9), (1, 2, 10)], [(1, 3, 0), (1, 4, 11), (2, 5, 0)])
    assert bench.new() == [(1, 1, 1, 3, 9), (1, 1, 2, 4, 19)]


def test_a_row_alone_comes_when_its_window_closes() -> None:
    bench = JoinBench(a_join("full", TEN))
    bench.both([(1, 1, 9), (2, 2, 3)], [(1, 3, 0), (3, 4, 11)])
    bench.new()
    bench.watermark(9)
    assert bench.new() == []
    bench.watermark(10)
    assert bench.new() == [(1, 2, 2, None, 9)]
    assert bench.held("left") == []
    bench.watermark(END_OF_TIME)
    assert bench.new() == [(1, 3, None, 4, 19)]
    assert bench.state.tables == {}


def test_an_eager_row_alone_is_taken_back_in_its_window() -> None:
    bench = JoinBench(a_join("left", TEN, eager=True))
    bench.left((1, 1, 3))
    bench.right((1, 2, 12))
    bench.right((1, 3, 4))
    assert bench.new() == [(1, 1, 1, None, 9), (-1, 1, 1, None, 9), (1, 1, 1, 3, 9)]


def test_hopping_windows_give_a_pair_once_for_each_window_they_share() -> None:
    bench = JoinBench(a_join("inner", HOPS))
    bench.both([(1, 1, 6)], [(1, 2, 7), (1, 3, 12), (1, 4, 16)])
    assert sorted(bench.new()) == [(1, 1, 1, 2, 9), (1, 1, 1, 2, 14), (1, 1, 1, 3, 14)]


def test_a_row_may_be_alone_in_one_window_and_not_in_another() -> None:
    bench = JoinBench(a_join("left", HOPS))
    bench.both([(1, 1, 6)], [(1, 3, 12)])
    bench.watermark(END_OF_TIME)
    assert bench.new() == [(1, 1, 1, 3, 14), (1, 1, 1, None, 9)]


def test_a_row_is_late_when_all_its_windows_are_closed() -> None:
    bench = JoinBench(a_join("inner", HOPS))
    bench.watermark(10)
    bench.both([(1, 1, 4), (1, 2, 6)], [(1, 3, 7)])
    assert bench.new() == [(1, 1, 2, 3, 14)]
    step = bench.steps[-1]
    assert step.late is not None
    assert step.late.select("a", "_reason").rows() == [(1, "its window is closed")]
    assert step.late_right is None
    assert step.counts == Counts(taken=3, passed=2, late=1, given=1, dropped_pairs=2)


def test_with_lateness_of_its_own_a_window_is_corrected_until_it_leaves() -> None:
    bench = JoinBench(a_join("left", TEN, keep_late=5), keep_late=5)
    bench.left((1, 1, 3))
    bench.watermark(10)
    bench.right((1, 2, 4))
    assert bench.new() == [(1, 1, 1, None, 9), (-1, 1, 1, None, 9), (1, 1, 1, 2, 9)]
    bench.watermark(15)
    assert bench.state.tables == {}
    bench.right((1, 3, 4))
    assert bench.counts.late == 1


def test_rows_between_two_windows_are_counted() -> None:
    bench = JoinBench(a_join("full", SameWindow(Hopping(ms(2), ms(10)))))
    bench.both([(1, 1, 1), (1, 2, 5)], [(1, 3, 0)])
    assert bench.new() == [(1, 1, 1, 3, 1)]
    assert bench.counts == Counts(taken=3, passed=2, filtered=1, given=1)


@pytest.mark.parametrize("bound", [TEN, HOPS, SESSIONS])
def test_a_null_key_comes_out_alone_at_once_in_each_window(bound: SameWindow) -> None:
    bench = JoinBench(a_join("left", bound))
    bench.both([(None, 1, 6)], [(None, 2, 6)])
    times = {TEN: [9], HOPS: [9, 14], SESSIONS: [8]}[bound]
    assert bench.new() == [(1, None, 1, None, time) for time in times]
    assert bench.counts == Counts(taken=2, passed=1, filtered=1, given=len(times))


def test_a_window_of_the_clock_closes_by_the_clock() -> None:
    bench = JoinBench(a_join("left", SameWindow(Tumbling(ms(10), domain="processing"))))
    bench.clock(3)
    bench.both([(1, 1, 500), (2, 2, 0)], [(1, 3, 7)])
    assert bench.new() == [(1, 1, 1, 3, 9)]
    assert bench.steps[-1].wake_at == 10
    bench.watermark(1000)
    assert bench.new() == []
    bench.clock(10)
    assert bench.new() == [(1, 2, 2, None, 9)]
    assert bench.steps[-1].wake_at is None
    bench.left((1, 4, 0))
    bench.watermark(END_OF_TIME)
    assert bench.new() == [(1, 1, 4, None, 19)]


def test_sessions_of_the_clock_are_woken_for() -> None:
    bench = JoinBench(a_join("full", SameWindow(Session(ms(10), domain="processing"))))
    bench.left((1, 1, 0))
    assert bench.steps[-1].wake_at == 10
    bench.clock(6)
    bench.right((1, 2, 0))
    bench.clock(10)
    assert bench.new() == []
    assert bench.steps[-1].wake_at == 16
    bench.clock(16)
    assert bench.new() == [(1, 1, 1, 2, 15)]


def test_a_session_is_made_of_the_rows_of_both_sides() -> None:
    bench = JoinBench(a_join("inner", SESSIONS))
    bench.both([(1, 1, 0), (1, 2, 6)], [(1, 3, 3)])
    assert bench.new() == []
    bench.watermark(8)
    assert bench.new() == []
    bench.watermark(9)
    assert sorted(bench.new()) == [(1, 1, 1, 3, 8), (1, 1, 2, 3, 8)]
    assert bench.state.tables == {}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("left", [(1, 1, 1, 2, 3), (1, 1, 3, None, 12)]),
        ("right", [(1, 1, 1, 2, 3), (1, 1, None, 4, 22)]),
        ("semi", [(1, 1, 1, 3)]),
        ("anti", [(1, 1, 3, 12)]),
    ],
)
def test_sessions_know_all_kinds_of_join(how: How, expected: list[tuple[int, ...]]) -> None:
    bench = JoinBench(a_join(how, SESSIONS, eager=True))
    bench.both([(1, 1, 0), (1, 3, 10)], [(1, 2, 1), (1, 4, 20)])
    bench.watermark(END_OF_TIME)
    assert bench.new() == expected


def test_a_row_taken_back_may_part_a_session() -> None:
    bench = JoinBench(a_join("inner", SESSIONS, changelog=True))
    bench.both([(1, 1, 0), (1, 2, 3)], [(1, 3, 6)])
    bench.left((1, 2, 3, -1))
    bench.watermark(END_OF_TIME)
    assert bench.new() == []
    assert bench.state.tables == {}


def test_a_late_row_is_saved_by_a_session_that_it_meets() -> None:
    bench = JoinBench(a_join("inner", SESSIONS))
    bench.left((1, 1, 10))
    bench.watermark(12)
    bench.right((1, 2, 8), (2, 3, 8), (1, 4, 2))
    assert bench.counts.late == 2
    step = bench.steps[-1]
    assert step.late_right is not None
    assert step.late_right.columns == ["k", "b", "_weight", "_time", "_taken", "_reason"]
    bench.watermark(13)
    assert bench.new() == [(1, 1, 1, 2, 12)]


def test_a_condition_holds_in_sessions_too() -> None:
    less = Call("lt", (Column("a"), Literal(2)))
    bench = JoinBench(a_join("left", SESSIONS, condition=less))
    bench.both([(1, 1, 0), (1, 2, 0)], [(1, 3, 1)])
    bench.watermark(END_OF_TIME)
    assert bench.new() == [(1, 1, 1, 3, 3), (1, 1, 2, None, 3)]
