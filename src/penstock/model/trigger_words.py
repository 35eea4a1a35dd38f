"""Triggers in words."""

from __future__ import annotations

from datetime import timedelta

from penstock.model.duration import duration_text
from penstock.model.expr_text import expr_text
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


def trigger_words(trigger: Trigger) -> str:
    """Say a trigger in words."""
    match trigger:
        case Repeat(repeated):
            return f"repeatedly {_inner(repeated)}"
        case AnyOf(parts):
            return f"any of ({_joined(parts)})"
        case AllOf(parts):
            return f"all of ({_joined(parts)})"
        case Sequence(parts):
            return f"in sequence ({_joined(parts)})"
        case Until(main, end):
            return f"{_inner(main)} until {_inner(end)}"
        case _:
            return _leaf(trigger)


def _leaf(trigger: Trigger) -> str:
    match trigger:
        case AfterRows(count, exact):
            rows = "a row" if count == 1 else f"{count} rows"
            return f"after {rows}" + ("" if exact else ", once a batch")
        case AfterDelay(delay, align, origin):
            return _delay(delay, align, origin)
        case AfterEventTime(period):
            return f"at every {duration_text(period)} of event time"
        case AfterRow(condition):
            return f"after a row with {expr_text(condition)}"
        case WhenClosed(early, late):
            return _closed(early, late)
        case _:
            return _FIXED[type(trigger)]


_FIXED = {
    AfterWatermark: "once the window is complete",
    WhenWatermark: "whenever the window is complete",
    Always: "always",
    Never: "when the window leaves",
}


def _delay(delay: timedelta, align: timedelta | None, origin: timedelta) -> str:
    moved = f" from {duration_text(origin)}" if origin else ""
    at = f"at a multiple of {duration_text(align)}{moved}" if align is not None else ""
    if align is not None and not delay:
        return at
    return f"{duration_text(delay)} after the first row{', ' if at else ''}{at}"


def _closed(early: Trigger | None, late: Trigger | None) -> str:
    first = f", early {_inner(early)}" if early is not None else ""
    then = f", late {_inner(late)}" if late is not None else ""
    return f"when closed{first}{then}"


def _joined(parts: tuple[Trigger, ...]) -> str:
    return "; ".join(map(trigger_words, parts))


def _inner(trigger: Trigger) -> str:
    text = trigger_words(trigger)
    return f"({text})" if isinstance(trigger, (Until, WhenClosed)) else text
