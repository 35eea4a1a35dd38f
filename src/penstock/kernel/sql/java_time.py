"""Patterns of Java's DateTimeFormatter: moments written by them, and read."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import TypeAlias
from zoneinfo import ZoneInfo

_TOKEN = re.compile(r"'((?:[^']|'')*)'|([a-zA-Z])\2*|(.)", re.DOTALL)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")
_MONTHS = list(calendar.month_name)
_DAYS = list(calendar.day_name)
_FULL, _SHORT, _YEAR_OF_TWO, _PIVOT = 4, 3, 2, 2000
_HALF_DAY = 12


@dataclass(frozen=True, slots=True)
class Part:
    """A run of one letter of a pattern, or text that stands for itself."""

    letter: str
    count: int
    text: str = ""


@lru_cache(maxsize=512)
def parts_of(pattern: str) -> tuple[Part, ...]:
    """Take a pattern apart; letters that have no meaning are refused."""
    parts = []
    for found in _TOKEN.finditer(pattern):
        if found[2] is not None:
            if found[2] not in _READ:
                raise ValueError(pattern)
            parts.append(Part(found[2], len(found[0])))
        elif found[1] is not None:
            parts.append(Part("", 0, found[1].replace("''", "'") or "'"))
        elif found[3] not in "[]":
            parts.append(Part("", 0, found[3]))
    return tuple(parts)


@lru_cache(maxsize=512)
def zone_of(name: str) -> tzinfo:
    """Give a time zone by its name or offset; one that does not exist is refused."""
    if name in ("Z", "UTC", "GMT", "UT"):
        return UTC
    found = _OFFSET.fullmatch(name)
    if found is None:
        try:
            return ZoneInfo(name)
        except (OSError, LookupError) as error:
            raise ValueError(name) from error
    size = timedelta(hours=int(found[2]), minutes=int(found[3] or 0), seconds=int(found[4] or 0))
    return timezone(size if found[1] == "+" else -size)


def written(moment: datetime, pattern: str) -> str:
    """Write a moment in the zone it has."""
    return "".join(
        part.text if not part.letter else _WRITE[part.letter](moment, part.count)
        for part in parts_of(pattern)
    )


def _number(take: Callable[[datetime], int]) -> Callable[[datetime, int], str]:
    return lambda moment, count: str(take(moment)).zfill(count)


def _year(moment: datetime, count: int) -> str:
    if count == _YEAR_OF_TWO:
        return f"{moment.year % 100:02d}"
    return str(moment.year).zfill(count)


def _month(moment: datetime, count: int) -> str:
    if count < _SHORT:
        return str(moment.month).zfill(count)
    return _MONTHS[moment.month] if count == _FULL else _MONTHS[moment.month][:3]


def _day_name(moment: datetime, count: int) -> str:
    name = _DAYS[moment.weekday()]
    return name if count == _FULL else name[:3]


def _fraction(moment: datetime, count: int) -> str:
    return f"{moment.microsecond:06d}000"[:count]


def _offset(moment: datetime, *, zero: str, colon: bool, short: bool) -> str:
    size = moment.utcoffset() or timedelta()
    if not size and zero:
        return zero
    minutes = abs(int(size.total_seconds())) // 60
    sign = "-" if size < timedelta() else "+"
    if short and minutes % 60 == 0:
        return f"{sign}{minutes // 60:02d}"
    return f"{sign}{minutes // 60:02d}{':' if colon else ''}{minutes % 60:02d}"


def _zone_name(moment: datetime, _: int) -> str:
    zone = moment.tzinfo
    return zone.key if isinstance(zone, ZoneInfo) else moment.tzname() or "Z"


_WRITE: Mapping[str, Callable[[datetime, int], str]] = {
    **dict.fromkeys("yu", _year),
    **dict.fromkeys("ML", _month),
    "d": _number(lambda moment: moment.day),
    "D": _number(lambda moment: moment.timetuple().tm_yday),
    "H": _number(lambda moment: moment.hour),
    "k": _number(lambda moment: moment.hour or 24),
    "K": _number(lambda moment: moment.hour % _HALF_DAY),
    "h": _number(lambda moment: moment.hour % _HALF_DAY or _HALF_DAY),
    "m": _number(lambda moment: moment.minute),
    "s": _number(lambda moment: moment.second),
    "S": _fraction,
    "n": _number(lambda moment: moment.microsecond * 1000),
    "Q": _number(lambda moment: (moment.month + 2) // 3),
    "E": _day_name,
    "e": _number(lambda moment: moment.isoweekday() % 7 + 1),
    "a": lambda moment, _: "AM" if moment.hour < _HALF_DAY else "PM",
    "G": lambda _, __: "AD",
    "z": lambda moment, _: moment.tzname() or "",
    "V": _zone_name,
    "Z": lambda moment, count: _offset(moment, zero="", colon=count > _FULL, short=False),
    "X": lambda moment, count: _offset(moment, zero="Z", colon=count > 2, short=count == 1),  # noqa: PLR2004
    "x": lambda moment, count: _offset(moment, zero="", colon=count > 2, short=count == 1),  # noqa: PLR2004
}

_Fields: TypeAlias = dict[str, str]
_DIGITS = r"\d"
_WIDE = {"y": (4, 10), "u": (4, 10)}
_NAMES = r"[A-Za-z]+\.?"
_ZONES = r"[A-Za-z][A-Za-z0-9_/+:-]*|[+-]\d{1,2}:?\d{0,2}"
_READ: Mapping[str, str] = {
    **dict.fromkeys("yudDHkKhmsSnQe", _DIGITS),
    **dict.fromkeys("MLEaG", _NAMES),
    **dict.fromkeys("zV", _ZONES),
    **dict.fromkeys("ZXx", r"Z|[+-]\d{2}(?::?\d{2})?"),
}


@lru_cache(maxsize=512)
def _regex(pattern: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Give what a text of this form looks like, and the letter that each group is for."""
    texts, letters = [], []
    parts = parts_of(pattern)
    for place, part in enumerate(parts):
        if not part.letter:
            texts.append(re.escape(part.text))
            continue
        beside = place + 1 < len(parts) and _READ.get(parts[place + 1].letter) == _DIGITS
        texts.append(f"({_group(part, beside=beside)})")
        letters.append(part.letter)
    return re.compile("".join(texts)), tuple(letters)


def _group(part: Part, *, beside: bool) -> str:
    numeric = _READ[part.letter] == _DIGITS or (part.letter in "ML" and part.count < _SHORT)
    if not numeric:
        return _READ[part.letter]
    if part.letter in "yu" and part.count == _YEAR_OF_TWO:
        return r"\d{2}"
    if part.letter == "S" or part.count > 1 or beside:
        return rf"\d{{{part.count}}}"
    return r"\d+"


def read(text: str, pattern: str, zone: tzinfo = UTC) -> datetime:
    """Read a moment; what the pattern does not say is as on 1970-01-01 at midnight."""
    expression, letters = _regex(pattern)
    found = expression.fullmatch(text)
    if found is None:
        raise ValueError(text)
    fields = dict(zip(letters, found.groups(), strict=True))
    day = _date(fields, pattern)
    hour = _hour(fields)
    micro = int((fields.get("S", "0") + "000000")[:6])
    if "n" in fields:
        micro = int(fields["n"]) // 1000
    moment = day.replace(
        hour=hour, minute=int(fields.get("m", 0)), second=int(fields.get("s", 0)), microsecond=micro
    )
    return moment.replace(tzinfo=_zone(fields, zone))


def _date(fields: _Fields, pattern: str) -> datetime:
    year = int(fields.get("y", fields.get("u", 1970)))
    two = any(p.letter in ("y", "u") and p.count == _YEAR_OF_TWO for p in parts_of(pattern))
    if two:
        year += _PIVOT
    if "D" in fields:
        return datetime(year, 1, 1) + timedelta(days=int(fields["D"]) - 1)  # noqa: DTZ001
    month = fields.get("M", fields.get("L", "1"))
    number = int(month) if month.isdigit() else _month_number(month)
    return datetime(year, number, int(fields.get("d", 1)))  # noqa: DTZ001


def _month_number(name: str) -> int:
    return next(
        place
        for place, full in enumerate(_MONTHS)
        if full and name.lower() in (full.lower(), full[:3].lower())
    )


def _hour(fields: _Fields) -> int:
    if "H" in fields:
        return int(fields["H"])
    if "k" in fields:
        return int(fields["k"]) % 24
    half = int(fields.get("h", fields.get("K", 0))) % _HALF_DAY
    return half + (_HALF_DAY if fields.get("a", "").upper() == "PM" else 0)


def _zone(fields: _Fields, usual: tzinfo) -> tzinfo:
    name = next((fields[letter] for letter in "VzXxZ" if letter in fields), None)
    return usual if name is None else zone_of(name)
