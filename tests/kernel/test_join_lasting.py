from __future__ import annotations

from typing import Literal

import pytest

from penstock.errors import ModelError
from penstock.model.join_bound import Lasting
from tests.kernel.joins import JoinBench, a_join


def test_a_row_is_met_from_its_time_to_the_one_it_names() -> None:
    bench = JoinBench(a_join("inner", Lasting("left", "a")))
    bench.both([(1, 8, 5), (2, 5, 5)], [(1, n, n) for n in (4, 5, 8, 9)])
    assert [row[3] for row in bench.new()] == [5, 8]
    bench.right((1, 6, 6), (2, 5, 5), (2, 6, 6))
    assert [row[1:4] for row in bench.new()] == [(1, 8, 6), (2, 5, 5)]


def test_the_right_side_may_last_as_well() -> None:
    bench = JoinBench(a_join("inner", Lasting("right", "b")))
    bench.right((1, 8, 5))
    bench.left((1, 0, 4), (1, 1, 5), (1, 2, 8), (1, 3, 9))
    assert [row[2] for row in bench.new()] == [1, 2]


def test_rows_leave_when_the_watermark_has_passed_what_they_name() -> None:
    bench = JoinBench(a_join("inner", Lasting("left", "a")))
    bench.both([(1, 50, 5), (2, 20, 5)], [(3, 0, 10)])
    bench.watermark(21)
    assert bench.held("left") == [(1, 50, 5, 1)]
    # Rows before it came in time: nothing can last that it would have met.
    assert bench.held("right") == []
    bench.watermark(51)
    assert bench.held("left") == []


def test_a_row_waits_for_one_that_began_before_it_and_comes_later() -> None:
    bench = JoinBench(a_join("inner", Lasting("left", "a")))
    bench.right((1, 7, 7))
    bench.watermark(6)
    bench.left((1, 9, 6))
    assert bench.new() == [(1, 1, 9, 7, 7)]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_row_that_names_no_time_is_never_met(side: Literal["left", "right"]) -> None:
    bench = JoinBench(a_join("inner", Lasting(side, "a" if side == "left" else "b")))
    bench.both([(1, None, 5)], [(1, None, 5)])
    assert bench.new() == []


def test_a_join_that_lasts_until_a_time_has_pairs_only() -> None:
    with pytest.raises(ModelError, match="JOIN_LASTING"):
        a_join("left", Lasting("left", "a"))
