"""Rounding as Spark does it: halves away from zero, as the number is written."""

from __future__ import annotations

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Arguments, constant_int
from penstock.kernel.functions.division import quotient
from penstock.schema.types import Kind, Type

_MOST_DIGITS = 38
_SOLID = 2.0**52
"""From here on a floating-point number has no fraction."""
_HUGE = 1e37
"""From here on it has no digits left that rounding to tens or hundreds could change."""
_SURE = 1e15
"""Below this a scaled number has at most 15 digits, so its text is its shortest form."""


def rounded(arguments: Arguments, gives: Type) -> pl.Expr:
    """Round to decimal places; fewer than none rounds to tens, hundreds and so on."""
    value = arguments[0].value
    places = constant_int(arguments, 1, default=0)
    match gives.kind:
        case Kind.FLOAT64:
            return _rounded_float(value, places)
        case Kind.DECIMAL:
            return _rounded_decimal(value, places, gives)
        case _:
            return value if places >= 0 else _rounded_whole(value, -places, gives)


def _rounded_float(value: pl.Expr, places: int) -> pl.Expr:
    if places == 0:
        return value.round(0, mode="half_away_from_zero")
    size = value.abs()
    scale = 10.0 ** abs(places)
    scaled = size * scale if places > 0 else quotient(size, pl.lit(scale))
    solid = value.is_nan() | value.is_infinite() | (size >= (_SOLID if places > 0 else _HUGE))
    return (
        pl.when(solid)
        .then(value)
        .when(scaled < _SURE)
        .then(_by_number(value, size, scaled.floor(), places))
        .otherwise(_by_text(value, places))
    )


def _by_number(value: pl.Expr, size: pl.Expr, floor: pl.Expr, places: int) -> pl.Expr:
    """Round a number whose multiple is exact enough to know its neighbours.

    Which side of the half it lies on is asked of the number itself, not of its multiple,
    which is rounded: 2.675 * 100 is below 267.5, and yet 2.675 becomes 2.68.
    """
    whole = pl.when(_unscaled(floor, places) > size).then(floor - 1).otherwise(floor)
    up = size >= _unscaled(whole + 0.5, places)
    near = _unscaled(pl.when(up).then(whole + 1).otherwise(whole), places)
    return pl.when(value < 0).then(-near).otherwise(near)


def _unscaled(value: pl.Expr, places: int) -> pl.Expr:
    scale = 10.0 ** abs(places)
    return quotient(value, pl.lit(scale)) if places > 0 else value * scale


def _by_text(value: pl.Expr, places: int) -> pl.Expr:
    fine = pl.Decimal(_MOST_DIGITS, 21 if places > 0 else 0)
    exact = value.cast(pl.String).cast(fine, strict=False)
    if places > 0:
        near = exact.round(places, mode="half_away_from_zero")
    else:
        near = _nearest(exact.cast(pl.Int128), 10**-places)
    return near.cast(pl.String).cast(pl.Float64)


def _rounded_decimal(value: pl.Expr, places: int, gives: Type) -> pl.Expr:
    if places >= gives.scale:
        return value
    if places >= 0:
        near = value.round(places, mode="half_away_from_zero")
    else:
        # What lies behind the point cannot reach a half of tens or hundreds.
        whole = _nearest(value.cast(pl.Int128), 10**-places)
        near = whole.cast(pl.Decimal(_MOST_DIGITS, 0))
    return near.cast(dtype_of(gives), strict=False)


def _rounded_whole(value: pl.Expr, zeros: int, gives: Type) -> pl.Expr:
    near = _nearest(value.cast(pl.Int128), 10**zeros)
    return near.cast(dtype_of(gives), strict=False, wrap_numerical=True)


def _nearest(value: pl.Expr, step: int) -> pl.Expr:
    sign = pl.when(value < 0).then(pl.lit(-1, pl.Int128)).otherwise(pl.lit(1, pl.Int128))
    return (value * sign + step // 2) // step * step * sign
