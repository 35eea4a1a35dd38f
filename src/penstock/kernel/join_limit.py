"""How far time has come for the rows of a join, by the watermark or by the clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from penstock.kernel.port import END_OF_TIME, Time

_ENDED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Course:
    """The times of one step, in milliseconds.

    Rows before `late` are not taken. What had its last partner before `closed` comes out alone:
    the first is the time before the step, the second after it. It leaves before `gone`.
    """

    late: int
    closed: tuple[int, int]
    gone: int


@dataclass(frozen=True, slots=True)
class JoinClock:
    """Tells the times of a step; windows of the clock go `by_clock` and wait for no row.

    Where a join `corrects` its results they come on time, and are taken back for rows that come
    late; else they wait for the last row that may come.
    """

    keep_late: int
    by_clock: bool
    corrects: bool

    def course(self, before: Time, now: Time) -> Course:
        """Give the times of a step."""
        keep_late = 0 if self.by_clock else self.keep_late
        wait = 0 if self.corrects else keep_late
        first, last = self._reached(before), self._reached(now)
        # Windows of the clock close before the rows come.
        rows = now.clock if self.by_clock else _back(first, keep_late)
        return Course(rows, (_back(first, wait), _back(last, wait)), _back(last, keep_late))

    def wake_at(self, ends: Sequence[pl.Series], now: Time) -> int | None:
        """Give the time of the clock at which the next window closes."""
        later = [end.filter(end > now.clock).min() for end in ends]
        found = [end for end in later if isinstance(end, int)]
        return min(found, default=None)

    def _reached(self, time: Time) -> int:
        if not self.by_clock or time.watermark >= END_OF_TIME:
            return time.watermark
        return time.clock


def _back(time: int, lateness: int) -> int:
    # When the input has ended, none comes late.
    return _ENDED if time >= END_OF_TIME else max(time - lateness, -END_OF_TIME)
