from __future__ import annotations

from penstock.kernel.changelog import fold_changelog
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.trigger import EACH_ROW, AfterWatermark, Always, AnyOf, Repeat
from penstock.model.window import Global, Session, Tumbling
from tests.kernel.bench import LIST, SUM, Bench, ms

EACH_BATCH = Repeat(Always())
COUNT = Measure("n", "count")


def test_a_row_taken_back_changes_the_result() -> None:
    bench = Bench(Global(), EACH_BATCH, changelog=True)
    bench.rows(("a", 1, 1), ("a", 2, 1))
    bench.rows(("a", 1, 1, -1), ("a", 5, 1))
    assert bench.values() == [3, 7]


def test_a_group_whose_rows_were_all_taken_back_has_no_result_left() -> None:
    bench = Bench(Global(), EACH_BATCH, Refinement("retracting"), changelog=True)
    bench.rows(("a", 1, 1))
    bench.rows(("a", 1, 1, -1))
    bench.rows(("a", 4, 1))
    assert bench.values() == [1, -1, 4]
    bench.rows(("b", 1, 1), ("b", 1, 1, -1))
    assert bench.values() == []


def test_where_nothing_is_taken_back_the_result_of_no_rows_replaces_the_one_before() -> None:
    bench = Bench(Global(), EACH_BATCH, measures=[COUNT], changelog=True)
    bench.rows(("b", 1, 1), ("b", 1, 1, -1))
    bench.rows(("a", 1, 1))
    bench.rows(("a", 1, 1, -1))
    assert [(pane.key, pane.value) for pane in bench.panes()] == [("a", 1), ("a", 0)]


def test_the_same_holds_row_by_row() -> None:
    bench = Bench(Global(), EACH_ROW, Refinement("retracting"), measures=[LIST], changelog=True)
    bench.rows(("a", 1, 1), ("a", 1, 1, -1), ("a", 2, 1), ("a", 3, 1), ("a", 2, 1, -1))
    given = [(pane.value, pane.weight) for pane in bench.panes()]
    assert given == [
        ([1], 1),
        ([1], -1),
        ([2], 1),
        ([2], -1),
        ([2, 3], 1),
        ([2, 3], -1),
        ([3], 1),
    ]
    counted = Bench(Global(), EACH_ROW, measures=[COUNT], changelog=True)
    counted.rows(("b", 1, 1, -1), ("b", 1, 1), ("a", 1, 1), ("a", 1, 1, -1), ("a", 1, 1))
    assert [pane.value for pane in counted.panes() if pane.key == "a"] == [1, 0, 1]


def test_a_row_taken_back_is_news_for_the_window() -> None:
    trigger = Repeat(AnyOf((Always(), AfterWatermark())))
    bench = Bench(Tumbling(ms(10)), trigger, changelog=True)
    bench.rows(("a", 1, 1), ("a", 2, 2))
    bench.rows(("a", 2, 2, -1))
    bench.end()
    assert [(pane.value, pane.timing) for pane in bench.panes()] == [
        (3, "early"),
        (1, "early"),
        (1, "on-time"),
    ]


def test_rows_taken_back_before_a_window_is_given_out_leave_no_trace() -> None:
    bench = Bench(Tumbling(ms(10)), changelog=True)
    bench.rows(("a", 1, 1), ("b", 1, 1))
    bench.rows(("a", 1, 1, -1))
    bench.end()
    assert [(pane.key, pane.value) for pane in bench.panes()] == [("b", 1)]


def test_packed_changes_count_every_row() -> None:
    bench = Bench(Tumbling(ms(10)), EACH_BATCH, changelog=True, packed=True, measures=[SUM])
    bench.rows(("a", 1, 1), ("a", 2, 2), ("b", 7, 1))
    bench.rows(("a", 1, 1, -1), ("a", 2, 2))
    assert [(pane.key, pane.value) for pane in bench.panes()] == [("a", 3), ("b", 7), ("a", 4)]
    assert bench.counts.taken == 5


def test_the_changelog_of_sessions_adds_up_to_the_sessions_there_are() -> None:
    bench = Bench(Session(ms(10)), EACH_ROW, Refinement("retracting"), keep_late=1000)
    for time in (0, 15, 40, 8, 31, 24):
        bench.rows(("a", 1, time))
    table = fold_changelog(bench.output, ["k", "window_start", "window_end", "total"])
    assert [row[3] for row in table.rows()] == [6]
