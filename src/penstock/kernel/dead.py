"""Rows that made a step fail, each with its own error."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

import polars as pl

from penstock.kernel.letter import record_of, row_json, whole_letters
from penstock.kernel.port import TIME, Frame
from penstock.log.record import HEADERS_COLUMN, KEY_COLUMN, TIMESTAMP_COLUMN, VALUE_COLUMN

_HOUSE = "penstock"
_RECORD = {
    TIMESTAMP_COLUMN: "timestamp",
    KEY_COLUMN: "key",
    HEADERS_COLUMN: "headers",
    VALUE_COLUMN: "raw",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What happened to the row at `place` of a frame."""

    place: int
    error: str
    traceback: str | None = None


def failure_of(place: int, error: Exception) -> Failure:
    """Describe an exception: its text, and the user's part of its traceback."""
    text = "".join(traceback.format_exception_only(error)).strip()
    frames = _user_frames(error.__traceback__)
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames)]
    return Failure(place, text, "".join(lines) + text if frames else text)


def letters(
    frame: Frame, columns: Sequence[str], failures: Sequence[Failure], *, step: str, site: str
) -> Frame:
    """Give the failed rows of a frame as dead letters."""
    rows = frame[[failure.place for failure in failures]]
    return whole_letters(
        rows.select(
            pl.lit(step).alias("step"),
            pl.lit(site).alias("site"),
            pl.Series("error", [failure.error for failure in failures], pl.String),
            pl.Series("traceback", [failure.traceback for failure in failures], pl.String),
            *_told(rows, columns),
            pl.col(TIME).alias("time"),
            *record_of(rows),
        )
    )


def _told(rows: Frame, columns: Sequence[str]) -> list[pl.Series | pl.Expr]:
    """Give rows as JSON; those that are records as the log has them by their bytes."""
    if not all(name in rows.columns for name in _RECORD) or rows.schema[VALUE_COLUMN] != pl.Binary:
        return [readable_json(rows, columns)]
    return [pl.col(name).alias(told) for name, told in _RECORD.items()]


def readable_json(rows: Frame, columns: Sequence[str]) -> pl.Series:
    """Give each row as JSON; a number JSON cannot say (NaN, inf) is written as text."""
    floats = [name for name in columns if rows.schema.get(name) == pl.Float64]
    plain = row_json(rows, columns)
    strange = [~pl.col(name).is_finite().fill_null(value=True) for name in floats]
    if not floats or not rows.select(pl.any_horizontal(strange).any()).item():
        return plain
    spoken = row_json(rows.with_columns(pl.col(floats).cast(pl.String)), columns)
    return rows.select(
        pl.when(pl.any_horizontal(strange)).then(spoken).otherwise(plain).alias("row")
    ).to_series()


def _user_frames(place: TracebackType | None) -> traceback.StackSummary:
    frames = []
    while place is not None:
        name = str(place.tb_frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] != _HOUSE:
            frames.append((place.tb_frame, place.tb_lineno))
        place = place.tb_next
    return traceback.StackSummary.extract(iter(frames))
