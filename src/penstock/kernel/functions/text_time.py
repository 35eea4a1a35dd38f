"""Dates and times read from text as Spark reads them; what cannot be read is null.

Zones are offsets (`Z`, `UTC`, `+02:00`); names of places are not read, nor are years beyond 9999.
"""

from __future__ import annotations

import polars as pl

from penstock.schema.types import Type

_BLANK = r"[\x00-\x20]*"
_DAY = r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
_CLOCK = r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{0,9}))?)?"
_ZONE = r"[\x00-\x20]*(Z|UTC|GMT|(?:UTC|GMT)?[+-][0-9]{1,2}(?::?[0-9]{1,2})?)?"
_DATE = rf"^{_BLANK}{_DAY}(?:[ T].*)?)?)?{_BLANK}$"
_TIMESTAMP = rf"^{_BLANK}{_DAY}(?:[ T](?:{_CLOCK}{_ZONE})?)?)?)?{_BLANK}$"
_HOUR = 3_600_000
_MINUTE = 60_000


def date_of(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    """Read a date; what follows a blank or a T is left aside."""
    return _date(value.str.extract_groups(_DATE))


def timestamp_of(value: pl.Expr, _: Type, __: Type) -> pl.Expr:
    """Read a time; one without a zone is UTC."""
    parts = value.str.extract_groups(_TIMESTAMP)
    hour, minute, second = (_number(parts, name, 0) for name in ("4", "5", "6"))
    fraction = parts.struct.field("7").fill_null("")
    millis = (fraction + pl.lit("000")).str.slice(0, 3).cast(pl.Int64)
    sound = (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004
    clock = hour * _HOUR + minute * _MINUTE + second * 1000 + millis
    midnight = _date(parts).cast(pl.Datetime("ms")).cast(pl.Int64)
    moment = midnight + clock - _offset(parts.struct.field("8").fill_null("Z"))
    return pl.when(sound).then(moment).cast(pl.Datetime("ms", "UTC"))


def _offset(zone: pl.Expr) -> pl.Expr:
    sign = pl.when(zone.str.contains("-", literal=True)).then(pl.lit(-1)).otherwise(pl.lit(1))
    parts = zone.str.extract_groups(r"[+-]([0-9]{1,2}):?([0-9]{1,2})?$")
    hours, minutes = _number(parts, "1", 0), _number(parts, "2", 0)
    size = pl.when((hours <= 18) & (minutes < 60)).then(hours * _HOUR + minutes * _MINUTE)  # noqa: PLR2004
    return size * sign


def _date(parts: pl.Expr) -> pl.Expr:
    year = _number(parts, "1", None)
    month, day = _number(parts, "2", 1), _number(parts, "3", 1)
    first = pl.date(year, pl.when(month.is_between(1, 12)).then(month), 1)
    length = first.dt.days_in_month().cast(pl.Int64)
    return pl.when(day.is_between(1, length)).then(first + pl.duration(days=day - 1))


def _number(parts: pl.Expr, name: str, default: int | None) -> pl.Expr:
    number = parts.struct.field(name).cast(pl.Int64, strict=False)
    return number if default is None else number.fill_null(default)
