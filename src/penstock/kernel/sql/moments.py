"""Functions of dates, times of day and moments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.kernel.sql import java_time
from penstock.kernel.sql.rows import Function, by_row, called, each_row, of_columns
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
"""What polars reads and writes as Java does."""
_WRITTEN: Mapping[tuple[str, int], str] = {
    **_STRFTIME,
    ("u", 4): "%Y",
    ("y", 2): "%y",
    ("M", 1): "%-m",
    ("M", 3): "%b",
    ("M", 4): "%B",
    ("d", 1): "%-d",
    ("D", 3): "%j",
    **{("E", count): "%a" for count in (1, 2, 3)},
    ("E", 4): "%A",
    ("H", 1): "%-H",
    ("h", 1): "%-I",
    ("h", 2): "%I",
    ("m", 1): "%-M",
    ("s", 1): "%-S",
    ("a", 1): "%p",
    ("S", 6): "%6f",
}
"""What polars only writes so."""
_OF_DAY = re.compile("%-?[HIMSp36]")
"""What of a form says the time of day."""
_PARTS_OF_SECOND = re.compile("%[36]")
_TOLD: Mapping[str, re.Pattern[str]] = {
    "1d": _OF_DAY,
    "1m": re.compile("%-?[S36]"),
    "1s": _PARTS_OF_SECOND,
}
"""How much of a time a form tells that has nothing of what is finer."""


def unit_of(name: str) -> str:
    """Give a unit of time in its plural, as it may be written in either."""
    upper = name.upper()
    return upper if upper.endswith("S") else f"{upper}S"


def _format(arguments: Arguments, gives: Type) -> pl.Expr:
    value, pattern = arguments[0], arguments[1]
    plain = len(arguments) == 2 and isinstance(pattern.expr, Literal)  # noqa: PLR2004
    form = _strftime(str(pattern.expr.value), _WRITTEN) if plain else None  # type: ignore[union-attr]
    if form is not None:
        moment = _as_moment(value.value, value.type)
        # Many rows are of one day, or of one minute: each text is made once.
        return moment.map_batches(partial(_texts, form), pl.String, is_elementwise=True)
    return called(_written, [item.value for item in arguments], gives)


def _texts(form: str, moments: pl.Series) -> pl.Series:
    """Write moments in a form, those alike as far as it tells only once."""
    if moments.dtype != pl.Datetime or moments.is_empty() or _PARTS_OF_SECOND.search(form):
        return moments.dt.strftime(form)
    told = next(unit for unit, finer in _TOLD.items() if not finer.search(form))
    ends = pl.Series([moments.min(), moments.max()], dtype=moments.dtype)
    if not moments.null_count() and ends.dt.truncate(told).n_unique() == 1:
        return ends.dt.strftime(form).new_from_index(0, len(moments)).alias(moments.name)
    alike = moments.dt.truncate(told)
    each = alike.unique()
    return alike.replace_strict(each, each.dt.strftime(form), return_dtype=pl.String)


def _day_text(arguments: Arguments, gives: Type) -> pl.Expr:
    value, pattern = arguments
    form = None
    if isinstance(pattern.expr, Literal):
        form = _strftime(str(pattern.expr.value), _WRITTEN)
    if form is not None and not _OF_DAY.search(form):
        return value.value.cast(pl.Date).dt.strftime(form)
    return called(_written_day, [item.value for item in arguments], gives)


def _as_moment(value: pl.Expr, type_: Type) -> pl.Expr:
    if type_.kind is Kind.INT32:
        return value.cast(pl.Date)
    return value.cast(pl.Datetime("ms", "UTC")) if type_.kind is Kind.INT64 else value


def _strftime(pattern: str, known: Mapping[tuple[str, int], str] = _STRFTIME) -> str | None:
    """Give the form in which polars writes the same, where it has one."""
    try:
        parts = java_time.parts_of(pattern)
    except ValueError:
        return None
    forms = [
        part.text.replace("%", "%%") if not part.letter else known.get((part.letter, part.count))
        for part in parts
    ]
    return None if None in forms else "".join(form for form in forms if form is not None)


def _parse(take: Callable[[pl.Expr], pl.Expr], by_value: Function) -> Lowering:
    """Read texts as whole columns where the pattern is one that polars reads as exactly."""

    def lowered(arguments: Arguments, gives: Type) -> pl.Expr:
        text, pattern = arguments[0], arguments[1]
        plain = len(arguments) == 2 and isinstance(pattern.expr, Literal)  # noqa: PLR2004
        form = str(pattern.expr.value) if plain else ""  # type: ignore[union-attr]
        read = _strptime(text.value, form)
        if read is None:
            return called(by_value, [item.value for item in arguments], gives)
        return take(read)

    return lowered


def _strptime(text: pl.Expr, pattern: str) -> pl.Expr | None:
    form = _strftime(pattern)
    if form is None or any(mark not in form for mark in ("%Y", "%m", "%d")):
        return None
    # Polars would take fewer digits than the pattern has letters, and a second number 60.
    digits = "".join(
        {"": re.escape(part.text), "s": "[0-5][0-9]"}.get(part.letter, f"[0-9]{{{part.count}}}")
        for part in java_time.parts_of(pattern)
    )
    sound: pl.Expr = pl.when(text.str.contains(f"^{digits}$")).then(text)
    if "%H" not in form:
        return sound.str.strptime(pl.Date, form, strict=False).cast(pl.Datetime("ms"))
    if "%M" not in form:
        sound, form = pl.concat_str(sound, pl.lit(" 00")), f"{form} %M"
    return sound.str.strptime(pl.Datetime("ms"), form, strict=False)


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
            # Cut off towards 1970, as Java's units do.
            days = whole.abs() // _DAY * whole.sign()
            return days.cast(pl.Int32).cast(pl.Date)
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


def _part(name: str) -> Lowering:
    def lowered(arguments: Arguments, _: Type) -> pl.Expr:
        part: pl.Expr = getattr(arguments[0].value.dt, name)()
        return part.cast(pl.Int32)

    return lowered


_PARTS = ("year", "month", "day", "hour", "minute", "second")
MOMENTS: Mapping[str, Lowering] = {
    **{name: _part(name) for name in _PARTS},
    "convert_tz": by_row(_convert_zone),
    **dict.fromkeys(("dateadd", "timeadd", "timestampadd"), _shifted(1)),
    **dict.fromkeys(("datesub", "timesub", "timestampsub"), _shifted(-1)),
    "datetostring": _day_text,
    "timestamptostring": _format,
    "format_date": _format,
    "format_time": _format,
    "format_timestamp": _format,
    "stringtodate": _parse(lambda read: read.dt.date().cast(pl.Int32), _read_day),
    "stringtotimestamp": _parse(lambda read: read.cast(pl.Int64), _read_millis),
    "parse_date": _parse(lambda read: read.dt.date(), _read_date),
    "parse_time": by_row(_read_time),
    "parse_timestamp": _parse(lambda read: read.dt.replace_time_zone("UTC"), _read),
    "from_days": _from_days,
    "from_unixtime": _from_unixtime,
    "unix_date": _unix_date,
    "unix_timestamp": _unix_timestamp,
}
