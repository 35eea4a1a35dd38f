"""Rows that leave beside the results: those too late, and those that failed."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date

import polars as pl

from penstock.kernel.port import DEAD_COLUMNS, ORIGIN, TIME, Frame

REASON = "_reason"
_EPOCH = date(1970, 1, 1)
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
LATE_COLUMNS: Mapping[str, pl.DataType] = {
    "step": pl.String(),
    "site": pl.String(),
    "reason": pl.String(),
    "row": pl.String(),
    "time": pl.Int64(),
}
"""A late row: which step refused it, where that was written, why, and the row as JSON."""


def late_letters(rows: Frame, columns: Sequence[str], *, step: str, site: str) -> Frame:
    """Give late rows, whatever their columns, as columns that are always the same."""
    return rows.select(
        pl.lit(step).alias("step"),
        pl.lit(site).alias("site"),
        pl.col(REASON).alias("reason")
        if REASON in rows.columns
        else pl.lit("late").alias("reason"),
        row_json(rows, columns),
        pl.col(TIME).alias("time"),
    ).cast(pl.Schema(LATE_COLUMNS))


def dead_letters(rows: Frame, columns: Sequence[str], *, step: str, site: str, error: str) -> Frame:
    """Give rows that failed for one reason, without a traceback, as dead letters."""
    return whole_letters(
        rows.select(
            pl.lit(step).alias("step"),
            pl.lit(site).alias("site"),
            pl.lit(error).alias("error"),
            row_json(rows, columns),
            pl.col(TIME).alias("time"),
            *record_of(rows),
        )
    )


def record_of(rows: Frame) -> list[pl.Expr]:
    """Give which records rows were, where they know it, as dead letters say it."""
    return [pl.col(name).alias(name.removeprefix("_")) for name in ORIGIN if name in rows.columns]


def whole_letters(told: Frame) -> Frame:
    """Give dead letters of which something is told; the rest is null."""
    missing = [pl.lit(None).alias(name) for name in DEAD_COLUMNS if name not in told.columns]
    return told.with_columns(missing).select(*DEAD_COLUMNS).cast(pl.Schema(DEAD_COLUMNS))


def row_json(rows: Frame, columns: Sequence[str]) -> pl.Series:
    """Give each row as JSON; bytes are written in base64, NaN and infinity as text.

    A row with a time that no calendar has is written with its times as numbers.
    """
    held = [name for name in columns if name in rows.columns]
    if not held:
        return pl.Series("row", ["{}"] * rows.height, dtype=pl.String)
    strange = outside_calendar(rows, held)
    if strange is None:
        return _calendar_json(rows, held)
    times = pl.selectors.by_dtype(pl.Date, pl.Datetime)
    numbers = _calendar_json(rows.with_columns(times.to_physical()), held)
    # polars panics on such a time even where the result is not used.
    named = _calendar_json(rows.with_columns(pl.when(~strange).then(times)), held)
    return named.zip_with(~strange, numbers)


def outside_calendar(rows: Frame, columns: Sequence[str]) -> pl.Series | None:
    """Say which rows hold a time outside of the years 1 to 9999; none where no row does."""
    limits = {name: _limits(rows.schema[name]) for name in columns if name in rows.columns}
    found = [
        ~pl.col(name).to_physical().is_between(*limit).fill_null(value=True)
        for name, limit in limits.items()
        if limit is not None
    ]
    if not found:
        return None
    strange = rows.select(pl.any_horizontal(found).alias("strange")).to_series()
    return strange if strange.any() else None


def _limits(dtype: pl.DataType) -> tuple[int, int] | None:
    """Give the first and the last number of a time that Python, and JSON, can say."""
    if isinstance(dtype, pl.Date):
        return (date.min - _EPOCH).days, (date.max - _EPOCH).days
    if isinstance(dtype, pl.Datetime):
        unit = _PER_DAY[dtype.time_unit or "us"]
        return (date.min - _EPOCH).days * unit, ((date.max - _EPOCH).days + 1) * unit - 1
    return None


def _calendar_json(rows: Frame, held: Sequence[str]) -> pl.Series:
    if any(_holds_bytes(rows.schema[name], top=True) for name in held):
        # polars cannot write bytes inside of lists and structs.
        texts = [json.dumps(row, default=_text) for row in rows.select(held).iter_rows(named=True)]
        return pl.Series("row", texts, dtype=pl.String)
    plain = pl.struct(_part(rows, name) for name in held).struct.json_encode()
    floats = [pl.col(name) for name in held if rows.schema[name] == pl.Float64]
    if not floats:
        return rows.select(plain.alias("row")).to_series()
    # JSON has no word for them, and polars would write null.
    spoken = pl.struct(
        pl.col(name).cast(pl.String) if rows.schema[name] == pl.Float64 else _part(rows, name)
        for name in held
    ).struct.json_encode()
    strange = pl.any_horizontal(~number.is_finite().fill_null(value=True) for number in floats)
    return rows.select(pl.when(strange).then(spoken).otherwise(plain).alias("row")).to_series()


def _part(rows: Frame, name: str) -> pl.Expr:
    return pl.col(name).bin.encode("base64") if rows.schema[name] == pl.Binary else pl.col(name)


def _holds_bytes(dtype: pl.DataType, *, top: bool = False) -> bool:
    if dtype == pl.Binary:
        return not top
    inner = getattr(dtype, "inner", None)
    if isinstance(inner, pl.DataType) and _holds_bytes(inner):
        return True
    fields = getattr(dtype, "fields", [])
    return any(_holds_bytes(part.dtype) for part in fields)


def _text(value: object) -> str:
    return b64encode(value).decode() if isinstance(value, bytes) else str(value)
