from __future__ import annotations

from penstock.kernel.port import END_OF_TIME
from penstock.model.refine import Refinement
from penstock.model.trigger import AfterDelay, Repeat
from penstock.model.window import Global, Hopping, Session, Tumbling
from tests.kernel.bench import Bench, ms

BY_CLOCK = Tumbling(ms(10), domain="processing")


def test_a_window_of_the_clock_is_complete_when_the_clock_reaches_its_end() -> None:
    bench = Bench(BY_CLOCK)
    bench.rows(("a", 1, 999), ("a", 2, None), clock=3)
    assert bench.wake_at == 10
    bench.watermark(500)
    bench.clock(9)
    assert bench.panes() == []
    bench.rows(("a", 4, 1), clock=10)
    (pane,) = bench.panes()
    assert (pane.window, pane.value, pane.timing, pane.last) == ((0, 10), 3, "on-time", True)
    assert bench.wake_at == 20
    bench.end()
    assert bench.values() == [4]
    assert bench.counts.late == 0
    assert bench.wake_at is None


def test_sessions_and_hopping_windows_of_the_clock() -> None:
    sessions = Bench(Session(ms(10), domain="processing"))
    sessions.rows(("a", 1, 0), clock=3)
    sessions.rows(("a", 2, 0), clock=12)
    assert sessions.wake_at == 22
    sessions.clock(22)
    assert [(pane.window, pane.value) for pane in sessions.panes()] == [((3, 22), 3)]
    hopping = Bench(Hopping(ms(10), ms(5), domain="processing"))
    hopping.rows(("a", 1, 0), clock=7)
    assert hopping.wake_at == 10
    hopping.clock(10)
    assert hopping.wake_at == 15
    hopping.clock(30)
    assert [(pane.window, pane.value) for pane in hopping.panes()] == [((0, 10), 1), ((5, 15), 1)]


def test_a_window_may_go_by_the_time_the_log_took_its_rows() -> None:
    bench = Bench(Tumbling(ms(10), domain="ingestion"))
    bench.rows(("a", 1, 3), ("a", 2, 13))
    bench.watermark(10)
    assert bench.values() == [1]


def test_the_clock_comes_first_then_the_rows_then_the_watermark() -> None:
    bench = Bench(Global(), Repeat(AfterDelay(ms(5))), Refinement("discarding"))
    bench.rows(("a", 1, 1), clock=0)
    assert bench.wake_at == 5
    bench.rows(("a", 2, 1), clock=5)
    assert bench.values() == [1]
    assert bench.wake_at == 10
    bench.clock(10)
    assert bench.values() == [2]
    assert bench.wake_at is None


def test_a_pane_that_has_left_is_not_woken() -> None:
    bench = Bench(Tumbling(ms(100)), Repeat(AfterDelay(ms(10))))
    bench.rows(("a", 1, 1), clock=5)
    bench.watermark(100)
    assert bench.values() == [1]
    bench.clock(50)
    assert bench.panes() == []


def test_neither_clock_nor_watermark_goes_back() -> None:
    bench = Bench(Tumbling(ms(10)), Repeat(AfterDelay(ms(10))))
    bench.rows(("a", 1, 15), clock=100)
    bench.watermark(12)
    bench.watermark(0)
    bench.clock(1)
    assert (bench.state.time.watermark, bench.state.time.clock) == (12, 100)
    bench.rows(("a", 2, 1))
    assert bench.late_rows() == [("a", 2, "expired")]
    bench.watermark(END_OF_TIME)
    assert bench.values() == [1]
