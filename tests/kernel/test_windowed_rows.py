from __future__ import annotations

from penstock.model.expr import Call, Column, Literal
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.trigger import (
    EACH_ROW,
    AfterRow,
    AfterRows,
    Repeat,
    Sequence,
    Until,
    WhenClosed,
)
from penstock.model.window import Global, Hopping, Tumbling
from tests.kernel.bench import LIST, Bench, ms

TEN = Tumbling(ms(10))
DISTINCT = Measure("different", "count_distinct", (Column("v"),))


def test_a_count_is_met_in_the_middle_of_a_batch() -> None:
    bench = Bench(Global(), Repeat(AfterRows(2)), Refinement("discarding"), measures=[LIST])
    bench.rows(("a", 1, 1), ("b", 7, 1), ("a", 2, 1), ("a", 3, 1), ("a", 4, 1), ("a", 5, 1))
    bench.rows(("b", 8, 1), ("a", 6, 1))
    assert [(pane.key, pane.value) for pane in bench.panes()] == [
        ("a", [1, 2]),
        ("a", [3, 4]),
        ("b", [7, 8]),
        ("a", [5, 6]),
    ]
    bench.rows(("a", 9, 1))
    bench.end()
    assert [(pane.key, pane.value) for pane in bench.panes()] == [("a", [9]), ("b", [])]


def test_accumulated_panes_hold_all_rows_so_far() -> None:
    for measure, results in ((LIST, [[1], [1, 1], [1, 1, 3]]), (DISTINCT, [1, 1, 2])):
        bench = Bench(Global(), EACH_ROW, measures=[measure])
        bench.rows(("a", 1, 1), ("a", 1, 1), ("a", 3, 1))
        assert [pane.value for pane in bench.panes()] == results


def test_many_rows_of_one_key_give_as_many_results() -> None:
    bench = Bench(None)
    bench.rows(*[("a", 1, time) for time in range(100)], *[("b", 2, 0)] * 3)
    bench.rows(("a", 1, 5))
    panes = bench.panes()
    assert [pane.value for pane in panes if pane.key == "a"] == list(range(1, 102))
    assert [pane.index for pane in panes if pane.key == "a"] == list(range(101))
    assert [pane.value for pane in panes if pane.key == "b"] == [2, 4, 6]


def test_results_come_in_the_order_of_the_rows_that_brought_them() -> None:
    bench = Bench(Hopping(ms(10), ms(5)), EACH_ROW)
    bench.rows(("b", 1, 7), ("a", 2, 3), ("b", 3, 7))
    assert [(pane.key, pane.window) for pane in bench.panes()] == [
        ("b", (0, 10)),
        ("b", (5, 15)),
        ("a", (-5, 5)),
        ("a", (0, 10)),
        ("b", (0, 10)),
        ("b", (5, 15)),
    ]


def test_a_trigger_may_go_through_several_counts_in_one_batch() -> None:
    trigger = Sequence((AfterRows(1), AfterRows(2), AfterRows(3)))
    bench = Bench(Global(), trigger, Refinement("discarding"), measures=[LIST])
    bench.rows(*[("a", number, 1) for number in range(8)])
    panes = bench.panes()
    assert [pane.value for pane in panes] == [[0], [1, 2], [3, 4, 5]]
    assert [pane.last for pane in panes] == [False, False, True]
    assert bench.late_rows() == [("a", 6, "finished"), ("a", 7, "finished")]


def test_a_row_may_decide_when_a_pane_is_given_out() -> None:
    zero = Call("eq", (Column("v"), Literal(0)))
    bench = Bench(Global(), Until(Repeat(AfterRows(3)), AfterRow(zero)), measures=[LIST])
    bench.rows(*[("a", value, 1) for value in (1, 2, 3, 4, 0, 5)], ("b", None, 1))
    assert [pane.value for pane in bench.panes()] == [[1, 2, 3], [1, 2, 3, 4, 0]]
    assert bench.late_rows() == [("a", 5, "finished")]


def test_times_of_rows_are_told_for_each_pane_of_a_batch() -> None:
    for stamp, times in (("earliest", [2, 1]), ("latest", [6, 5])):
        how = Refinement("discarding", stamp=stamp)  # type: ignore[arg-type]
        bench = Bench(TEN, Repeat(AfterRows(2)), how)
        bench.rows(("a", 1, 6), ("a", 1, 2), ("a", 1, 1), ("a", 1, 5), ("a", 1, 9))
        assert [pane.time for pane in bench.panes()] == times
        bench.rows(("a", 1, 8))
        assert [pane.time for pane in bench.panes()] == [8 if stamp == "earliest" else 9]


def test_late_rows_are_given_out_one_by_one() -> None:
    bench = Bench(TEN, WhenClosed(late=AfterRows(1)), Refinement("retracting"), keep_late=90)
    bench.rows(("a", 1, 1), ("a", 2, 1))
    bench.watermark(10)
    bench.rows(("a", 4, 1), ("a", 8, 1))
    assert bench.values() == [3, -3, 7, -7, 15]
