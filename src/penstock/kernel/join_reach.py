"""How far apart in time two rows may lie, in whole milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from penstock.model.join_bound import Interval

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Reach:
    """The right row lies from `low` to `high` milliseconds after the left one, both included."""

    low: int
    high: int

    @property
    def turned(self) -> Reach:
        """The same, seen from the right row."""
        return Reach(-self.high, -self.low)


def reach_of(interval: Interval) -> Reach:
    """Give an interval whose ends both belong to it."""
    return Reach(
        -_most(interval.before, is_open=interval.open_before),
        _most(interval.after, is_open=interval.open_after),
    )


def _most(span: timedelta, *, is_open: bool) -> int:
    """Give the greatest whole number up to a span, or below it where the end is open."""
    return -(-span // _MILLISECOND) - 1 if is_open else span // _MILLISECOND
