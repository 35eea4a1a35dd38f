from __future__ import annotations

from penstock.kernel.port import END_OF_TIME
from penstock.model.refine import Refinement
from penstock.model.trigger import (
    EACH_ROW,
    AfterDelay,
    AfterEventTime,
    AfterRows,
    AfterWatermark,
    Always,
    AnyOf,
    Never,
    Repeat,
    WhenClosed,
)
from penstock.model.window import Global, Hopping, Tumbling
from tests.kernel.bench import LIST, Bench, Pane, ms

TEN = Tumbling(ms(10))
EARLY_LATE = WhenClosed(early=AfterDelay(ms(5)), late=AfterRows(1))


def told(pane: Pane) -> tuple[object, ...]:
    return pane.value, pane.timing, pane.index, pane.solid, pane.last


def test_a_window_is_given_out_when_the_watermark_reaches_its_end() -> None:
    bench = Bench(TEN)
    bench.rows(("a", 1, 3), ("b", 2, 4), ("a", 3, 9), ("a", 5, 10))
    bench.watermark(9)
    assert bench.panes() == []
    bench.watermark(10)
    assert bench.panes() == [
        Pane("a", (0, 10), 4, "on-time", 0, 0, last=True, time=9),
        Pane("b", (0, 10), 2, "on-time", 0, 0, last=True, time=9),
    ]
    bench.end()
    assert bench.panes() == [Pane("a", (10, 20), 5, "on-time", 0, 0, last=True, time=19)]
    assert bench.state.rows == 0


def test_windows_are_given_out_in_the_order_of_their_end() -> None:
    bench = Bench(TEN)
    bench.rows(("a", 1, 33), ("a", 2, 3), ("b", 3, 13), ("a", 4, 13))
    bench.end()
    assert [pane.window for pane in bench.panes()] == [(0, 10), (10, 20), (10, 20), (30, 40)]


def test_early_on_time_and_late_panes_are_numbered() -> None:
    bench = Bench(TEN, EARLY_LATE, keep_late=100)
    bench.rows(("a", 1, 1), clock=0)
    bench.clock(5)
    bench.rows(("a", 2, 2))
    bench.watermark(10)
    bench.rows(("a", 4, 3), ("a", 8, 4))
    bench.end()
    assert list(map(told, bench.panes())) == [
        (1, "early", 0, -1, False),
        (3, "on-time", 1, 0, False),
        (7, "late", 2, 1, False),
        (15, "late", 3, 2, False),
    ]


def test_discarded_panes_stand_for_themselves() -> None:
    bench = Bench(TEN, EARLY_LATE, Refinement("discarding"), keep_late=100)
    bench.rows(("a", 1, 1), clock=0)
    bench.clock(5)
    bench.watermark(10)
    bench.rows(("a", 4, 3))
    assert [(pane.value, pane.timing) for pane in bench.panes()] == [
        (1, "early"),
        (0, "on-time"),
        (4, "late"),
    ]


def test_a_result_is_taken_back_before_the_next_one_is_given() -> None:
    bench = Bench(TEN, EARLY_LATE, Refinement("retracting"), keep_late=100)
    bench.rows(("a", 1, 1), clock=0)
    bench.clock(5)
    bench.watermark(10)
    bench.rows(("a", 4, 3), ("a", 8, 3))
    given = [(pane.value, pane.weight, pane.index) for pane in bench.panes()]
    assert given == [
        (1, 1, 0),
        (1, -1, 0),
        (1, 1, 1),
        (1, -1, 1),
        (5, 1, 2),
        (5, -1, 2),
        (13, 1, 3),
    ]


def test_an_empty_pane_comes_on_time_and_at_last_if_so_wished() -> None:
    for on_time, final, values in (
        (True, False, [1, 1]),
        (False, False, [1]),
        (False, True, [1, 1]),
        (True, True, [1, 1, 1]),
    ):
        how = Refinement(empty_on_time=on_time, empty_final=final)
        bench = Bench(TEN, Repeat(AnyOf((AfterRows(1), AfterWatermark()))), how, keep_late=5)
        bench.rows(("a", 1, 1))
        bench.watermark(10)
        bench.watermark(15)
        assert bench.values() == values
        assert bench.state.rows == 0


def test_a_late_pane_after_an_unwanted_empty_one_is_not_on_time() -> None:
    trigger = Repeat(AnyOf((AfterRows(1), AfterWatermark())))
    bench = Bench(TEN, trigger, Refinement(empty_on_time=False), keep_late=50)
    bench.rows(("a", 1, 1))
    bench.watermark(10)
    bench.rows(("a", 2, 1))
    assert [pane.timing for pane in bench.panes()] == ["early", "late"]


def test_the_first_pane_after_the_end_is_on_time_also_where_a_row_brings_it() -> None:
    bench = Bench(TEN, EACH_ROW, Refinement("discarding"), keep_late=50)
    bench.rows(("a", 1, 1))
    bench.watermark(15)
    bench.rows(("a", 2, 2), ("a", 3, 3))
    assert list(map(told, bench.panes())) == [
        (1, "early", 0, -1, False),
        (2, "on-time", 1, 0, False),
        (3, "late", 2, 1, False),
    ]


def test_a_window_whose_first_row_comes_after_its_end_has_only_late_panes() -> None:
    bench = Bench(TEN, keep_late=50)
    bench.watermark(20)
    bench.rows(("a", 1, 1))
    bench.rows(("a", 2, 1))
    assert list(map(told, bench.panes())) == [(1, "late", 0, 0, False), (3, "late", 1, 1, False)]


def test_the_default_trigger_gives_late_rows_out_batch_by_batch() -> None:
    bench = Bench(TEN, keep_late=50)
    bench.rows(("a", 1, 1))
    bench.watermark(12)
    bench.rows(("a", 2, 1), ("a", 3, 1))
    bench.watermark(13)
    assert [pane.value for pane in bench.panes()] == [1, 6]


def test_a_window_that_never_fires_gives_its_last_pane_when_it_leaves() -> None:
    bench = Bench(TEN, Never(), keep_late=20)
    bench.rows(("a", 1, 1))
    bench.watermark(29)
    assert bench.panes() == []
    bench.watermark(30)
    assert list(map(told, bench.panes())) == [(1, "on-time", 0, 0, True)]


def test_an_event_time_period_gives_panes_out_with_or_without_news() -> None:
    bench = Bench(Global(), Repeat(AfterEventTime(ms(10))))
    bench.rows(("a", 1, 3))
    bench.watermark(9)
    bench.watermark(10)
    bench.rows(("a", 2, 14))
    bench.watermark(20)
    bench.watermark(30)
    assert bench.values() == [1, 3, 3]


def test_results_carry_the_end_or_the_time_of_their_new_rows() -> None:
    for stamp, times in (("end", [9, 9, 9]), ("earliest", [1, 4, 9]), ("latest", [7, 8, 9])):
        how = Refinement(stamp=stamp)  # type: ignore[arg-type]
        bench = Bench(TEN, EARLY_LATE, how, keep_late=100)
        bench.rows(("a", 1, 7), ("a", 1, 1), clock=0)
        bench.clock(5)
        bench.rows(("a", 1, 4), ("a", 1, 8))
        bench.watermark(10)
        bench.rows(("a", 1, 3))
        assert [pane.time for pane in bench.panes()] == times, stamp


def test_rows_behind_the_watermark_do_not_draw_a_result_back() -> None:
    for times, stamped in (((2, 3, 7, 8), 7), ((2, 3), 9)):
        bench = Bench(TEN, refinement=Refinement(stamp="earliest"))
        bench.watermark(5)
        bench.rows(*[("a", 1, time) for time in times])
        bench.watermark(10)
        assert [pane.time for pane in bench.panes()] == [stamped]


def test_the_global_window_is_complete_when_the_input_ends() -> None:
    bench = Bench(Global())
    bench.rows(("a", 1, 1), ("a", 2, 10**12))
    bench.watermark(10**13)
    assert bench.panes() == []
    bench.end()
    (pane,) = bench.panes()
    assert told(pane) == (3, "on-time", 0, 0, True)
    assert pane.time == END_OF_TIME - 1
    assert bench.output["window_start"].to_list() == [None]


def test_without_keys_all_rows_are_one_group() -> None:
    for window in (TEN, Global(), None):
        bench = Bench(window, Repeat(Always()), keys=())
        bench.rows(("a", 1, 1), ("b", 2, 2))
        bench.rows(("c", 4, 3))
        assert bench.values() == [3, 7]


def test_a_running_result_changes_with_each_row() -> None:
    bench = Bench(None, measures=[LIST])
    bench.rows(("a", 1, 5), ("b", 2, 1), ("a", 3, 2))
    bench.rows(("a", 4, 9))
    assert [(p.key, p.value, p.time) for p in bench.panes()] == [
        ("a", [1], 5),
        ("b", [2], 1),
        ("a", [1, 3], 5),
        ("a", [1, 3, 4], 9),
    ]
    bench.end()
    assert bench.panes() == []
    assert bench.state.rows == 0


def test_a_running_result_may_change_once_a_batch_and_ends_with_what_is_new() -> None:
    bench = Bench(None, Repeat(Always()), Refinement("retracting"))
    bench.rows(("a", 1, 5), ("a", 2, 1))
    bench.rows(("a", 4, 9))
    assert [(p.value, p.weight, p.time) for p in bench.panes()] == [
        (3, 1, 5),
        (3, -1, 5),
        (7, 1, 9),
    ]
    waiting = Bench(None, Repeat(AfterRows(5)))
    waiting.rows(("a", 1, 1))
    waiting.end()
    assert list(map(told, waiting.panes())) == [(1, "on-time", 0, 0, True)]


def test_rows_without_a_time_are_left_out_of_windows_and_counted() -> None:
    for window in (TEN, Hopping(ms(10), ms(5))):
        bench = Bench(window)
        bench.rows(("a", 1, None), ("a", 2, 1))
        assert (bench.counts.taken, bench.counts.passed, bench.counts.filtered) == (2, 1, 1)
    running = Bench(None, Repeat(Always()))
    running.rows(("a", 1, None))
    running.rows(("a", 2, 7))
    assert [(pane.value, pane.time) for pane in running.panes()] == [(1, None), (3, 7)]


def test_the_output_has_the_columns_of_the_relation_with_and_without_rows() -> None:
    bench = Bench(TEN)
    bench.rows(("a", 1, 1))
    bench.end()
    empty, full = bench.outputs
    assert empty.schema == full.schema
    assert full.columns[:4] == ["k", "window_start", "window_end", "total"]


def test_a_step_can_be_taken_again_with_the_same_result() -> None:
    bench = Bench(TEN, EARLY_LATE, Refinement("retracting"), keep_late=50)
    bench.rows(("a", 1, 1), ("b", 1, 1), clock=0)
    before = bench.state
    bench.clock(5)
    once = bench.output
    bench.state, bench.outputs = before, bench.outputs[:-1]
    bench.clock(5)
    assert bench.output.equals(once)
