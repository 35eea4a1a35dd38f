from __future__ import annotations

from datetime import timedelta

from penstock.kernel.trigger.machine import UNSET
from penstock.model.trigger import AfterDelay, AfterRows, AnyOf, WhenClosed
from tests.kernel.trigger.panes import Panes


def test_without_parts_it_fires_on_time_and_is_finished() -> None:
    panes = Panes(WhenClosed(), 10).take(1)
    assert panes.due == [False]
    assert panes.at(watermark=10).fire() == [True]
    assert panes.finished == [True]


def test_the_early_part_is_repeated_until_the_end() -> None:
    panes = Panes(WhenClosed(early=AfterRows(2)), 10)
    fired = [panes.take(1).fire()[0] for _ in range(4)]
    assert fired == [False, True, False, True]
    assert panes.at(watermark=10).fire() == [True]
    assert panes.finished == [True]


def test_a_composite_early_part_begins_again_as_a_whole() -> None:
    early = AnyOf((AfterRows(2), AfterDelay(timedelta(seconds=1))))
    panes = Panes(WhenClosed(early=early), 10).take(2)
    assert panes.fire() == [True]
    assert panes.due == [False]
    assert panes.take(2).due == [True]


def test_the_late_part_begins_with_the_pane_on_time_and_is_repeated() -> None:
    panes = Panes(WhenClosed(early=AfterRows(9), late=AfterRows(2)), 10).take(4)
    assert panes.need == [5]
    assert panes.at(watermark=10).fire() == [True]
    assert panes.need == [2]
    assert [panes.take(1).fire()[0] for _ in range(4)] == [False, True, False, True]
    assert panes.finished == [False]


def test_rows_before_the_end_do_not_count_as_late_ones_where_windows_merge() -> None:
    panes = Panes(WhenClosed(late=AfterRows(2)), 10, merging=True).take(5)
    assert panes.at(watermark=10).fire() == [True]
    assert panes.due == [False]
    assert panes.take(1).due == [False]
    assert panes.take(1).due == [True]


def test_without_a_late_part_nothing_more_is_needed() -> None:
    panes = Panes(WhenClosed(early=AfterRows(2)), 10).at(watermark=10)
    panes.fire()
    assert panes.need == [UNSET]


def test_panes_that_were_all_on_time_stay_late_when_they_merge() -> None:
    panes = Panes(WhenClosed(AfterRows(100), AfterRows(2)), 11, 15, merging=True)
    panes.take(1, 1).at(watermark=15).fire()
    panes.take(1, 1).merge(0, 0, ends=(15,))
    assert panes.fire() == [True]
    assert panes.due == [False]


def test_a_pane_that_was_not_on_time_makes_the_merged_one_early_again() -> None:
    panes = Panes(WhenClosed(AfterRows(100), AfterRows(1)), 11, 15, merging=True)
    panes.take(1, 1).at(watermark=11)
    assert panes.fire() == [True, False]
    panes.take(1, 0).fire()
    assert panes.merge(0, 0, ends=(15,)).take(1).due == [False]
    assert panes.at(watermark=15).due == [True]


def test_rows_given_out_late_do_not_count_as_early_ones_after_a_merge() -> None:
    panes = Panes(WhenClosed(AfterRows(3), AfterRows(1)), 11, 15, merging=True)
    panes.take(1, 1).at(watermark=11).fire()
    panes.take(1, 0).fire()
    panes.merge(0, 0, ends=(15,)).take(2)
    assert panes.due == [False]
    assert panes.take(1).due == [True]


def test_early_counts_add_up_in_a_merge() -> None:
    panes = Panes(WhenClosed(AfterRows(2), AfterRows(1)), 11, 15, merging=True).take(1, 1)
    assert panes.merge(0, 0, ends=(15,)).due == [True]


def test_deadlines_are_those_of_the_present_mood() -> None:
    second = AfterDelay(timedelta(seconds=1))
    panes = Panes(WhenClosed(early=second, late=AfterRows(1)), 10).take(1)
    assert panes.wake_at() == 1000
    panes.at(watermark=10).fire()
    assert panes.wake_at() is None
