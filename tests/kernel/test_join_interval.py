from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.kernel.join_reach import Reach, reach_of
from penstock.kernel.port import END_OF_TIME, Counts
from penstock.model.expr import Call, Column
from penstock.model.join import How
from penstock.model.join_bound import Interval
from tests.kernel.joins import JoinBench, a_join, ms, within


def test_rows_meet_that_are_near_enough_on_either_side() -> None:
    bench = JoinBench(a_join("inner", within(1, 2)))
    bench.both([(1, 10, 5)], [(1, 3, 3), (1, 4, 4), (1, 5, 5), (1, 7, 7), (1, 8, 8), (2, 6, 5)])
    assert bench.new() == [(1, 1, 10, 4, 5), (1, 1, 10, 5, 5), (1, 1, 10, 7, 7)]
    bench.left((1, 20, 6))
    assert bench.new() == [(1, 1, 20, 5, 6), (1, 1, 20, 7, 7), (1, 1, 20, 8, 8)]
    bench.right((1, 6, 6))
    assert bench.new() == [(1, 1, 10, 6, 6), (1, 1, 20, 6, 6)]


def test_a_pair_has_the_later_of_both_times() -> None:
    bench = JoinBench(a_join("inner", within(5, 5)))
    bench.both([(1, 10, 5)], [(1, 3, 7)])
    assert bench.steps[0].output.select("_time", "_taken").rows() == [(7, 1007)]


def test_an_open_end_does_not_belong_to_the_interval() -> None:
    bench = JoinBench(a_join("inner", within(1, 2, is_open=True)))
    bench.both([(1, 10, 5)], [(1, 4, 4), (1, 5, 5), (1, 6, 6), (1, 7, 7)])
    assert [row[3] for row in bench.new()] == [5, 6]


@pytest.mark.parametrize(
    ("before", "after", "is_open", "expected"),
    [
        (1.0, 2.0, False, Reach(-1, 2)),
        (1.5, 2.5, False, Reach(-1, 2)),
        (1.5, 2.5, True, Reach(-1, 2)),
        (1.0, 2.0, True, Reach(0, 1)),
        (-2.0, 5.0, False, Reach(2, 5)),
        (-1.5, 5.0, False, Reach(2, 5)),
        (5.0, -2.0, True, Reach(-4, -3)),
        (0.0, 0.0, True, Reach(1, -1)),
    ],
)
def test_an_interval_counts_whole_milliseconds(
    before: float, after: float, *, is_open: bool, expected: Reach
) -> None:
    assert reach_of(Interval(ms(before), ms(after), is_open, is_open)) == expected


def test_an_interval_of_no_time_at_all_gives_nothing() -> None:
    bench = JoinBench(a_join("full", within(0, 0, is_open=True), eager=True))
    bench.both([(1, 10, 5)], [(1, 4, 5)])
    assert bench.new() == [(1, 1, None, 4, 5), (1, 1, 10, None, 5)]


def test_a_row_alone_comes_when_no_partner_can_come_any_more() -> None:
    bench = JoinBench(a_join("full", within(1, 2)))
    bench.both([(1, 10, 5), (2, 20, 5)], [(1, 11, 6), (3, 30, 5)])
    assert bench.new() == [(1, 1, 10, 11, 6)]
    bench.watermark(6)
    assert bench.new() == []
    bench.watermark(7)
    assert bench.new() == [(1, 3, None, 30, 5)]
    bench.watermark(8)
    assert bench.new() == [(1, 2, 20, None, 5)]
    assert bench.state.tables == {}


def test_rows_alone_come_by_their_time_and_the_right_one_first() -> None:
    bench = JoinBench(a_join("full", within(2, 2)))
    bench.both([(1, 1, 6), (2, 2, 5), (3, 3, 5)], [(4, 4, 6), (5, 5, 5)])
    bench.watermark(100)
    assert [(row[1], row[-1]) for row in bench.new()] == [(5, 5), (2, 5), (3, 5), (4, 6), (1, 6)]


def test_an_eager_row_alone_is_taken_back_when_a_partner_comes() -> None:
    bench = JoinBench(a_join("left", within(1, 1), eager=True, changelog=(False, True)))
    bench.left((1, 10, 5))
    assert bench.new() == [(1, 1, 10, None, 5)]
    bench.right((1, 11, 6))
    assert bench.new() == [(-1, 1, 10, None, 5), (1, 1, 10, 11, 6)]
    bench.right((1, 12, 6))
    assert bench.new() == [(1, 1, 10, 12, 6)]
    bench.right((1, 11, 6, -1))
    assert bench.new() == [(-1, 1, 10, 11, 6)]
    bench.right((1, 12, 6, -1))
    assert bench.new() == [(-1, 1, 10, 12, 6), (1, 1, 10, None, 5)]


def test_a_partner_in_the_same_batch_lets_no_row_come_alone() -> None:
    bench = JoinBench(a_join("full", within(1, 1), eager=True))
    bench.both([(1, 10, 5)], [(1, 11, 5)])
    assert bench.new() == [(1, 1, 10, 11, 5)]


def test_a_row_behind_the_watermark_is_late_and_not_joined() -> None:
    bench = JoinBench(a_join("left", within(5, 5)))
    bench.right((1, 1, 10))
    bench.watermark(10)
    bench.both([(1, 2, 9), (1, 3, 10)], [(1, 4, 9)])
    assert bench.new() == [(1, 1, 3, 1, 10)]
    step = bench.steps[-1]
    assert step.late is not None
    assert step.late_right is not None
    assert step.late.select("k", "a", "_time").rows() == [(1, 2, 9)]
    assert step.late_right.select("k", "b", "_time").rows() == [(1, 4, 9)]
    assert step.late.columns == ["k", "a", "_weight", "_time", "_taken", "_reason"]
    assert step.counts == Counts(taken=3, passed=1, late=2, given=1)


def test_rows_that_earlier_steps_give_late_are_waited_for() -> None:
    bench = JoinBench(a_join("left", within(1, 1)), keep_late=10)
    bench.left((1, 10, 5), (2, 20, 5))
    bench.watermark(15)
    bench.right((1, 11, 6))
    assert bench.new() == [(1, 1, 10, 11, 6)]
    bench.watermark(16)
    assert bench.new() == []
    bench.watermark(17)
    assert bench.new() == [(1, 2, 20, None, 5)]


def test_when_the_input_ends_no_row_is_waited_for() -> None:
    bench = JoinBench(a_join("left", within(1, 1)), keep_late=END_OF_TIME)
    bench.left((1, 10, 5), (2, 20, END_OF_TIME - 1))
    bench.watermark(2**40)
    assert bench.new() == []
    bench.watermark(END_OF_TIME)
    assert bench.new() == [(1, 1, 10, None, 5), (1, 2, 20, None, END_OF_TIME - 1)]
    assert bench.state.tables == {}


def test_with_lateness_of_its_own_a_result_comes_on_time_and_is_corrected() -> None:
    relation = a_join("left", within(1, 1), keep_late=10)
    assert relation.retracts
    bench = JoinBench(relation, keep_late=10)
    bench.left((1, 10, 5))
    bench.watermark(7)
    assert bench.new() == [(1, 1, 10, None, 5)]
    bench.right((1, 11, 6))
    assert bench.new() == [(-1, 1, 10, None, 5), (1, 1, 10, 11, 6)]
    bench.left((1, 12, 4))
    assert bench.new() == [(1, 1, 12, None, 4)]
    bench.watermark(18)
    assert bench.state.tables == {}


@pytest.mark.parametrize(
    ("before", "after", "is_open", "buffers"),
    [
        (2, 1, True, [([2, 3, 4, 5], [1, 2, 3, 4, 5]), ([5], [4, 5]), ([], [])]),
        (0, 1, False, [([1, 2, 3, 4, 5], [2, 3, 4, 5]), ([4, 5], [5]), ([], [])]),
    ],
)
def test_rows_leave_as_they_do_in_flink(
    before: int, after: int, *, is_open: bool, buffers: list[tuple[list[int], list[int]]]
) -> None:
    bench = JoinBench(a_join("inner", within(before, after, is_open=is_open)))
    rows = [(1, 0, time) for time in range(1, 6)]
    bench.both(rows, rows)
    for watermark, expected in zip((1, 4, 6), buffers, strict=True):
        # Flink's watermark says that nothing up to it will come, ours that nothing before it.
        bench.watermark(watermark + 1)
        held = tuple([row[2] for row in bench.held(name)] for name in ("left", "right"))
        assert held == expected


def test_a_row_is_held_as_long_as_it_may_be_taken_back() -> None:
    bench = JoinBench(a_join("left", within(10, -5), changelog=True))
    bench.left((1, 1, 100))
    bench.watermark(98)
    assert bench.new() == [(1, 1, 1, None, 100)]
    bench.left((1, 1, 100, -1))
    assert bench.new() == [(-1, 1, 1, None, 100)]
    assert bench.state.tables == {}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", []),
        ("left", [(1, None, 1, None, 5)]),
        ("right", [(1, None, None, 2, 6)]),
        ("full", [(1, None, 1, None, 5), (1, None, None, 2, 6)]),
        ("semi", []),
        ("anti", [(1, None, 1, 5)]),
    ],
)
@pytest.mark.parametrize("eager", [False, True])
def test_a_null_key_equals_nothing(
    how: How, expected: list[tuple[int | None, ...]], *, eager: bool
) -> None:
    bench = JoinBench(a_join(how, within(5, 5), eager=eager))
    bench.both([(None, 1, 5)], [(None, 2, 6)])
    assert bench.new() == expected
    assert bench.counts == Counts(
        taken=2, passed=len(expected), filtered=2 - len(expected), given=len(expected)
    )
    bench.watermark(END_OF_TIME)
    assert bench.new() == []


def test_semi_gives_a_row_once_and_anti_those_left_over() -> None:
    semi, anti = (JoinBench(a_join(how, within(1, 1))) for how in ("semi", "anti"))
    for bench in (semi, anti):
        bench.left((1, 1, 5), (2, 2, 5))
        bench.right((1, 3, 6))
        bench.right((1, 4, 6), (1, 5, 4))
        bench.watermark(100)
    assert semi.new() == [(1, 1, 1, 5)]
    assert anti.new() == [(1, 2, 2, 5)]


def test_a_condition_decides_before_partners_are_counted() -> None:
    larger = Call("gt", (Column("b"), Column("a")))
    bench = JoinBench(a_join("full", within(5, 5), condition=larger, eager=True))
    bench.both([(1, 10, 5)], [(1, 10, 5)])
    assert bench.new() == [(1, 1, None, 10, 5), (1, 1, 10, None, 5)]
    bench.right((1, 11, 5))
    assert bench.new() == [(-1, 1, 10, None, 5), (1, 1, 10, 11, 5)]
    bench.right((1, None, 5))
    assert bench.new() == [(1, 1, None, None, 5)]


def test_rows_taken_back_take_back_their_pairs() -> None:
    bench = JoinBench(a_join("inner", within(5, 5), changelog=True))
    bench.both([(1, 10, 5), (1, 10, 5)], [(1, 11, 5)])
    assert bench.new() == [(1, 1, 10, 11, 5), (1, 1, 10, 11, 5)]
    bench.both([(1, 10, 5, -1)], [(1, 12, 5)])
    assert bench.new() == [(-1, 1, 10, 11, 5), (1, 1, 10, 12, 5)]
    bench.both([(1, 10, 5, -1)], [(1, 11, 5, -1), (1, 12, 5, -1)])
    assert sorted(bench.new()) == [(-1, 1, 10, 11, 5), (-1, 1, 10, 12, 5)]
    assert bench.state.tables == {}


def test_a_row_taken_back_before_it_comes_leaves_nothing() -> None:
    bench = JoinBench(a_join("left", within(5, 5), changelog=True))
    bench.left((1, 10, 5, -1))
    bench.left((1, 10, 5))
    assert bench.state.tables == {}
    bench.left((1, 11, 5, -1))
    bench.watermark(END_OF_TIME)
    assert bench.new() == []


def test_a_table_that_did_not_change_is_handed_on_as_it_is() -> None:
    bench = JoinBench(a_join("left", within(5, 5)))
    bench.both([(1, 10, 5)], [(2, 11, 5)])
    before = bench.state.tables
    bench.watermark(6)
    assert bench.state.tables["left"] is before["left"]
    bench.left((3, 12, 6))
    assert bench.state.tables["right"] is before["right"]


def test_a_step_taken_again_gives_the_same() -> None:
    bench = JoinBench(a_join("full", within(50, 50), eager=True, changelog=True))
    rows = [(n % 3, n % 5, n % 7) for n in range(60)]
    bench.both(rows, rows)
    state, time = bench.state, bench.time
    for _ in range(3):
        bench.state, bench.time = state, time
        bench.both([(1, 1, 1, -1), (2, 2, 2)], rows[:9])
        first = bench.steps[1]
        assert bench.steps[-1].output.equals(first.output)
        assert all(
            table.equals(first.state.tables[name])
            for name, table in bench.steps[-1].state.tables.items()
        )


def test_times_far_apart_are_told_apart() -> None:
    far = END_OF_TIME - 1
    bench = JoinBench(a_join("inner", Interval(timedelta(days=1), timedelta(days=1))))
    bench.both([(1, 1, far), (1, 2, 0), (2, 3, -(2**50))], [(1, 4, far), (1, 5, 7), (2, 6, 8)])
    assert sorted(bench.new()) == [(1, 1, 1, 4, far), (1, 1, 2, 5, 7)]
