"""What a trigger risks: that it ends before its window, whose later rows are then lost."""

from __future__ import annotations

from datetime import timedelta

from penstock.model.parts import parts_of
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
from penstock.model.window import Window

_NO_TIME = timedelta(0)


def may_lose_data(trigger: Trigger, *, keep_late: timedelta, window: Window | None = None) -> bool:
    """Whether the trigger may be finished while rows of the window can still come.

    Without a window there is no end that the trigger could reach, so ending is always a loss.
    """
    # With the watermark at a window's end, rows come only where late ones are kept.
    ends_with_window = window is not None and keep_late <= _NO_TIME
    return _finishes(trigger, ends_with_window=ends_with_window)


def _finishes(trigger: Trigger, *, ends_with_window: bool) -> bool:
    """Whether it may finish before the window leaves."""
    match trigger:
        case AfterRows() | AfterDelay() | AfterRow() | AfterEventTime():
            return True
        case AfterWatermark() | WhenClosed(_, None):
            return not ends_with_window
        case Repeat() | Always() | Never() | WhenWatermark() | WhenClosed():
            return False
        case AllOf(parts) | Sequence(parts):
            return all(_finishes(part, ends_with_window=ends_with_window) for part in parts)
        case AnyOf() | Until():
            parts = parts_of(trigger)
            return any(_finishes(part, ends_with_window=ends_with_window) for part in parts)
