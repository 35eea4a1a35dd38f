"""Numbers as text, the way Spark writes them."""

from __future__ import annotations

import polars as pl

_PLAIN_FROM = 1e-3
_PLAIN_BELOW = 1e7


def float_text(value: pl.Expr) -> pl.Expr:
    """Write a floating-point number as Java does: 0.001, 1.0E7, NaN, Infinity."""
    size = value.abs()
    plain = ((size >= _PLAIN_FROM) & (size < _PLAIN_BELOW)) | (value == 0.0)
    sign = pl.when(value < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    return (
        pl.when(value.is_nan())
        .then(pl.lit("NaN"))
        .when(value.is_infinite())
        .then(sign + pl.lit("Infinity"))
        .when(plain)
        .then(value.cast(pl.String))
        .otherwise(sign + _scientific(size.cast(pl.String)))
    )


def _scientific(text: pl.Expr) -> pl.Expr:
    """Turn 123456789.125, 0.000015 or 1e+22 into one digit, the others, and an exponent."""
    mantissa = text.str.extract(r"^([0-9.]+)")
    exponent = text.str.extract(r"e\+?(-?[0-9]+)$").cast(pl.Int32).fill_null(0)
    before = mantissa.str.extract(r"^([0-9]+)").str.len_chars().cast(pl.Int32)
    figures = mantissa.str.replace(".", "", literal=True)
    digits = figures.str.strip_chars_start("0")
    zeros = (figures.str.len_chars() - digits.str.len_chars()).cast(pl.Int32)
    rest = digits.str.slice(1).str.strip_chars_end("0")
    rest = pl.when(rest == "").then(pl.lit("0")).otherwise(rest)
    power = (before - zeros - 1 + exponent).cast(pl.String)
    return digits.str.slice(0, 1) + pl.lit(".") + rest + pl.lit("E") + power
