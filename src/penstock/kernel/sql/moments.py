"""Functions of dates, times of day and moments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.kernel.sql import java_time
from penstock.kernel.sql.rows import by_row, called, each_row, of_columns
from penstock.model.expr import Literal
from penstock.schema.types import Kind, Type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400_000
_MILLISECONDS: Mapping[str, int] = {
    "MILLISECONDS": 1,
    "SECONDS": 1000,
    "MINUTES": 60_000,
    "HOURS": 3_600_000,
    "DAYS": _DAY,
}
_CALENDAR: Mapping[str, int] = {"MONTHS": 1, "YEARS": 12, "QUARTERS": 3, "DECADES": 120}
_STRFTIME: Mapping[tuple[str, int], str] = {
    ("y", 4): "%Y",
    ("M", 2): "%m",
    ("d", 2): "%d",
    ("H", 2): "%H",
    ("m", 2): "%M",
    ("s", 2): "%S",
    ("S", 3): "%3f",
}


def unit_of(name: str) -> str:
    """Give a unit of time in its plural, as it may be written in either."""
    upper = name.upper()
    return upper if upper.endswith("S") else f"{upper}S"


def _format(arguments: Arguments, gives: Type) -> pl.Expr:
    value, pattern = arguments[0], arguments[1]
    plain = len(arguments) == 2 and isinstance(pattern.expr, Literal)  # noqa: PLR2004
    form = _strftime(str(pattern.expr.value)) if plain else None  # type: ignore[union-attr]
    if form is not None:
        return _as_moment(value.value, value.type).dt.strftime(form)
    return called(_written, [item.value for item in arguments], gives)


def _as_moment(value: pl.Expr, type_: Type) -> pl.Expr:
    if type_.kind is Kind.INT32:
        return value.cast(pl.Date)
    return value.cast(pl.Datetime("ms", "UTC")) if type_.kind is Kind.INT64 else value


def _strftime(pattern: str) -> str | None:
    """Give the form in which polars writes the same, where it has one."""
    try:
        parts = java_time.parts_of(pattern)
    except ValueError:
        return None
    forms = [
        part.text.replace("%", "%%")
        if not part.letter
        else _STRFTIME.get((part.letter, part.count))
        for part in parts
    ]
    return None if None in forms else "".join(form for form in forms if form is not None)


def _written(value: date | datetime | time | int, pattern: str, zone: str = "UTC") -> str:
    return java_time.written(_moment(value).astimezone(java_time.zone_of(zone)), pattern)


def _moment(value: date | datetime | time | int) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, time):
        return datetime.combine(_EPOCH.date(), value, tzinfo=UTC)
    return _EPOCH + timedelta(milliseconds=value)


def _written_day(value: int, pattern: str) -> str:
    return java_time.written(_EPOCH + timedelta(days=value), pattern)


def _read(text: str, pattern: str, zone: str = "UTC") -> datetime:
    return java_time.read(text, pattern, java_time.zone_of(zone)).astimezone(UTC)


def _read_millis(text: str, pattern: str, zone: str = "UTC") -> int:
    return (_read(text, pattern, zone) - _EPOCH) // timedelta(milliseconds=1)


def _read_date(text: str, pattern: str) -> date:
    return java_time.read(text, pattern).date()


def _read_day(text: str, pattern: str) -> int:
    return (_read_date(text, pattern) - _EPOCH.date()).days


def _read_time(text: str, pattern: str) -> time:
    return java_time.read(text, pattern).time()


def _convert_zone(value: datetime, source: str, target: str) -> datetime:
    """Give the moment whose clock reads in UTC what the other zone's clock reads at this one."""
    here: tzinfo = java_time.zone_of(source)
    local = value.replace(tzinfo=here).astimezone(java_time.zone_of(target))
    return local.replace(tzinfo=UTC)


def _shifted(sign: int) -> Callable[[Arguments, Type], pl.Expr]:
    def lowered(arguments: Arguments, gives: Type) -> pl.Expr:
        unit, count, value = arguments
        assert isinstance(unit.expr, Literal), "the resolver gives a unit"
        name = unit_of(str(unit.expr.value))
        amount = count.value.cast(pl.Int64) * sign
        if gives.kind is Kind.TIME:
            return _time_shifted(value.value, amount * _MILLISECONDS[name])
        if name in _CALENDAR:
            months = pl.concat_str((amount * _CALENDAR[name]).cast(pl.String), pl.lit("mo"))
            return value.value.dt.offset_by(months)
        size = amount * _MILLISECONDS[name]
        if gives.kind is Kind.DATE:
            whole = value.value.cast(pl.Datetime("ms")).cast(pl.Int64) + size
            return whole.cast(pl.Datetime("ms")).dt.date()
        return (value.value.cast(pl.Int64) + size).cast(pl.Datetime("ms", "UTC"))

    return lowered


def _time_shifted(value: pl.Expr, millis: pl.Expr) -> pl.Expr:
    nanos = value.cast(pl.Int64) + (millis % _DAY) * 1_000_000
    return (nanos % (_DAY * 1_000_000)).cast(pl.Time)


def _from_days(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.cast(pl.Int32).cast(pl.Date)


def _from_unixtime(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.cast(pl.Int64).cast(pl.Datetime("ms", "UTC"))


def _unix_date(arguments: Arguments, _: Type) -> pl.Expr:
    if arguments:
        return arguments[0].value.cast(pl.Int32)
    return _now(lambda moment: (moment - _EPOCH).days, pl.Int32())


def _unix_timestamp(arguments: Arguments, _: Type) -> pl.Expr:
    if arguments:
        return arguments[0].value.cast(pl.Int64)
    return _now(lambda moment: (moment - _EPOCH) // timedelta(milliseconds=1), pl.Int64())


def _now(take: Callable[[datetime], int], dtype: pl.DataType) -> pl.Expr:
    def read(columns: list[pl.Series]) -> pl.Series:
        return pl.repeat(take(datetime.now(UTC)), len(columns[0]), dtype=dtype, eager=True)

    return of_columns(read, [each_row()], dtype)  # type: ignore[arg-type]


MOMENTS: Mapping[str, Lowering] = {
    "convert_tz": by_row(_convert_zone),
    **dict.fromkeys(("dateadd", "timeadd", "timestampadd"), _shifted(1)),
    **dict.fromkeys(("datesub", "timesub", "timestampsub"), _shifted(-1)),
    "datetostring": by_row(_written_day),
    "timestamptostring": _format,
    "format_date": _format,
    "format_time": _format,
    "format_timestamp": _format,
    "stringtodate": by_row(_read_day),
    "stringtotimestamp": by_row(_read_millis),
    "parse_date": by_row(_read_date),
    "parse_time": by_row(_read_time),
    "parse_timestamp": by_row(_read),
    "from_days": _from_days,
    "from_unixtime": _from_unixtime,
    "unix_date": _unix_date,
    "unix_timestamp": _unix_timestamp,
}
