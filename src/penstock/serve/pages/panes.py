"""The panes of windows, as the records of a result topic tell them.

A record tells its window by the columns `window_start` and `window_end`, or, in a table of SQL, by
the bounds behind its key. When it was given is when the log took it. Which pane it is says the
column `pane_timing` (`.with_panes()`); where there is none it follows from the watermark that
the job had then: before the end of the window a pane is early, the first one after it is on time,
the others are late. One of weight -1, or a tombstone, takes a pane back.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from penstock.model.progress import Instant

Timing: TypeAlias = Literal["early", "on-time", "late", "retracted", "given"]
TIMINGS: tuple[Timing, ...] = ("early", "on-time", "late", "retracted", "given")
START, END, TIMING, WEIGHT = "window_start", "window_end", "pane_timing", "_weight"
_OWN = {START, END, TIMING, WEIGHT, "pane_index", "pane_first", "pane_last"}


@dataclass(frozen=True, slots=True)
class Told:
    """A result as its record tells it; times are milliseconds since 1970."""

    key: str
    start: int
    end: int
    given_at: int
    values: tuple[tuple[str, Any], ...]
    taken_back: bool = False
    timing: str = ""


@dataclass(frozen=True, slots=True)
class Pane:
    """A pane: what was given of one window of one key, when, and what it was."""

    key: str
    start: int
    end: int
    given_at: int
    timing: Timing
    values: tuple[tuple[str, Any], ...]


class Watermarks:
    """The watermark that a job had at any time of its latest batches."""

    def __init__(self, batches: Iterable[Instant]) -> None:
        known = sorted(batches, key=lambda batch: batch.clock)
        self._clocks = [batch.clock for batch in known]
        self._marks = [batch.watermark for batch in known]

    @property
    def curve(self) -> list[tuple[int, int]]:
        """Pairs of event time and clock, the oldest first."""
        pairs = zip(self._marks, self._clocks, strict=True)
        return [(mark, clock) for mark, clock in pairs if mark > 0]

    def at(self, clock: int) -> int | None:
        """Give the watermark after the batch that was in hand at a time; none where unknown."""
        place = bisect.bisect_right(self._clocks, clock) - 1
        return None if place < 0 else self._marks[place]


def panes_of(results: Sequence[Told], marks: Watermarks) -> list[Pane]:
    """Say of each result which pane it is; they stand in the order in which they were given."""
    over: set[tuple[str, int, int]] = set()
    found = []
    for told in sorted(results, key=lambda item: item.given_at):
        window = (told.key, told.start, told.end)
        timing = _timing(told, marks, over=window in over)
        if timing in ("on-time", "late"):
            over.add(window)
        found.append(Pane(told.key, told.start, told.end, told.given_at, timing, told.values))
    return found


def _timing(told: Told, marks: Watermarks, *, over: bool) -> Timing:
    if told.taken_back:
        return "retracted"
    for known in TIMINGS:
        if told.timing == known:
            return known
    reached = marks.at(told.given_at)
    if reached is None:
        return "given"
    if reached < told.end:
        return "early"
    return "late" if over else "on-time"


def told_of(row: dict[str, Any], given_at: int, key: str) -> Told | None:
    """Read a row of a topic with columns; none where it has no window."""
    start, end = milliseconds(row.get(START)), milliseconds(row.get(END))
    if start is None or end is None:
        return None
    values = tuple((name, value) for name, value in row.items() if name not in _OWN)
    return Told(
        key=key,
        start=start,
        end=end,
        given_at=given_at,
        values=values,
        taken_back=int(row.get(WEIGHT) or 1) < 0,
        timing=str(row.get(TIMING) or ""),
    )


def milliseconds(value: Any) -> int | None:  # noqa: ANN401  # a value of any type
    """Give a time as a number."""
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    return value if isinstance(value, int) else None
