from __future__ import annotations

import polars as pl
import pytest

from penstock.kernel.port import END_OF_TIME, Counts, State, Time
from penstock.model.expr import Call, Column
from penstock.model.join import How
from penstock.model.join_bound import Whole
from tests.kernel.joins import JoinBench, a_join, rows_of


def tables(how: How) -> JoinBench:
    return JoinBench(a_join(how, Whole(), changelog=True))


def test_tables_meet_whenever_their_rows_come() -> None:
    bench = tables("inner")
    bench.left((1, 10, 5))
    bench.watermark(END_OF_TIME)
    bench.right((1, 11, 1))
    assert bench.new() == [(1, 1, 10, 11, 5)]
    assert bench.counts.late == 0
    bench.right((1, 11, 9, -1), (1, 12, 9))
    assert bench.new() == [(-1, 1, 10, 11, 5), (1, 1, 10, 12, 9)]


def test_a_row_without_a_partner_comes_at_once_and_is_taken_back() -> None:
    bench = tables("full")
    bench.right((2, 20, 1))
    bench.left((1, 10, 2))
    bench.left((3, 30, 3))
    assert bench.new() == [(1, 2, None, 20, 1), (1, 1, 10, None, 2), (1, 3, 30, None, 3)]
    bench.right((3, 31, 4))
    assert bench.new() == [(-1, 3, 30, None, 3), (1, 3, 30, 31, 4)]
    bench.right((3, 31, 4, -1))
    assert bench.new() == [(-1, 3, 30, 31, 4), (1, 3, 30, None, 4)]


def test_a_batch_gives_the_net_difference() -> None:
    bench = tables("left")
    bench.both([(1, 10, 5)], [(1, 11, 5)])
    bench.new()
    bench.both([(1, 10, 6, -1), (1, 10, 6)], [(1, 11, 6, -1), (1, 12, 6), (1, 12, 6, -1)])
    assert bench.new() == [(-1, 1, 10, 11, 5), (1, 1, 10, None, 6)]
    bench.both([(1, 10, 7, -1), (1, 10, 7)], [])
    assert bench.new() == []


def test_what_is_taken_back_has_the_time_it_was_given_with() -> None:
    bench = tables("inner")
    bench.both([(1, 10, 3)], [(1, 11, 5)])
    bench.left((1, 10, 99, -1))
    assert bench.new() == [(1, 1, 10, 11, 5), (-1, 1, 10, 11, 5)]


@pytest.mark.parametrize(("how", "alone"), [("left", (1, 10, None)), ("anti", (1, 10))])
def test_a_row_left_alone_dates_from_when_that_happened(
    how: How, alone: tuple[int | None, ...]
) -> None:
    bench = tables(how)
    bench.both([(1, 10, 3)], [(1, 11, 5)])
    bench.new()
    bench.right((1, 11, 9, -1))
    assert bench.new()[-1] == (1, *alone, 9)
    bench.left((1, 10, 20, -1))
    assert bench.new() == [(-1, *alone, 9)]


def test_a_row_taken_back_says_when_it_ended() -> None:
    bench = tables("left")
    bench.left((1, 10, 3))
    bench.right((1, 11, 5))
    bench.left((1, 10, 8, -1))
    told = [step.output.select("_weight", "b", "_time", "_until").rows() for step in bench.steps]
    assert told == [
        [(1, None, 3, None)],
        [(-1, None, 3, 5), (1, 11, 5, None)],
        [(-1, 11, 5, 8)],
    ]


def test_what_a_table_says_of_an_end_counts() -> None:
    operator = tables("left").operator
    rows, gone = rows_of("a", [(1, 10, 3)]), rows_of("b", [(1, 11, 5, -1)])
    state = operator.step(State(), (rows, gone.with_columns(-pl.col("_weight"))), Time()).state
    gone = gone.with_columns(pl.lit(7, pl.Int64).alias("_until"))
    output = operator.step(state, (rows.clear(), gone), Time()).output
    assert output.select("_weight", "b", "_time", "_until").rows() == [
        (-1, 11, 5, 7),
        (1, None, 7, None),
    ]


def test_deletions_come_before_additions() -> None:
    bench = tables("inner")
    bench.both([(1, 10, 0), (2, 20, 0)], [(1, 1, 0), (2, 2, 0)])
    bench.new()
    bench.both([(2, 21, 0), (2, 20, 0, -1)], [(1, 3, 0), (1, 1, 0, -1)])
    assert [row[0] for row in bench.new()] == [-1, -1, 1, 1]


def test_rows_are_counted_as_often_as_they_are_there() -> None:
    bench = tables("inner")
    bench.both([(1, 10, 0), (1, 10, 0)], [(1, 1, 0), (1, 1, 0), (1, 1, 0)])
    assert bench.new() == [(1, 1, 10, 1, 0)] * 6
    assert bench.held("left") == [(1, 10, 0, 2)]
    bench.left((1, 10, 0, -1))
    assert bench.new() == [(-1, 1, 10, 1, 0)] * 3


def test_a_row_taken_back_before_it_was_added_is_owed() -> None:
    bench = tables("left")
    bench.left((1, 10, 0, -1))
    assert bench.new() == [(-1, 1, 10, None, 0)]
    bench.right((1, 11, 0))
    assert bench.new() == [(-1, 1, 10, 11, 0), (1, 1, 10, None, 0)]
    bench.left((1, 10, 0))
    assert bench.new() == [(1, 1, 10, 11, 0)]
    bench.right((1, 11, 0, -1))
    assert bench.state.tables == {}


@pytest.mark.parametrize(
    ("how", "first", "second"),
    [
        ("semi", [(1, 1, 10, 0)], [(-1, 1, 10, 0)]),
        ("anti", [(1, 2, 20, 0)], [(1, 1, 10, 0)]),
    ],
)
def test_semi_and_anti_change_with_the_last_partner(
    how: How, first: list[tuple[int, ...]], second: list[tuple[int, ...]]
) -> None:
    bench = tables(how)
    bench.both([(1, 10, 0), (2, 20, 0)], [(1, 1, 0), (1, 2, 0)])
    assert bench.new() == first
    bench.right((1, 1, 0, -1))
    assert bench.new() == []
    bench.right((1, 2, 0, -1))
    assert bench.new() == second


def test_a_null_key_comes_out_alone_and_is_taken_back_alone() -> None:
    bench = tables("left")
    bench.both([(None, 1, 0)], [(None, 2, 0)])
    bench.left((None, 1, 0, -1))
    assert bench.new() == [(1, None, 1, None, 0), (-1, None, 1, None, 0)]
    assert bench.counts == Counts(taken=3, passed=2, filtered=1, given=2)
    assert bench.state.tables == {}


def test_a_condition_holds_for_tables_too() -> None:
    larger = Call("gt", (Column("b"), Column("a")))
    bench = JoinBench(a_join("left", Whole(), changelog=True, condition=larger))
    bench.both([(1, 10, 0)], [(1, 10, 0)])
    assert bench.new() == [(1, 1, 10, None, 0)]
    bench.right((1, 11, 0))
    assert bench.new() == [(-1, 1, 10, None, 0), (1, 1, 10, 11, 0)]


def test_a_long_table_is_changed_in_place() -> None:
    bench = tables("inner")
    size = 10_000
    bench.left(*((key, 0, 0) for key in range(size)))
    before = bench.state.tables["left"]
    bench.left(*((key, 0, 0, -1) for key in range(5)), *((key, 1, 0) for key in range(5)))
    after = bench.state.tables["left"]
    assert after.height == size
    assert after[:5]["a"].to_list() == [1] * 5
    assert after[5:].equals(before[5:])
    assert bench.new() == []


def test_tables_in_many_pieces_are_put_together() -> None:
    bench = tables("inner")
    for key in range(40):
        bench.left((key, 0, 0))
    assert bench.state.tables["left"].n_chunks() <= 17
