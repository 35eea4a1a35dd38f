from __future__ import annotations

from penstock.kernel.overlap import OverlapWork
from penstock.model.measure import Measure
from penstock.model.trigger import Never, WhenClosed
from penstock.model.window import Hopping
from tests.kernel.bench import LIST, Bench, ms

TWICE = Hopping(ms(10), ms(5))


def test_overlapping_windows_that_are_given_out_once_share_their_slices() -> None:
    for trigger in (None, WhenClosed(), Never()):
        bench = Bench(TWICE, trigger, measures=[LIST])
        assert bench.operator._kind is OverlapWork
        bench.rows(("a", 1, 1), ("a", 2, 6), ("b", 3, 7), ("a", 4, 2))
        assert bench.state.tables["panes"].height == 3
        bench.watermark(10)
        bench.rows(("a", 5, 12))
        bench.end()
        assert [(p.key, p.window, p.value) for p in bench.panes()] == [
            ("a", (-5, 5), [1, 4]),
            ("a", (0, 10), [1, 2, 4]),
            ("b", (0, 10), [3]),
            ("a", (5, 15), [2, 5]),
            ("b", (5, 15), [3]),
            ("a", (10, 20), [5]),
        ]
        assert bench.state.rows == 0


def test_windows_kept_for_late_rows_or_given_out_early_do_not() -> None:
    assert Bench(TWICE, keep_late=1).operator._kind is not OverlapWork
    early = WhenClosed(early=Never())
    assert Bench(TWICE, early).operator._kind is not OverlapWork


def test_a_slice_may_be_shorter_than_the_slide() -> None:
    bench = Bench(Hopping(ms(15), ms(10), ms(1)), measures=[LIST])
    bench.rows(("a", 1, 1), ("a", 2, 5), ("a", 3, 6), ("a", 4, 15))
    bench.end()
    assert [(p.window, p.value) for p in bench.panes()] == [
        ((-9, 6), [1, 2]),
        ((1, 16), [1, 2, 3, 4]),
        ((11, 26), [4]),
    ]


def test_many_windows_may_be_complete_at_once() -> None:
    bench = Bench(TWICE, measures=[Measure("n", "count")])
    bench.rows(("a", 1, 0), ("a", 1, 10**9), ("b", 1, 10**9 + 1))
    bench.end()
    far = 10**9
    assert [(p.key, p.window) for p in bench.panes()] == [
        ("a", (-5, 5)),
        ("a", (0, 10)),
        ("a", (far - 5, far + 5)),
        ("b", (far - 5, far + 5)),
        ("a", (far, far + 10)),
        ("b", (far, far + 10)),
    ]


def test_a_row_counts_only_for_the_windows_that_are_left() -> None:
    bench = Bench(TWICE)
    bench.rows(("a", 1, 7))
    bench.watermark(11)
    bench.rows(("a", 2, 8), ("a", 4, 3))
    bench.end()
    assert [(p.window, p.value) for p in bench.panes()] == [((0, 10), 1), ((5, 15), 3)]
    assert bench.late_rows() == [("a", 4, "expired")]
    assert bench.counts.dropped_pairs == 1
