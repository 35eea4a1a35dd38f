"""CAST as ksqlDB has it: what does not fit is null, and parts are cast one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Arguments
from penstock.kernel.functions.conversion import converted
from penstock.kernel.functions.float_text import float_text
from penstock.kernel.functions.text_number import decimal_of_text
from penstock.kernel.functions.text_time import date_of, timestamp_of
from penstock.kernel.sql.rows import called
from penstock.kernel.sql.value_text import value_text
from penstock.schema.types import STRING, Kind, Type

_Cast: TypeAlias = Callable[[pl.Expr, Type, Type], pl.Expr]
_NUMBERS = (Kind.INT32, Kind.INT64, Kind.FLOAT64, Kind.DECIMAL)
_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_YES = ("t", "tr", "tru", "true", "y", "ye", "yes")


def cast(arguments: Arguments, gives: Type) -> pl.Expr:
    """Turn a value into another type."""
    return cast_value(arguments[0].value, arguments[0].type, gives)


def cast_value(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    """Turn a value into another type; `front.sql.functions.casts` says which casts there are."""
    if source == target:
        return value
    return _CASTS[source.kind, target.kind](value, source, target)


def _number(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    return converted(value, source, target)


def _whole_of_text(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    digits = value.str.strip_chars().str.extract(r"^([+-]?[0-9]+)$")
    return digits.cast(dtype_of(target), strict=False)


def _double_of_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    text = value.str.strip_chars().str.extract(
        r"^([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))$"
    )
    return text.cast(pl.Float64, strict=False)


def _boolean_of_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    return value.str.strip_chars().str.to_lowercase().is_in(_YES)


def _double_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    return float_text(value)


def _plain(value: pl.Expr, _: Type, target: Type) -> pl.Expr:
    return value.cast(dtype_of(target), strict=False)


def _timestamp_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    return value.dt.strftime("%Y-%m-%dT%H:%M:%S%.3f")


def _time_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    whole = value.dt.strftime("%H:%M:%S")
    millis = value.cast(pl.Int64).floordiv(1_000_000) % 1000
    fraction = pl.concat_str(pl.lit("."), millis.cast(pl.String).str.zfill(3))
    short = pl.when(value.dt.second() == 0).then(value.dt.strftime("%H:%M")).otherwise(whole)
    return pl.when(millis > 0).then(whole + fraction).otherwise(short)


def _time_of_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    parts = value.str.extract_groups(r"^([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?$")
    hour, minute, second = (
        parts.struct.field(name).cast(pl.Int64, strict=False).fill_null(0) for name in "123"
    )
    fraction = (parts.struct.field("4").fill_null("") + pl.lit("0" * 9)).str.slice(0, 9)
    nanos = ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + fraction.cast(pl.Int64)
    sound = parts.struct.field("1").is_not_null() & (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004
    return pl.when(sound).then(nanos).cast(pl.Time)


def _timestamp_to_time(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    return value.dt.time()


def _bytes_text(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    return value.bin.encode("base64")


def _nested_text(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    return called(partial(_text_of, source), [value], target)


def _text_of(source: Type, value: object) -> str:
    return value_text(value, source)


def _arrays(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    item = cast_value(pl.element(), source.item or STRING, target.item or STRING)
    return value.list.eval(item)


def _maps(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    key = pl.element().struct.field("key")
    item = pl.element().struct.field("value")
    entry = pl.struct(
        cast_value(key, source.key or STRING, target.key or STRING).alias("key"),
        cast_value(item, source.item or STRING, target.item or STRING).alias("value"),
    )
    return value.map.entries().list.eval(entry).list.to_map().cast(dtype_of(target))


def _structs(value: pl.Expr, source: Type, target: Type) -> pl.Expr:
    known = dict(source.fields)
    parts = [
        cast_value(value.struct.field(name), known[name], part).alias(name)
        if name in known
        else pl.lit(None, dtype_of(part)).alias(name)
        for name, part in target.fields
    ]
    return pl.when(value.is_not_null()).then(pl.struct(parts))


_CASTS: Mapping[tuple[Kind, Kind], _Cast] = {
    **{(one, other): _number for one in _NUMBERS for other in _NUMBERS},
    **{(Kind.STRING, kind): _whole_of_text for kind in (Kind.INT32, Kind.INT64)},
    (Kind.STRING, Kind.FLOAT64): _double_of_text,
    (Kind.STRING, Kind.DECIMAL): decimal_of_text,
    (Kind.STRING, Kind.BOOLEAN): _boolean_of_text,
    (Kind.STRING, Kind.TIMESTAMP): timestamp_of,
    (Kind.STRING, Kind.DATE): date_of,
    (Kind.STRING, Kind.TIME): _time_of_text,
    **{(kind, Kind.STRING): _plain for kind in (Kind.BOOLEAN, Kind.INT32, Kind.INT64)},
    (Kind.FLOAT64, Kind.STRING): _double_text,
    (Kind.DECIMAL, Kind.STRING): _plain,
    (Kind.DATE, Kind.STRING): _plain,
    (Kind.TIMESTAMP, Kind.STRING): _timestamp_text,
    (Kind.TIME, Kind.STRING): _time_text,
    (Kind.BYTES, Kind.STRING): _bytes_text,
    **{(kind, Kind.STRING): _nested_text for kind in _NESTED},
    (Kind.TIMESTAMP, Kind.DATE): _plain,
    (Kind.TIMESTAMP, Kind.TIME): _timestamp_to_time,
    (Kind.DATE, Kind.TIMESTAMP): _plain,
    (Kind.ARRAY, Kind.ARRAY): _arrays,
    (Kind.MAP, Kind.MAP): _maps,
    (Kind.STRUCT, Kind.STRUCT): _structs,
}
