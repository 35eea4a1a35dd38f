"""The trigger of an aggregate whose rows are the results of another one."""

from __future__ import annotations

from datetime import timedelta

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


def continuation(trigger: Trigger) -> Trigger:
    """Give the trigger that passes on results as soon as this one has given them."""
    match trigger:
        case AfterRows() | AfterRow():
            return AfterRows(1)
        case AfterDelay():
            return AfterDelay(timedelta(0))
        case AfterEventTime() | AfterWatermark() | Always() | Never() | WhenWatermark():
            return trigger
        case WhenClosed(early, late):
            return WhenClosed(early and continuation(early), late and continuation(late))
        case Repeat() | AnyOf() | AllOf() | Sequence() | Until():
            return _composite(trigger)


def _composite(trigger: Repeat | AnyOf | AllOf | Sequence | Until) -> Trigger:
    match trigger:
        case Repeat(repeated):
            return Repeat(continuation(repeated))
        case AnyOf(parts):
            return AnyOf(tuple(map(continuation, parts)))
        case AllOf(parts):
            return AllOf(tuple(map(continuation, parts)))
        case Sequence(parts):
            # Which of them gave a result is not known further on: any of them may have.
            return Repeat(AnyOf(tuple(map(continuation, parts))))
        case Until(main, end):
            return Repeat(Until(continuation(main), continuation(end)))
