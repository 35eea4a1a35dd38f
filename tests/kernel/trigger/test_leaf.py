from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.kernel.trigger.machine import UNSET
from penstock.model.expr import Column
from penstock.model.trigger import (
    AfterDelay,
    AfterEventTime,
    AfterRow,
    AfterRows,
    AfterWatermark,
    Always,
    Never,
    Repeat,
    Trigger,
    WhenWatermark,
)
from tests.kernel.trigger.panes import Panes


def ms(number: int) -> timedelta:
    return timedelta(milliseconds=number)


def test_a_count_is_due_with_its_last_row_and_fires_once() -> None:
    panes = Panes(AfterRows(2), 10, 20).take(1, 2)
    assert panes.due == [False, True]
    assert panes.fire() == [False, True]
    assert panes.finished == [False, True]
    assert panes.take(1, 5).due == [True, False]


def test_a_count_tells_how_many_rows_it_still_needs() -> None:
    panes = Panes(AfterRows(3), 10, 20, 30).take(1, 0, 3)
    assert panes.machine.by_row
    assert panes.need == [2, 3, UNSET]


def test_a_count_that_is_not_exact_never_cuts_a_batch() -> None:
    panes = Panes(AfterRows(3, exact=False), 10)
    assert not panes.machine.by_row
    assert panes.need == [UNSET]
    assert panes.take(7).due == [True]


def test_counts_add_up_when_panes_merge() -> None:
    panes = Panes(AfterRows(4), 10, 20, 30, merging=True).take(1, 2, 3)
    assert panes.merge(0, 1, 1, ends=(10, 30)).due == [False, True]


def test_a_count_finished_in_one_pane_is_finished_in_the_merged_one() -> None:
    panes = Panes(AfterRows(2), 10, 20, merging=True).take(2, 1)
    panes.fire()
    assert panes.merge(0, 0, ends=(20,)).finished == [True]
    assert panes.take(5).due == [False]


def test_a_delay_counts_from_the_first_row_of_the_pane() -> None:
    panes = Panes(Repeat(AfterDelay(ms(10))), 100, 100).at(clock=5).take(1, 0)
    panes.at(clock=7).take(1, 1)
    assert panes.wake_at() == 15
    assert panes.at(clock=14).due == [False, False]
    assert panes.at(clock=15).fire() == [True, False]
    assert panes.wake_at() == 17
    assert panes.at(clock=40).fire() == [False, True]
    assert panes.wake_at() is None


@pytest.mark.parametrize(("clock", "deadline"), [(0, 7), (6, 7), (7, 17), (8, 17), (16, 17)])
def test_an_aligned_delay_waits_for_the_next_boundary(clock: int, deadline: int) -> None:
    trigger = AfterDelay(ms(0), align=ms(10), origin=ms(7))
    assert Panes(trigger).at(clock=clock).take(1).wake_at() == deadline


def test_merged_panes_wait_for_the_earliest_deadline() -> None:
    panes = Panes(AfterDelay(ms(5)), 11, 13, merging=True).at(clock=10).take(1, 0)
    panes.at(clock=12).take(0, 1).merge(0, 0, ends=(13,))
    assert panes.at(clock=15).due == [True]


def test_a_period_of_event_time_goes_on_without_rows() -> None:
    panes = Panes(Repeat(AfterEventTime(ms(3000))), 10**9).take(1, time=20)
    assert panes.at(watermark=2999).due == [False]
    assert panes.at(watermark=3000).fire() == [True]
    assert panes.at(watermark=5999).due == [False]
    assert panes.at(watermark=12500).fire() == [True]
    assert panes.due == [False]
    assert panes.at(watermark=15000).fire() == [True]


def test_the_first_row_decides_the_first_multiple() -> None:
    panes = Panes(AfterEventTime(ms(3000)), 10**9).take(1, time=3000).take(1, time=10)
    assert panes.at(watermark=5999).due == [False]
    assert panes.at(watermark=6000).due == [True]


def test_event_time_periods_merge_to_the_earliest() -> None:
    panes = Panes(AfterEventTime(ms(10)), 50, 60, merging=True)
    panes.take(1, 0, time=25).take(0, 1, time=3).merge(0, 0, ends=(60,))
    assert panes.at(watermark=10).due == [True]


def test_a_condition_on_rows_is_met_by_one_of_them() -> None:
    condition = Column("urgent")
    panes = Panes(Repeat(AfterRow(condition)))
    assert dict(panes.machine.conditions) == {"_t1": condition}
    assert panes.take(3, hits={"_t1": 0}).due == [False]
    assert panes.need == [1]
    assert panes.take(1, hits={"_t1": 1}).fire() == [True]
    assert panes.due == [False]


def test_the_watermark_fires_once_at_the_end_of_the_window() -> None:
    panes = Panes(AfterWatermark(), 10, 20).at(watermark=10)
    assert panes.fire() == [True, False]
    assert panes.finished == [True, False]
    assert panes.at(watermark=30).due == [False, True]


def test_the_watermark_is_finished_in_a_merged_pane_only_if_it_was_in_all() -> None:
    panes = Panes(AfterWatermark(), 10, 20, 10, merging=True).at(watermark=10)
    panes.fire()
    panes.merge(0, 0, 1, ends=(20, 10))
    assert panes.finished == [False, True]
    assert panes.at(watermark=20).due == [True, False]


def test_a_merged_pane_with_a_later_end_waits_again() -> None:
    panes = Panes(AfterWatermark(), 10, merging=True).at(watermark=10)
    panes.fire()
    assert panes.merge(0, ends=(15,)).finished == [False]
    assert panes.at(watermark=15).due == [True]


def test_a_pane_that_nothing_merged_into_has_seen_nothing() -> None:
    panes = Panes(AfterRows(1), 10, merging=True).take(1)
    assert panes.merge(1, ends=(10, 20)).due == [False, True]


@pytest.mark.parametrize(
    ("trigger", "before", "after"),
    [(Always(), True, True), (Never(), False, False), (WhenWatermark(), False, True)],
)
def test_triggers_without_memory_never_finish(trigger: Trigger, before: bool, after: bool) -> None:
    panes = Panes(trigger, 100, 100).take(1, 1)
    assert panes.fire() == [before] * 2
    assert panes.at(watermark=100).fire() == [after] * 2
    assert panes.due == [after] * 2
    assert panes.finished == [False] * 2
    assert panes.need == [UNSET] * 2
    assert panes.merge(0, 0, ends=(100,)).due == [after]
    assert panes.wake_at() is None
