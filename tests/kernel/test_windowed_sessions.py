from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from penstock.kernel.port import END_OF_TIME
from penstock.model.expr import Call, Column, Literal
from penstock.model.refine import Refinement
from penstock.model.trigger import (
    EACH_ROW,
    AfterDelay,
    AfterRow,
    AfterRows,
    Repeat,
    WhenClosed,
)
from penstock.model.window import Custom, Session, Span
from tests.kernel.bench import LIST, Bench, ms

GAP = Session(ms(10))


def test_rows_with_no_longer_pause_are_one_session() -> None:
    bench = Bench(GAP)
    bench.rows(("a", 1, 0), ("a", 2, 8), ("b", 4, 3), ("a", 8, 30))
    bench.rows(("a", 16, 25))
    bench.end()
    assert [(pane.key, pane.window, pane.value) for pane in bench.panes()] == [
        ("b", (3, 13), 4),
        ("a", (0, 18), 3),
        ("a", (25, 40), 24),
    ]


@pytest.mark.parametrize(("touching", "windows"), [(True, [(0, 20)]), (False, [(0, 10), (10, 20)])])
def test_sessions_that_touch_are_one_if_so_wished(touching: bool, windows: list[object]) -> None:
    bench = Bench(Session(ms(10), touching=touching))
    bench.rows(("a", 1, 0))
    bench.rows(("a", 2, 10))
    bench.end()
    assert [pane.window for pane in bench.panes()] == windows


def test_a_row_that_joins_sessions_gives_one_result_in_place_of_theirs() -> None:
    trigger = WhenClosed(AfterDelay(ms(5)), AfterRows(1))
    bench = Bench(GAP, trigger, Refinement("retracting"), keep_late=1000)
    bench.rows(("a", 1, 0), ("a", 2, 15), clock=0)
    bench.clock(5)
    assert [(pane.window, pane.value) for pane in bench.panes()] == [((0, 10), 1), ((15, 25), 2)]
    bench.rows(("a", 4, 7))
    bench.watermark(25)
    assert [(p.window, p.value, p.weight, p.index, p.timing) for p in bench.panes()] == [
        ((0, 10), 1, -1, 0, "early"),
        ((15, 25), 2, -1, 0, "early"),
        ((0, 25), 7, 1, 0, "on-time"),
    ]


def test_a_session_that_stays_the_same_goes_on_counting_its_panes() -> None:
    bench = Bench(GAP, WhenClosed(late=AfterRows(1)), keep_late=1000)
    bench.rows(("a", 1, 0), ("a", 1, 5))
    bench.watermark(20)
    bench.rows(("a", 2, 3))
    bench.rows(("a", 4, 8))
    assert [(p.window, p.index, p.solid, p.timing) for p in bench.panes()] == [
        ((0, 15), 0, 0, "on-time"),
        ((0, 15), 1, 1, "late"),
        ((0, 18), 0, 0, "late"),
    ]


def test_a_late_row_is_saved_by_a_session_that_it_meets() -> None:
    for packed in (False, True):
        bench = Bench(GAP, packed=packed)
        bench.rows(("a", 1, 25))
        bench.watermark(30)
        bench.rows(("a", 2, 18), ("a", 4, 5), ("b", 8, 19))
        bench.end()
        assert bench.late_rows() == [("a", 4, "expired"), ("b", 8, "expired")]
        assert [(pane.window, pane.value) for pane in bench.panes()] == [((18, 35), 3)]


def test_a_session_finished_by_its_trigger_takes_nothing_in_any_more() -> None:
    bench = Bench(GAP, AfterRows(2), measures=[LIST])
    bench.rows(("a", 1, 0), ("a", 2, 1))
    assert [pane.value for pane in bench.panes()] == [[1, 2]]
    bench.rows(("a", 3, 2))
    bench.end()
    assert [(pane.window, pane.value, pane.index) for pane in bench.panes()] == [((2, 12), [3], 0)]
    assert bench.state.rows == 0


def test_the_same_session_again_is_refused_once_its_trigger_is_finished() -> None:
    bench = Bench(GAP, AfterRows(2, exact=False), measures=[LIST])
    bench.rows(("a", 1, 0), ("a", 2, 8))
    bench.rows(("a", 3, 0), ("a", 4, 8), ("b", 5, 0))
    bench.rows(("a", 6, 0), ("a", 7, 9))
    assert [(p.window, p.value) for p in bench.panes()] == [((0, 18), [1, 2]), ((0, 19), [6, 7])]
    assert bench.late_rows() == [("a", 3, "finished"), ("a", 4, "finished")]


def test_a_session_that_does_not_reopen_refuses_all_that_meets_it() -> None:
    closes = replace(GAP, reopens=False)
    for exact in (False, True):
        bench = Bench(closes, AfterRows(2, exact=exact), measures=[LIST])
        bench.rows(("a", 1, 0), ("a", 2, 8))
        bench.rows(("a", 3, 12), ("a", 4, 40))
        bench.rows(("a", 5, 20))
        bench.end()
        assert [(p.window, p.value) for p in bench.panes()] == [((0, 18), [1, 2]), ((40, 50), [4])]
        assert bench.late_rows() == [("a", 3, "finished"), ("a", 5, "finished")]


def test_rows_counted_one_by_one_see_the_windows_as_they_were() -> None:
    bench = Bench(GAP, EACH_ROW)
    bench.rows(("a", 1, 0), ("a", 2, 15), ("b", 7, 0), ("a", 4, 8), ("a", 8, 9))
    assert sorted((p.key, p.window, p.value, p.index) for p in bench.panes()) == [
        ("a", (0, 10), 1, 0),
        ("a", (0, 25), 7, 0),
        ("a", (0, 25), 15, 1),
        ("a", (15, 25), 2, 0),
        ("b", (0, 10), 7, 0),
    ]


def test_counts_of_sessions_that_become_one_are_added_up() -> None:
    bench = Bench(GAP, Repeat(AfterRows(4)), Refinement("discarding"))
    bench.rows(("a", 1, 0), ("a", 2, 15), ("a", 4, 16))
    assert bench.panes() == []
    bench.rows(("a", 8, 8))
    assert [(pane.window, pane.value) for pane in bench.panes()] == [((0, 26), 15)]


def test_a_row_may_decide_when_its_session_is_given_out() -> None:
    nine = Call("eq", (Column("v"), Literal(9)))
    bench = Bench(GAP, Repeat(AfterRow(nine)), measures=[LIST])
    bench.rows(("a", 1, 0), ("a", 9, 5), ("a", 2, 6), ("b", 3, 0))
    assert [(pane.key, pane.value) for pane in bench.panes()] == [("a", [1, 9])]


def test_a_session_is_cut_where_it_would_be_too_long() -> None:
    bench = Bench(Session(ms(10), max_size=ms(30)))
    for time in (0, 8, 16, 24, 32):
        bench.rows(("a", 1, time))
    bench.end()
    assert [(pane.window, pane.value) for pane in bench.panes()] == [((0, 26), 3), ((24, 42), 2)]


def test_a_gap_may_be_told_by_the_row() -> None:
    for packed in (False, True):
        bench = Bench(Session(Column("v")), measures=[LIST], packed=packed)
        bench.rows(("a", 5, 0), ("a", 20, 4), ("a", 0, 22), ("a", -7, 30), ("b", 3, 1))
        bench.end()
        assert [(pane.key, pane.window, pane.value) for pane in bench.panes()] == [
            ("b", (1, 4), [3]),
            ("a", (0, 24), [5, 20, 0]),
            ("a", (30, 30), [-7]),
        ]


def test_the_rows_of_sessions_that_become_one_stand_in_the_order_of_their_arrival() -> None:
    bench = Bench(GAP, measures=[LIST])
    for value, time in enumerate((30, 0, 31, 5, 15, 22, 1)):
        bench.rows(("a", value, time))
    bench.end()
    assert [pane.value for pane in bench.panes()] == [[0, 1, 2, 3, 4, 5, 6]]


def test_the_times_of_sessions_that_become_one_are_those_of_all_their_new_rows() -> None:
    for stamp, time in (("earliest", 0), ("latest", 15)):
        how = Refinement(stamp=stamp)  # type: ignore[arg-type]
        bench = Bench(GAP, refinement=how)
        bench.rows(("a", 1, 0), ("a", 2, 15))
        bench.rows(("a", 4, 8))
        bench.end()
        assert [pane.time for pane in bench.panes()] == [time]


def validity(windows: Sequence[Span]) -> list[tuple[list[Span], Span]]:
    """Each window ends where the next one begins."""
    ordered = sorted(windows)
    ends = [start for start, _ in ordered[1:]] + [END_OF_TIME]
    return [([window], (window[0], end)) for window, end in zip(ordered, ends, strict=True)]


def test_windows_of_the_users_own_may_shrink() -> None:
    window = Custom("valid", lambda time, _: [(time, END_OF_TIME)], validity)
    bench = Bench(window, EACH_ROW, Refinement("retracting"))
    bench.rows(("a", 1, 10))
    bench.rows(("a", 2, 30))
    bench.rows(("a", 4, 20))
    bench.watermark(25)
    bench.end()
    standing = {}
    for pane in bench.panes():
        if pane.weight > 0:
            standing[pane.window] = pane.value
        else:
            assert standing.pop(pane.window) == pane.value
    assert standing == {(10, 20): 1, (20, 30): 4, (30, 0): 2}


def test_windows_of_the_users_own_may_become_one() -> None:
    def all_in_one(windows: Sequence[Span]) -> list[tuple[Sequence[Span], Span]]:
        return [(windows, (min(w[0] for w in windows), max(w[1] for w in windows)))]

    window = Custom("one", lambda time, _: [(time, time + 1)], all_in_one)
    bench = Bench(window)
    bench.rows(("a", 1, 10), ("b", 2, 50), ("a", 4, 30))
    bench.rows(("a", 8, 20), ("a", 16, 60))
    bench.end()
    assert [(p.key, p.window, p.value) for p in bench.panes()] == [
        ("b", (50, 51), 2),
        ("a", (10, 61), 29),
    ]
