"""Windows in words."""

from __future__ import annotations

from datetime import timedelta

from penstock.model.duration import duration_text
from penstock.model.expr_text import expr_text
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    ByTime,
    Custom,
    Global,
    Hopping,
    Policy,
    Session,
    Sliding,
    Tumbling,
    Window,
)


def window_words(window: Window) -> str:
    """Say a window in words."""
    domain = "" if window.domain == "event" else f", {window.domain} time"
    return f"{_shape(window)}{domain}"


def policy_words(policy: Policy) -> str:
    """Say a policy of a buffer in words."""
    match policy:
        case ByCount(rows):
            return f"{rows} rows"
        case ByDelta(column, size):
            return f"{column} within {size}"
        case ByPunctuation(condition):
            return f"up to {expr_text(condition)}"
        case ByTime(span):
            return f"the last {duration_text(span)}"


def _shape(window: Window) -> str:
    match window:
        case Tumbling(size, offset):
            return f"tumbling {duration_text(size)}{_moved(offset)}"
        case Hopping(size, slide, offset):
            return f"hopping {duration_text(size)} every {duration_text(slide)}{_moved(offset)}"
        case Session():
            return _session(window)
        case Buffered():
            return _buffered(window)
        case Sliding() | Global() | Custom():
            return _plain(window)


def _plain(window: Sliding | Global | Custom) -> str:
    match window:
        case Sliding(size):
            return f"sliding {duration_text(size)}"
        case Global():
            return "one window for all time"
        case Custom(name):
            return f"custom {name}"


def _session(window: Session) -> str:
    gap = window.gap
    said = duration_text(gap) if isinstance(gap, timedelta) else expr_text(gap)
    most = f", at most {duration_text(window.max_size)}" if window.max_size is not None else ""
    return f"session with gap {said}{most}"


def _buffered(window: Buffered) -> str:
    fire = f", fired by {policy_words(window.fire)}" if window.fire is not None else ""
    return f"{window.kind} buffer of {policy_words(window.evict)}{fire}"


def _moved(offset: timedelta) -> str:
    return f" from {duration_text(offset)}" if offset else ""
