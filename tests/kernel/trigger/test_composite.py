from __future__ import annotations

from datetime import timedelta

from penstock.kernel.trigger.machine import UNSET
from penstock.model.trigger import (
    AfterDelay,
    AfterRows,
    AfterWatermark,
    AllOf,
    AnyOf,
    Never,
    Repeat,
    Sequence,
    Until,
)
from tests.kernel.trigger.panes import Panes

MINUTE = AfterDelay(timedelta(milliseconds=60))


def test_repeat_begins_again_after_each_firing() -> None:
    panes = Panes(Repeat(AfterRows(2))).take(2)
    assert panes.fire() == [True]
    assert panes.take(1).due == [False]
    assert panes.take(1).due == [True]
    assert panes.finished == [False]


def test_repeat_begins_the_whole_tree_again() -> None:
    panes = Panes(Repeat(Sequence((AfterRows(1), AfterRows(2)))))
    fired = [panes.take(1).fire()[0] for _ in range(6)]
    assert fired == [True, False, True, True, False, True]


def test_all_of_waits_for_the_last_part() -> None:
    panes = Panes(AllOf((AfterRows(2), AfterWatermark())), 10).take(2)
    assert panes.due == [False]
    assert panes.need == [UNSET]
    assert panes.at(watermark=10).fire() == [True]
    assert panes.finished == [True]


def test_a_deadline_that_has_passed_wakes_nobody() -> None:
    panes = Panes(AllOf((MINUTE, AfterWatermark())), 10).take(1)
    assert panes.wake_at() == 60
    assert panes.at(clock=60).wake_at() is None


def test_any_of_fires_with_the_first_part_and_the_others_forget() -> None:
    panes = Panes(Repeat(AnyOf((AfterRows(3), MINUTE)))).take(2)
    assert panes.at(clock=60).fire() == [True]
    assert panes.take(2).due == [False]
    assert panes.take(1).fire() == [True]
    assert panes.wake_at() is None


def test_any_of_is_finished_with_the_first_part() -> None:
    panes = Panes(AnyOf((AfterRows(1), Never()))).take(1)
    panes.fire()
    assert panes.finished == [True]
    assert panes.due == [False]


def test_any_of_repeated_parts_never_finishes() -> None:
    panes = Panes(AnyOf((Repeat(AfterRows(2)), Repeat(MINUTE)))).take(2)
    assert panes.fire() == [True]
    assert panes.finished == [False]
    assert panes.at(clock=100).take(1).due == [False]
    assert panes.at(clock=160).due == [True]


def test_a_sequence_acts_by_its_first_unfinished_part() -> None:
    panes = Panes(Sequence((AfterRows(2), Repeat(AfterRows(1))))).take(1)
    assert panes.need == [1]
    assert panes.take(1).fire() == [True]
    assert panes.due == [False]
    assert panes.take(1).fire() == [True]
    assert panes.finished == [False]


def test_a_sequence_is_finished_with_its_last_part() -> None:
    panes = Panes(Sequence((AfterRows(1), AfterRows(1)))).take(1)
    panes.fire()
    assert panes.finished == [False]
    panes.take(1).fire()
    assert panes.finished == [True]
    assert panes.take(1).due == [False]


def test_a_sequence_in_merging_windows_forgets_the_rows_of_all_parts() -> None:
    panes = Panes(Sequence((AfterRows(2), AfterRows(2))), merging=True).take(2)
    assert panes.fire() == [True]
    assert panes.due == [False]
    assert panes.take(2).due == [True]


def test_a_sequence_goes_back_when_a_merge_revives_its_first_part() -> None:
    first = AnyOf((AfterRows(5), AfterWatermark()))
    panes = Panes(Sequence((first, Repeat(AfterRows(1)))), 11, 15, merging=True)
    panes.take(1, 0).at(watermark=11).fire()
    panes.take(0, 1).merge(0, 0, ends=(15,))
    assert panes.due == [False]
    assert panes.take(5).due == [True]


def test_parts_after_the_acting_one_lose_their_rows_in_a_merge() -> None:
    panes = Panes(Sequence((AfterRows(3), AfterRows(2))), 10, 20, merging=True).take(1, 1)
    panes.merge(0, 0, ends=(20,)).take(1)
    assert panes.fire() == [True]
    assert panes.take(1).due == [False]
    assert panes.take(1).due == [True]


def test_only_the_acting_part_of_a_sequence_is_waited_for() -> None:
    panes = Panes(Sequence((AfterRows(9), MINUTE)), merging=True).take(1)
    assert panes.wake_at() is None


def test_until_counts_across_the_firings_of_the_main_trigger() -> None:
    panes = Panes(Until(Repeat(AfterRows(2)), AfterRows(3))).take(2)
    assert panes.fire() == [True]
    assert panes.finished == [False]
    assert panes.take(1).fire() == [True]
    assert panes.finished == [True]


def test_until_ends_with_its_main_trigger_too() -> None:
    panes = Panes(Until(AfterRows(1), Never())).take(1)
    panes.fire()
    assert panes.finished == [True]


def test_until_merges_both_parts() -> None:
    panes = Panes(Until(Repeat(AfterRows(5)), AfterRows(2)), 10, 20, merging=True).take(1, 1)
    assert panes.merge(0, 0, ends=(20,)).fire() == [True]
    assert panes.finished == [True]


def test_a_part_finished_before_a_merge_lets_any_of_fire_inside_a_sequence() -> None:
    trigger = Repeat(Sequence((AfterRows(1), AnyOf((AfterRows(2), Never())))))
    panes = Panes(trigger, 10, 20, merging=True).take(1, 0)
    panes.fire()
    assert panes.take(0, 1).merge(0, 0, ends=(20,)).due == [False]
    assert panes.take(1).due == [True]
