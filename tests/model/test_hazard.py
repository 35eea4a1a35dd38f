from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.model.continuation import continuation
from penstock.model.expr import Column
from penstock.model.hazard import may_lose_data
from penstock.model.trigger import (
    AfterDelay,
    AfterEventTime,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AllOf,
    Always,
    AnyOf,
    Never,
    Repeat,
    Sequence,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.window import Global

NOTHING = timedelta(0)
SECOND = timedelta(seconds=1)
ROW = AfterRows(1)


@pytest.mark.parametrize(
    ("trigger", "keep_late", "loses"),
    [
        (AfterDelay(SECOND), NOTHING, True),
        (Always(), NOTHING, False),
        (Never(), NOTHING, False),
        (WhenWatermark(), SECOND, False),
        (WhenClosed(), SECOND, True),
        (WhenClosed(), NOTHING, False),
        (WhenClosed(early=ROW), SECOND, True),
        (WhenClosed(late=ROW), SECOND, False),
        (AfterWatermark(), SECOND, True),
        (AfterWatermark(), NOTHING, False),
        (AfterRows(42), NOTHING, True),
        (AfterRow(Column("ok")), NOTHING, True),
        (AfterEventTime(SECOND), NOTHING, True),
        (Repeat(AfterRows(42)), NOTHING, False),
        (AllOf((ROW, WhenWatermark())), NOTHING, False),
        (AllOf((AfterRows(42), AfterDelay(SECOND))), NOTHING, True),
        (AnyOf((ROW, WhenWatermark())), NOTHING, True),
        (AnyOf((Repeat(ROW), WhenWatermark())), NOTHING, False),
        (Sequence((ROW, AfterRows(2), AfterRows(3))), NOTHING, True),
        (Sequence((ROW, Repeat(ROW))), NOTHING, False),
        (Until(Repeat(ROW), AfterRows(5)), NOTHING, True),
        (Until(Repeat(ROW), Never()), NOTHING, False),
    ],
)
def test_a_trigger_says_what_it_risks(trigger: Trigger, keep_late: timedelta, loses: bool) -> None:
    assert may_lose_data(trigger, keep_late=keep_late, window=Global()) is loses


def test_without_a_window_every_end_is_a_loss() -> None:
    assert may_lose_data(ROW, keep_late=NOTHING)
    assert not may_lose_data(Repeat(ROW), keep_late=NOTHING)


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (AnyOf((AfterRows(2), AfterRows(5))), AnyOf((ROW, ROW))),
        (AllOf((AfterRows(2), Never())), AllOf((ROW, Never()))),
        (Sequence((AfterRows(2), AfterRows(5))), Repeat(AnyOf((ROW, ROW)))),
        (WhenClosed(AfterRows(10), AfterRows(20)), WhenClosed(ROW, ROW)),
        (WhenClosed(), WhenClosed()),
        (Always(), Always()),
        (WhenWatermark(), WhenWatermark()),
        (AfterDelay(SECOND, SECOND), AfterDelay(NOTHING)),
        (Repeat(AfterRow(Column("ok"))), Repeat(ROW)),
        (
            Until(Repeat(AfterRows(3)), AfterWatermark()),
            Repeat(Until(Repeat(ROW), AfterWatermark())),
        ),
    ],
)
def test_results_are_passed_on_as_soon_as_they_come(trigger: Trigger, expected: Trigger) -> None:
    assert continuation(trigger) == expected
