"""Numbers and truth read from text as Spark reads them; what cannot be read is null."""

from __future__ import annotations

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.schema.types import Type

_BLANK = r"[\x00-\x20]*"
_MOST_DIGITS = 38
_TRUE = ("t", "true", "y", "yes", "1")
_FALSE = ("f", "false", "n", "no", "0")


def whole_of(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    """Read a whole number; a fraction is cut off."""
    sound = value.str.contains(rf"^{_BLANK}[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]*){_BLANK}$")
    digits = value.str.extract(r"([+-]?[0-9]*)(?:\.[0-9]*)?[\x00-\x20]*$")
    digits = pl.when(digits.is_in(["", "+", "-"])).then(pl.lit("0")).otherwise(digits)
    return pl.when(sound).then(digits.cast(dtype_of(target), strict=False))


def float_of(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    """Read a floating-point number, Java's endings `d` and `f` and the infinities included."""
    text = value.str.extract(
        rf"(?i)^{_BLANK}([+-]?(?:nan|inf(?:inity)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))"
        rf"[fd]?{_BLANK}$"
    )
    return text.cast(pl.Float64, strict=False)


def decimal_of_text(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    """Read a decimal number and round it, halves away from zero."""
    text = value.str.extract(
        rf"^{_BLANK}([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?){_BLANK}$"
    )
    fine = pl.Decimal(_MOST_DIGITS, _MOST_DIGITS - (target.precision - target.scale))
    exact = text.cast(fine, strict=False)
    return exact.round(target.scale, mode="half_away_from_zero").cast(
        dtype_of(target), strict=False
    )


def boolean_of(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    """Read true and false in Spark's spellings."""
    word = value.str.extract(rf"^{_BLANK}(.*?){_BLANK}$").str.to_lowercase()
    return (
        pl.when(word.is_in(_TRUE)).then(pl.lit(True)).when(word.is_in(_FALSE)).then(pl.lit(False))  # noqa: FBT003
    )
