"""Which windows a row belongs to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.kernel.expression import lower
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, TAKEN, TIME, Frame
from penstock.model.window import Custom, Global, Hopping, Session, Tumbling
from penstock.schema.schema import Schema

Assignable: TypeAlias = Tumbling | Hopping | Session | Global | Custom
Whole: TypeAlias = npt.NDArray[np.int64]

Failure: TypeAlias = tuple[int, Exception]
"""A row, by its number among those with a time, and what its function raised."""

START = "_start"
END = "_end"
_MILLISECOND = timedelta(milliseconds=1)


def assign(
    frame: Frame,
    window: Assignable,
    schema: Schema,
    clock: int = 0,
    failed: list[Failure] | None = None,
) -> Frame:
    """Give the rows with the bounds of their windows, once for each window they belong to.

    Rows stay in their order, and the windows of a row go by their start. A row without a
    time belongs to no window. Rows that make the user's function raise are noted in
    `failed`; without it the error goes on.
    """
    frame = _timed(frame, window, clock)
    if isinstance(window, Hopping):
        return _hopping(frame, window, clock)
    if isinstance(window, Custom):
        return _custom(frame, window, schema, clock, failed)
    start, end = _bounds(window, schema, time_of(window, clock))
    return frame.with_columns(start.alias(START), end.alias(END))


def time_of(window: Assignable | None, clock: int) -> pl.Expr:
    """Give the time of a row that a window goes by."""
    match "event" if window is None else window.domain:
        case "processing":
            return pl.lit(clock, pl.Int64)
        case "ingestion":
            return pl.col(TAKEN)
        case _:
            return pl.col(TIME)


def millis(span: timedelta) -> int:
    """Give a duration in whole milliseconds."""
    return span // _MILLISECOND


def floor_to(time: pl.Expr, period: int, offset: int) -> pl.Expr:
    """Give the last multiple of the period, moved by the offset, that is not after a time."""
    return time - (time - offset) % period


def _timed(frame: Frame, window: Assignable, clock: int) -> Frame:
    if isinstance(window, Global) or window.domain == "processing":
        return frame
    time = frame.select(time_of(window, clock)).to_series()
    return frame.filter(time.is_not_null()) if time.null_count() else frame


def _bounds(
    window: Tumbling | Session | Global, schema: Schema, time: pl.Expr
) -> tuple[pl.Expr, pl.Expr]:
    match window:
        case Tumbling(size, offset):
            start = floor_to(time, millis(size), millis(offset))
            return start, start + millis(size)
        case Session(gap):
            # A gap that is not above 0 makes a window of no length: it only joins others.
            length = (
                pl.lit(millis(gap), pl.Int64)
                if isinstance(gap, timedelta)
                else pl.max_horizontal(lower(gap, schema).cast(pl.Int64).fill_null(0), 0)
            )
            return time, time + length
        case Global():
            return pl.lit(START_OF_TIME, pl.Int64), pl.lit(END_OF_TIME, pl.Int64)


def _hopping(frame: Frame, window: Hopping, clock: int) -> Frame:
    size, slide = millis(window.size), millis(window.slide)
    times = frame.with_columns(time_of(window, clock).alias(TIME))[TIME].to_numpy()
    last = times - (times - millis(window.offset)) % slide
    rows, start = spread(last, size, slide, times)
    return frame[pl.Series(rows, dtype=pl.UInt32)].with_columns(
        pl.Series(START, start, dtype=pl.Int64), pl.Series(END, start + size, dtype=pl.Int64)
    )


def spread(last: Whole, size: int, slide: int, time: Whole) -> tuple[Whole, Whole]:
    """Give each row, by its number, with the start of each window that holds its time.

    `last` is the last start that is not after the time of the row.
    """
    copies = -(-size // slide)
    starts = last[:, None] - slide * np.arange(copies - 1, -1, -1, dtype=np.int64)[None, :]
    held = starts + size > time[:, None]
    rows, _ = np.nonzero(held)
    return rows.astype(np.int64), starts[held]


def _spans(window: Custom, time: int, row: dict[str, Any]) -> list[tuple[int, int]]:
    """Ask the user's function for the windows of a row."""
    spans = sorted({(int(start), int(end)) for start, end in window.assign(time, row)})
    for start, end in spans:
        if end < start:
            message = f"window [{start}, {end}) ends before it starts"
            raise ValueError(message)
    return spans


def _custom(
    frame: Frame, window: Custom, schema: Schema, clock: int, failed: list[Failure] | None
) -> Frame:
    times = [clock] * frame.height
    if window.domain != "processing":
        times = frame.select(time_of(window, clock)).to_series().to_list()
    columns = frame.select(schema.names)
    found: list[tuple[int, int, int]] = []
    for row, values in enumerate(columns.iter_rows(named=True)):
        try:
            spans = _spans(window, times[row], values)
        except Exception as error:
            if failed is None:
                raise
            failed.append((row, error))
            continue
        found += [(row, start, end) for start, end in spans]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 3)
    return frame[pl.Series(pairs[:, 0], dtype=pl.UInt32)].with_columns(
        pl.Series(START, pairs[:, 1], dtype=pl.Int64), pl.Series(END, pairs[:, 2], dtype=pl.Int64)
    )
