"""Points in time as explain prints them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.model.duration import duration_text
from penstock.model.refine import FOREVER

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_text(milliseconds: int) -> str:
    """Write milliseconds since 1970 in UTC; the ends of time are named."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return "the beginning of time" if milliseconds < 0 else "the end of time"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def span_text(duration: timedelta) -> str:
    """Write a duration, or that it has no end."""
    return "all time" if duration == FOREVER else duration_text(duration)
