from __future__ import annotations

import pytest

from penstock.kernel.port import END_OF_TIME
from penstock.model.trigger import AfterRows, WhenClosed
from penstock.model.window import Custom, Hopping, Session, Tumbling
from tests.kernel.bench import LIST, Bench, ms

TEN = Tumbling(ms(10))


@pytest.mark.parametrize("packed", [False, True])
def test_a_row_whose_window_has_left_is_late(packed: bool) -> None:
    bench = Bench(TEN, keep_late=5, packed=packed)
    bench.watermark(14)
    bench.rows(("a", 1, 9))
    bench.watermark(15)
    bench.rows(("a", 2, 9), ("a", 3, 10))
    assert bench.late_rows() == [("a", 2, "expired")]
    assert (bench.counts.taken, bench.counts.late, bench.counts.passed) == (3, 1, 2)
    assert bench.values() == [1]


@pytest.mark.parametrize("packed", [False, True])
def test_a_row_whose_window_is_finished_is_late(packed: bool) -> None:
    bench = Bench(TEN, WhenClosed(), keep_late=50, packed=packed)
    bench.rows(("a", 1, 1), ("b", 1, 12))
    bench.watermark(10)
    bench.rows(("a", 2, 2), ("b", 2, 11), ("c", 4, 3))
    bench.watermark(60)
    bench.rows(("a", 3, 2))
    bench.end()
    assert bench.late_rows() == [("a", 2, "finished"), ("a", 3, "expired")]
    assert [(pane.key, pane.value) for pane in bench.panes()] == [("a", 1), ("c", 4), ("b", 3)]
    assert bench.state.rows == 0


def test_a_finished_window_is_kept_in_mind_until_it_leaves() -> None:
    bench = Bench(TEN, AfterRows(2), keep_late=5)
    bench.rows(("a", 1, 1), ("a", 2, 1), ("a", 3, 1))
    assert bench.late_rows() == [("a", 3, "finished")]
    assert bench.state.tables["fold"].height == 0
    bench.watermark(15)
    assert bench.state.rows == 0
    assert bench.values() == [3]


@pytest.mark.parametrize("packed", [False, True])
def test_a_row_is_late_when_all_its_windows_have_left(packed: bool) -> None:
    bench = Bench(Hopping(ms(10), ms(5)), packed=packed)
    bench.watermark(12)
    bench.rows(("a", 1, 4), ("a", 2, 7), ("a", 4, 12))
    bench.end()
    assert bench.late_rows() == [("a", 1, "expired")]
    assert bench.counts.dropped_pairs == 1
    assert [(pane.window, pane.value) for pane in bench.panes()] == [((5, 15), 6), ((10, 20), 4)]


def test_windows_kept_for_late_rows_lose_single_pairs_too() -> None:
    bench = Bench(Hopping(ms(10), ms(5)), WhenClosed(), keep_late=4)
    bench.rows(("a", 1, 3), ("a", 1, 7))
    bench.watermark(11)
    bench.rows(("a", 8, 7), ("a", 16, 6), ("a", 32, 4))
    assert bench.late_rows() == [("a", 32, "finished")]
    assert bench.counts.dropped_pairs == 2
    bench.end()
    assert [(pane.window, pane.value) for pane in bench.panes()] == [
        ((-5, 5), 1),
        ((0, 10), 2),
        ((5, 15), 25),
    ]


def test_after_the_end_of_the_input_every_row_is_late() -> None:
    for window in (TEN, Session(ms(5)), None):
        bench = Bench(window, None if window else AfterRows(1, exact=False))
        bench.watermark(END_OF_TIME)
        bench.rows(("a", 1, 1))
        assert bench.counts.late == 1, window


def test_a_row_that_makes_the_users_windows_raise_is_a_dead_letter() -> None:
    def inverse(time: int, _: dict[str, object]) -> list[tuple[int, int]]:
        return [(0, 100 // time)]

    bench = Bench(Custom("inverse", inverse), measures=[LIST])
    bench.rows(("a", 1, 2), ("a", 2, 0), ("a", 3, 2))
    bench.end()
    (letter,) = bench.dead[0].rows(named=True)
    assert letter["step"] == "inverse"
    assert letter["error"] == "ZeroDivisionError: integer division or modulo by zero"
    assert "in inverse" in letter["traceback"]
    assert letter["row"] == '{"k":"a","v":2}'
    assert (bench.counts.dead, bench.counts.passed) == (1, 2)
    assert [pane.value for pane in bench.panes()] == [[1, 3]]


def test_a_row_of_no_window_is_filtered() -> None:
    bench = Bench(Custom("even", lambda time, _: [] if time % 2 else [(time, time + 1)]))
    bench.rows(("a", 1, 1), ("a", 2, 2))
    assert (bench.counts.filtered, bench.counts.passed) == (1, 1)
    gaps = Bench(Hopping(ms(2), ms(5), gaps=True))
    gaps.rows(("a", 1, 1), ("a", 2, 2), ("a", 3, 6))
    gaps.end()
    assert gaps.counts.filtered == 1
    assert gaps.values() == [1, 3]
