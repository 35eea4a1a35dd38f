from __future__ import annotations

from typing import Any

from penstock.model.refine import Refinement
from penstock.model.trigger import EACH_ROW, AfterRows, Always, Repeat, WhenClosed
from penstock.model.window import Custom, Session
from tests.kernel.bench import LIST, Bench, ms

GAP = Session(ms(10))
EACH_BATCH = Repeat(Always())
RETRACTING = Refinement("retracting")


def standing(bench: Bench) -> list[tuple[Any, ...]]:
    """Give the results that stand, having seen that nothing was taken back twice."""
    left: list[tuple[Any, ...]] = []
    for pane in bench.panes():
        result = (pane.key, pane.window, pane.value)
        if pane.weight > 0:
            left.append(result)
        else:
            left.remove(result)
    return sorted(left)


def test_a_session_comes_apart_when_the_row_between_is_taken_back() -> None:
    for trigger in (EACH_BATCH, EACH_ROW, None):
        bench = Bench(GAP, trigger, RETRACTING, keep_late=10**6, changelog=True)
        bench.rows(("a", 1, 0), ("a", 2, 8), ("a", 4, 16), ("b", 8, 0))
        bench.rows(("a", 2, 8, -1))
        bench.end()
        assert standing(bench) == [("a", (0, 10), 1), ("a", (16, 26), 4), ("b", (0, 10), 8)]


def test_a_session_ends_earlier_when_its_last_row_is_taken_back() -> None:
    bench = Bench(GAP, EACH_BATCH, RETRACTING, keep_late=10**6, changelog=True)
    bench.rows(("a", 1, 0), ("a", 2, 8))
    bench.rows(("a", 2, 8, -1), ("a", 5, 3))
    assert standing(bench) == [("a", (0, 13), 6)]


def test_a_session_of_no_rows_is_gone() -> None:
    bench = Bench(GAP, EACH_BATCH, RETRACTING, keep_late=10**6, changelog=True)
    bench.rows(("a", 1, 0))
    bench.rows(("a", 1, 0, -1))
    assert bench.values() == [1, -1]
    bench.end()
    assert bench.values() == []
    assert bench.state.rows == 0


def test_a_row_taken_back_before_it_comes_does_not_take_another_with_it() -> None:
    bench = Bench(GAP, EACH_BATCH, RETRACTING, measures=[LIST], changelog=True)
    bench.rows(("a", 1, 0), ("a", 2, 0, -1))
    bench.rows(("a", 3, 0))
    bench.rows(("a", 2, 0))
    bench.end()
    assert bench.output["values"].to_list()[-1] == [1, 3]


def test_a_row_may_be_taken_back_before_it_comes() -> None:
    bench = Bench(GAP, EACH_BATCH, RETRACTING, measures=[LIST], changelog=True)
    bench.rows(("a", 1, 0, -1), ("a", 2, 3))
    bench.rows(("a", 1, 0), ("a", 4, 4))
    bench.rows(("b", 1, 0, -1))
    panes = bench.panes()
    assert [(pane.value, pane.window, pane.weight) for pane in panes] == [
        ([2], (3, 13), 1),
        ([2], (3, 13), -1),
        ([2, 4], (3, 14), 1),
    ]
    bench.end()
    assert [pane.timing for pane in bench.panes()] == ["early", "on-time"]
    assert bench.state.rows == 0


def test_taking_back_a_row_of_a_session_that_has_left_is_late() -> None:
    bench = Bench(GAP, changelog=True)
    bench.rows(("a", 1, 0))
    bench.watermark(20)
    bench.rows(("a", 1, 0, -1), ("a", 2, 15, -1))
    bench.end()
    assert bench.late_rows() == [("a", 1, "expired")]
    assert bench.values() == [1]
    assert bench.state.rows == 0


def test_discarded_panes_of_a_session_that_came_apart_hold_what_is_new() -> None:
    bench = Bench(GAP, EACH_BATCH, Refinement("discarding"), keep_late=10**6, changelog=True)
    bench.rows(("a", 1, 0), ("a", 2, 8))
    bench.rows(("a", 2, 8, -1))
    bench.rows(("a", 16, 5))
    assert bench.values() == [3, -2, 16]


def test_a_finished_session_takes_no_part_in_others() -> None:
    bench = Bench(GAP, AfterRows(2), measures=[LIST], changelog=True)
    bench.rows(("a", 1, 0), ("a", 2, 1), ("a", 3, 2))
    bench.end()
    assert [(p.window, p.value) for p in bench.panes()] == [((0, 11), [1, 2]), ((2, 12), [3])]
    assert bench.state.rows == 0


def test_a_session_that_does_not_reopen_refuses_rows_once_it_is_finished() -> None:
    closes = Session(ms(10), reopens=False)
    bench = Bench(closes, WhenClosed(), keep_late=100, measures=[LIST], changelog=True)
    bench.rows(("a", 1, 0))
    bench.watermark(10)
    bench.rows(("a", 2, 5), ("a", 3, 40))
    bench.end()
    assert bench.late_rows() == [("a", 2, "finished")]
    assert [p.value for p in bench.panes()] == [[1], [3]]


def test_windows_of_the_users_own_are_made_anew_of_what_is_left() -> None:
    def all_in_one(windows: Any) -> list[Any]:  # noqa: ANN401
        return [(windows, (min(w[0] for w in windows), max(w[1] for w in windows)))]

    window = Custom("one", lambda time, _: [(time, time + 1)], all_in_one)
    bench = Bench(window, EACH_BATCH, RETRACTING, keep_late=10**6, changelog=True)
    bench.rows(("a", 1, 10), ("a", 2, 20))
    bench.rows(("a", 2, 20, -1))
    assert standing(bench) == [("a", (10, 11), 1)]
