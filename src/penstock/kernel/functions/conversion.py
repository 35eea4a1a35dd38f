"""Values turned into other types, as Spark does it without ANSI: what does not fit is null."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.division import quotient
from penstock.kernel.functions.float_text import float_text
from penstock.kernel.functions.text_number import boolean_of, decimal_of_text, float_of, whole_of
from penstock.kernel.functions.text_time import date_of, timestamp_of
from penstock.schema.types import STRING, Kind, Type

Converter: TypeAlias = Callable[[pl.Expr, Type, Type], pl.Expr]

_EXACT_DIGITS = 15
_LIMITS = {Kind.INT32: (-(2**31), 2**31 - 1), Kind.INT64: (-(2**63), 2**63 - 1)}
_SECOND = 1000


def converted(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    """Give a value as another type; `model.conversion` says which casts there are."""
    if source == target:
        return value
    return CONVERTERS[source.kind, target.kind](value, source, target)


def _plain(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    return value.cast(dtype_of(target), strict=False)


def _low_bits(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    return value.cast(dtype_of(target), strict=False, wrap_numerical=True)


def _float_to_whole(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    low, high = _LIMITS[target.kind]
    dtype = dtype_of(target)
    return (
        pl.when(value.is_nan())
        .then(pl.lit(0, dtype))
        .when(value >= float(high))
        .then(pl.lit(high, dtype))
        .when(value <= float(low))
        .then(pl.lit(low, dtype))
        .otherwise(value.cast(dtype, strict=False))
    )


def _float_to_decimal(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    return decimal_of_text(float_text(value), STRING, target)


def _decimal_to_decimal(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    if source.scale > target.scale:
        value = value.round(target.scale, mode="half_away_from_zero")
    return value.cast(dtype_of(target), strict=False)


def _decimal_to_whole(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    # Spark keeps the low bits of a number that is too large.
    return value.cast(pl.Int128).cast(dtype_of(target), strict=False, wrap_numerical=True)


def _decimal_to_float(value: pl.Expr, source: Type, _: Type) -> pl.Expr:
    if source.precision <= _EXACT_DIGITS:
        return value.cast(pl.Float64)
    # The division that polars does rounds long numbers twice; reading the text rounds once.
    return value.cast(pl.String).cast(pl.Float64)


def _boolean_to_decimal(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    return value.cast(pl.Int32).cast(dtype_of(target), strict=False)


def _to_boolean(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    return value != 0


def _float_to_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    return float_text(value)


def _timestamp_to_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    text = value.dt.strftime("%Y-%m-%d %H:%M:%S%.3f")
    return text.str.replace(r"\.000$", "").str.replace(r"(\.[0-9]*?[1-9])0+$", "${1}")


def _seconds_to_timestamp(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    return (value.cast(pl.Int64) * _SECOND).cast(dtype_of(target))


def _timestamp_to_seconds(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    seconds = value.cast(pl.Int64).floordiv(_SECOND)
    return seconds.cast(dtype_of(target), strict=False, wrap_numerical=True)


def _timestamp_to_float(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    return quotient(value.cast(pl.Int64).cast(pl.Float64), pl.lit(float(_SECOND)))


def _arrays(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    assert source.item is not None
    assert target.item is not None
    return value.list.eval(converted(pl.element(), source.item, target.item))


_WHOLE = (Kind.INT32, Kind.INT64)
_NUMBERS = (*_WHOLE, Kind.FLOAT64, Kind.DECIMAL)

CONVERTERS: Mapping[tuple[Kind, Kind], Converter] = {
    **{(Kind.BOOLEAN, kind): _plain for kind in (*_WHOLE, Kind.FLOAT64, Kind.STRING)},
    (Kind.BOOLEAN, Kind.DECIMAL): _boolean_to_decimal,
    **{(kind, Kind.BOOLEAN): _to_boolean for kind in _NUMBERS},
    **{(kind, Kind.FLOAT64): _plain for kind in _WHOLE},
    **{(kind, Kind.DECIMAL): _plain for kind in _WHOLE},
    **{(kind, Kind.STRING): _plain for kind in (*_WHOLE, Kind.DECIMAL, Kind.DATE, Kind.BYTES)},
    **{(Kind.FLOAT64, kind): _float_to_whole for kind in _WHOLE},
    **{(Kind.DECIMAL, kind): _decimal_to_whole for kind in _WHOLE},
    **{(Kind.STRING, kind): whole_of for kind in _WHOLE},
    **{(Kind.TIMESTAMP, kind): _timestamp_to_seconds for kind in _WHOLE},
    **{(kind, Kind.TIMESTAMP): _seconds_to_timestamp for kind in _WHOLE},
    (Kind.INT32, Kind.INT64): _plain,
    (Kind.INT64, Kind.INT32): _low_bits,
    (Kind.FLOAT64, Kind.DECIMAL): _float_to_decimal,
    (Kind.FLOAT64, Kind.STRING): _float_to_text,
    (Kind.DECIMAL, Kind.DECIMAL): _decimal_to_decimal,
    (Kind.DECIMAL, Kind.FLOAT64): _decimal_to_float,
    (Kind.STRING, Kind.FLOAT64): float_of,
    (Kind.STRING, Kind.DECIMAL): decimal_of_text,
    (Kind.STRING, Kind.BOOLEAN): boolean_of,
    (Kind.STRING, Kind.DATE): date_of,
    (Kind.STRING, Kind.TIMESTAMP): timestamp_of,
    (Kind.STRING, Kind.BYTES): _plain,
    (Kind.TIMESTAMP, Kind.FLOAT64): _timestamp_to_float,
    (Kind.TIMESTAMP, Kind.STRING): _timestamp_to_text,
    (Kind.TIMESTAMP, Kind.DATE): _plain,
    (Kind.DATE, Kind.TIMESTAMP): _plain,
    (Kind.ARRAY, Kind.ARRAY): _arrays,
}
