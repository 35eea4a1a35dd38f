"""How complete the input is: a watermark for each partition of each scan, and their minimum.

A partition counts from its first row on and is left out while it is idle; a scan that has
brought nothing yet holds the watermark back until it is idle, too. Pure: clocks are given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import polars as pl

from penstock.kernel.port import END_OF_TIME, START_OF_TIME, Frame
from penstock.model.physical import Scan

Place: TypeAlias = tuple[str, int]
"""A scan and one of its partitions."""

NOWHERE = -1
"""The partition of a scan that has brought nothing yet."""

_MILLISECOND = timedelta(milliseconds=1)
_COLUMNS: Mapping[str, pl.DataType] = {
    "scan": pl.String(),
    "partition": pl.Int32(),
    "watermark": pl.Int64(),
    "active_at": pl.Int64(),
    "since": pl.Int64(),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """The watermark of one partition: how far it is, since when, and when it last brought rows."""

    watermark: int
    active_at: int
    since: int


@dataclass(frozen=True, slots=True)
class Watermarks:
    """All that is known about how complete the input is. `reached` never goes back."""

    idle: Mapping[str, int | None]
    started_at: int
    marks: Mapping[Place, Mark] = field(default_factory=dict)
    reached: int = START_OF_TIME

    @classmethod
    def start(cls, scans: tuple[Scan, ...], clock: int) -> Watermarks:
        """Begin a job: nothing has come, and the idle timeouts count from now."""
        return cls({scan.id: _idle_of(scan) for scan in scans}, clock)

    def live(self, clock: int) -> dict[Place, Mark]:
        """Give the partitions that count: those not idle."""
        return {
            place: mark for place, mark in self._all() if not self._is_idle(place[0], mark, clock)
        }

    def current(self, clock: int) -> int:
        """Give the watermark at a time of the clock: the slowest live partition's."""
        slowest = min((mark.watermark for mark in self.live(clock).values()), default=None)
        return self.reached if slowest is None else max(self.reached, slowest)

    def wake_at(self, clock: int) -> int | None:
        """Give the clock time at which a timeout moves the watermark although no row comes."""
        live = self.live(clock)
        if not live:
            return None
        slowest = min(mark.watermark for mark in live.values())
        deadlines = [
            self._deadline(place[0], mark)
            for place, mark in live.items()
            if mark.watermark == slowest
        ]
        due = max((deadline for deadline in deadlines if deadline is not None), default=None)
        if due is None or None in deadlines:
            return None
        return due if self.current(due) > self.current(clock) else None

    def to_frame(self) -> Frame:
        """Give all of it as a table, to be kept with the state; `from_frame` reads it."""
        whole = ("", NOWHERE, self.reached, self.started_at, self.started_at)
        parts = [(*place, m.watermark, m.active_at, m.since) for place, m in self.marks.items()]
        return pl.DataFrame([whole, *parts], schema=dict(_COLUMNS), orient="row")

    @classmethod
    def from_frame(cls, scans: tuple[Scan, ...], frame: Frame) -> Watermarks:
        """Read what `to_frame` wrote; a scan that is no longer there is forgotten."""
        new = cls.start(scans, 0)
        for scan, partition, watermark, active_at, since in frame.iter_rows():
            if not scan:
                new = replace(new, reached=watermark, started_at=active_at)
            elif scan in new.idle:
                mark = Mark(watermark, active_at, since)
                new = replace(new, marks={**new.marks, (scan, partition): mark})
        return new

    def _all(self) -> Iterator[tuple[Place, Mark]]:
        yield from self.marks.items()
        heard = {scan for scan, _ in self.marks}
        for scan in self.idle:
            if scan not in heard:
                yield (scan, NOWHERE), Mark(START_OF_TIME, self.started_at, self.started_at)

    def _deadline(self, scan: str, mark: Mark) -> int | None:
        idle = self.idle[scan]
        return None if idle is None else mark.active_at + idle

    def _is_idle(self, scan: str, mark: Mark, clock: int) -> bool:
        deadline = self._deadline(scan, mark)
        # A source that has ended is not waited for, and does not wait.
        return deadline is not None and clock >= deadline and mark.watermark < END_OF_TIME


def advance(
    watermarks: Watermarks, candidates: Mapping[Place, int | None], clock: int
) -> Watermarks:
    """Take what the partitions of a batch say; none says only that it brought rows."""
    marks = dict(watermarks.marks)
    for place, candidate in candidates.items():
        before = marks.get(place, Mark(START_OF_TIME, clock, clock))
        said = START_OF_TIME if candidate is None else candidate
        further = said > before.watermark
        marks[place] = Mark(
            max(said, before.watermark),
            max(clock, before.active_at),
            clock if further else before.since,
        )
    new = replace(watermarks, marks=marks)
    return replace(new, reached=new.current(clock))


def explain(watermarks: Watermarks, clock: int) -> Frame:
    """Tell of each partition where its watermark is, since when, and whether it holds the rest."""
    live = watermarks.live(clock)
    slowest = min((mark.watermark for mark in live.values()), default=END_OF_TIME)
    rows = [
        {
            "scan": place[0],
            "partition": place[1],
            "watermark": mark.watermark,
            "active_at": mark.active_at,
            "since": mark.since,
            "idle": place not in live,
            "holds": place in live and mark.watermark == slowest,
        }
        for place, mark in sorted(watermarks._all())  # noqa: SLF001
    ]
    return pl.DataFrame(rows, schema={**_COLUMNS, "idle": pl.Boolean(), "holds": pl.Boolean()})


def explain_text(watermarks: Watermarks, clock: int) -> str:
    """Say which partition holds the watermark and since when, one line each."""
    lines = [f"watermark {time_text(watermarks.current(clock))}"]
    for row in explain(watermarks, clock).iter_rows(named=True):
        place = f"{row['scan']}[{row['partition']}]"
        if row["partition"] == NOWHERE:
            lines.append(f"  {row['scan']}: no row yet" + (", idle" if row["idle"] else ", holds"))
            continue
        note = ", idle" if row["idle"] else ", holds" if row["holds"] else ""
        lines.append(
            f"  {place}: {time_text(row['watermark'])} since {time_text(row['since'])}{note}"
        )
    return "\n".join(lines)


def time_text(millis: int) -> str:
    """Write a time for people; the ends of time by their names."""
    if millis <= START_OF_TIME:
        return "start"
    if millis >= END_OF_TIME:
        return "end"
    try:
        when = datetime.fromtimestamp(millis / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return str(millis)
    return when.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")


def _idle_of(scan: Scan) -> int | None:
    idle = scan.stream.watermark.idle
    return None if idle is None else idle // _MILLISECOND
