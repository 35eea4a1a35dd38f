"""Rows as they come from one partition of a topic: stamped, checked, and heard for watermarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import polars as pl

from penstock.kernel.expression import lower
from penstock.kernel.letter import dead_letters, outside_calendar
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    ORIGIN,
    START_OF_TIME,
    TAKEN,
    TIME,
    WEIGHT,
    Counts,
    Frame,
)
from penstock.model.expr import columns_of
from penstock.model.physical import Scan
from penstock.model.source import Stream
from penstock.model.times import Times
from penstock.model.watermark import AtEnd, BoundedDisorder, Perfect, Punctuated

_MILLISECOND = timedelta(milliseconds=1)
_SAYS = "_says"
_OUTSIDE = "lies outside of the years 1 to 9999"


@dataclass(frozen=True, slots=True)
class Skew:
    """How far rows were behind the clock: of how many, least, most and in all."""

    rows: int = 0
    least: int = 0
    most: int = 0
    total: int = 0

    def __add__(self, other: Skew) -> Skew:
        """Give the skew of the rows of both."""
        if not self.rows or not other.rows:
            return self if self.rows else other
        return Skew(
            self.rows + other.rows,
            min(self.least, other.least),
            max(self.most, other.most),
            self.total + other.total,
        )


@dataclass(frozen=True, slots=True)
class Observed:
    """What one partition's share of a batch amounts to.

    `rows` are those to go on with, `dead` the letters of those parked, and `candidate` the
    watermark the partition may claim from now on: none where the rows say nothing.
    """

    rows: Frame
    dead: Frame | None = None
    candidate: int | None = None
    counts: Counts = field(default_factory=Counts)
    skew: Skew = field(default_factory=Skew)


def needed_columns(scan: Scan) -> tuple[str, ...]:
    """Give the columns to be read: those of the steps, of the event time and the watermark."""
    stream = scan.stream
    if stream.times is not None:
        return stream.columns.names
    needed = {*scan.columns, *_watermark_columns(stream), *stream.key}
    if stream.event_time is not None:
        needed.add(stream.event_time)
    return tuple(name for name in stream.columns.names if name in needed)


def taken_columns(scan: Scan, rows: Frame) -> list[str]:
    """Give the columns of rows that `Program.take` has a use for."""
    wanted = {*needed_columns(scan), WEIGHT, TAKEN, *ORIGIN}
    return [name for name in rows.columns if name in wanted]


def stamp(stream: Stream, rows: Frame) -> Frame:
    """Give rows, which have `_taken`, their event time and their weight."""
    time = _time(stream, rows)
    weighted = WEIGHT in rows.columns and (stream.changelog or bool(stream.key))
    weight = pl.col(WEIGHT) if weighted else pl.lit(1)
    if weighted and stream.key:
        # A deletion says nothing but its key: it happened when the log took it.
        gone = (pl.col(WEIGHT) < 0) & time.is_null()
        time = pl.when(gone).then(pl.col(TAKEN)).otherwise(time)
    return rows.with_columns(
        weight.cast(CONTROL[WEIGHT]).alias(WEIGHT),
        time.cast(CONTROL[TIME]).alias(TIME),
        pl.col(TAKEN).cast(CONTROL[TAKEN]),
    )


def _time(stream: Stream, rows: Frame) -> pl.Expr:
    if stream.times is not None:
        return pl.lit(_told(stream.times, rows.select(stream.columns.names)))
    return pl.col(TAKEN) if stream.event_time is None else _millis(rows, stream.event_time)


def _told(times: Times, rows: Frame) -> pl.Series:
    """Give when rows happened; those that do not tell say nothing to the watermark."""
    opened = pl.DataFrame(pl.from_arrow(times.opens(rows.to_arrow()).rows))
    told = opened.select(lower(times.time, times.columns).cast(pl.Int64).alias("_")).to_series()
    usable = told.is_between(START_OF_TIME, END_OF_TIME - 1).fill_null(value=False)
    return told.set(~usable, START_OF_TIME)


def observe(stream: Stream, rows: Frame, clock: int | None) -> Observed:
    """Take out control rows and rows without a usable time, and hear what the rest says.

    `rows` are stamped. Without a clock no time is too far ahead of it.
    """
    latest = _latest_allowed(stream, clock)
    usable = pl.col(TIME).is_between(START_OF_TIME, latest)
    if isinstance(stream.watermark, Punctuated):
        rows = rows.with_columns(_millis(rows, stream.watermark.column).alias(_SAYS))
        usable &= (pl.col(_SAYS) <= latest).fill_null(value=True)
    data, control = _without_control(stream, rows)
    # Neither Python nor polars can say a time outside: it must not get to a user's function.
    strange = outside_calendar(data, stream.columns.names)
    if strange is not None:
        usable &= ~strange
    good = data.select(usable.fill_null(value=False)).to_series()
    parked = data.clear() if good.all() else data.filter(~good)
    data = data.filter(good) if parked.height else data
    dead = _letters(stream, parked) if parked.height else None
    said = _said(stream, data, control, latest)
    data = data.drop(_SAYS, strict=False)
    counts = Counts(rows.height, data.height, control.height, 0, parked.height, data.height)
    return Observed(data, dead, said, counts, _skew(data, clock))


def _said(stream: Stream, data: Frame, control: Frame, latest: int) -> int | None:
    match stream.watermark:
        case BoundedDisorder(delay=delay):
            said, less = _most(data[TIME]), delay // _MILLISECOND
        case Perfect():
            said, less = _most(data[TIME]), 0
        case Punctuated():
            words = control.filter(pl.col(_SAYS) <= latest)[_SAYS]
            said, less = _most(pl.concat([data[_SAYS], words])), 0
        case AtEnd():
            return None
    return None if said is None else max(START_OF_TIME, said - less)


def _most(times: pl.Series) -> int | None:
    most = times.max()
    return most if isinstance(most, int) else None


def _without_control(stream: Stream, rows: Frame) -> tuple[Frame, Frame]:
    strategy = stream.watermark
    if not isinstance(strategy, Punctuated) or strategy.control is None:
        return rows, rows.clear()
    is_control = rows.select(lower(strategy.control, stream.columns).fill_null(value=False))
    mask = is_control.to_series()
    return rows.filter(~mask), rows.filter(mask)


def _latest_allowed(stream: Stream, clock: int | None) -> int:
    ahead = stream.watermark.max_ahead
    if clock is None or ahead is None:
        return END_OF_TIME - 1
    return min(END_OF_TIME - 1, clock + ahead // _MILLISECOND)


def _letters(stream: Stream, parked: Frame) -> Frame:
    name = "taken by the log" if stream.event_time is None else f'event time "{stream.event_time}"'
    time = pl.col(TIME)
    error = (
        pl.when(time.is_null())
        .then(pl.lit(f"[EVENT_TIME_NULL] {name} is null"))
        .when(time < START_OF_TIME)
        .then(pl.lit(f"[EVENT_TIME_RANGE] {name} lies before the start of time"))
        .when(_outside(parked, (stream.event_time or TAKEN,)))
        .then(pl.lit(f"[EVENT_TIME_RANGE] {name} {_OUTSIDE}"))
        .when(_outside(parked, stream.columns.names))
        .then(pl.lit(f"[VALUE_RANGE] a time of the row {_OUTSIDE}"))
        .otherwise(pl.lit(f"[EVENT_TIME_AHEAD] {name} lies too far ahead of the clock"))
    )
    names = stream.columns.names
    letters = dead_letters(parked, names, step=stream.topic, site=stream.site, error="")
    told = letters.with_columns(parked.select(error.alias("error")))
    return told.with_columns(pl.lit(stream.topic).alias("topic"))


def _outside(rows: Frame, columns: Sequence[str]) -> pl.Expr:
    strange = outside_calendar(rows, columns)
    return pl.lit(value=False) if strange is None else pl.lit(strange)


def _skew(rows: Frame, clock: int | None) -> Skew:
    if clock is None or rows.is_empty():
        return Skew()
    behind = clock - rows[TIME]
    least, most, total = behind.min(), behind.max(), behind.sum()
    return Skew(rows.height, int(least), int(most), int(total))  # type: ignore[arg-type]


def _millis(rows: Frame, column: str) -> pl.Expr:
    if isinstance(rows.schema[column], pl.Datetime):
        return pl.col(column).dt.epoch("ms")
    return pl.col(column)


def _watermark_columns(stream: Stream) -> Iterable[str]:
    strategy = stream.watermark
    if isinstance(strategy, Punctuated):
        yield strategy.column
        if strategy.control is not None:
            yield from columns_of(strategy.control)
