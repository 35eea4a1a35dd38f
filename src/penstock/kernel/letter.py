"""Rows that leave beside the results: those too late, and those that failed."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence

import polars as pl

from penstock.kernel.port import DEAD_COLUMNS, TIME, Frame

REASON = "_reason"
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
    return rows.select(
        pl.lit(step).alias("step"),
        pl.lit(site).alias("site"),
        pl.lit(error).alias("error"),
        pl.lit(None, pl.String).alias("traceback"),
        row_json(rows, columns),
        pl.col(TIME).alias("time"),
    ).cast(pl.Schema(DEAD_COLUMNS))


def row_json(rows: Frame, columns: Sequence[str]) -> pl.Series:
    """Give each row as JSON; bytes are written in base64, NaN and infinity as text."""
    held = [name for name in columns if name in rows.columns]
    if not held:
        return pl.Series("row", ["{}"] * rows.height, dtype=pl.String)
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
