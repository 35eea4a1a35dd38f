"""Functions of dates and times, all in UTC."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering, constant_text
from penstock.schema.types import DATE, INT64, TIMESTAMP, Type

_UNITS: Mapping[str, str] = {
    **dict.fromkeys(("year", "yyyy", "yy"), "1y"),
    "quarter": "1q",
    **dict.fromkeys(("month", "mon", "mm"), "1mo"),
    "week": "1w",
    **dict.fromkeys(("day", "dd"), "1d"),
    "hour": "1h",
    "minute": "1m",
    "second": "1s",
    "millisecond": "1ms",
}


def _part(take: Callable[[pl.Expr], pl.Expr]) -> Lowering:
    def lowered(arguments: Arguments, _: Type) -> pl.Expr:
        return take(arguments[0].as_type(TIMESTAMP)).cast(pl.Int32)

    return lowered


def _date_trunc(arguments: Arguments, _: Type) -> pl.Expr:
    unit = constant_text(arguments, 0).lower()
    return arguments[1].as_type(TIMESTAMP).dt.truncate(_UNITS[unit])


def _millis(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(TIMESTAMP).cast(pl.Int64)


def _from_millis(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(INT64).cast(pl.Datetime("ms", "UTC"))


def _to_date(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(DATE)


MOMENT: Mapping[str, Lowering] = {
    "year": _part(lambda moment: moment.dt.year()),
    "month": _part(lambda moment: moment.dt.month()),
    "day": _part(lambda moment: moment.dt.day()),
    "hour": _part(lambda moment: moment.dt.hour()),
    "minute": _part(lambda moment: moment.dt.minute()),
    "second": _part(lambda moment: moment.dt.second()),
    "date_trunc": _date_trunc,
    "millis": _millis,
    "from_millis": _from_millis,
    "to_date": _to_date,
}
