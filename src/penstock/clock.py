"""The one place that reads the time, so that tests can hold it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the wall-clock time in milliseconds since 1970."""

    def now(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z."""
        ...


class SystemClock:
    """The clock of this machine; it may step backwards."""

    __slots__ = ()

    def now(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z."""
        return time.time_ns() // 1_000_000


class ManualClock:
    """A clock that moves only when told to."""

    __slots__ = ("_now",)

    def __init__(self, now: int = 0) -> None:
        self._now = now

    def now(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z."""
        return self._now

    def advance(self, milliseconds: int) -> None:
        """Move the clock; a negative step is a clock set backwards."""
        self._now += milliseconds


SYSTEM_CLOCK = SystemClock()
