"""Times and durations as the facts spell them, in milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from penstock.model.refine import FOREVER

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_TOKEN = re.compile(
    r"(?P<sign>[+-]?)\s*(?:"
    r"(?P<hour>\d+):(?P<minute>\d\d)(?::(?P<second>\d\d(?:\.\d+)?))?"
    r"|(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ms|min|[smhd])?"
    r"|(?P<name>inf|infinity|max|end_of_time|min_time))\s*"
)
_ENDS = {"min_time": START_OF_TIME}
_ENDLESS = ("unbounded", "inf", "infinite", "forever", "max")
_GREATEST = 2**63 - 1
_LONG = timedelta(days=1_000_000) // timedelta(milliseconds=1)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def moment(value: object) -> int:
    """Read a time: 12:03:10, 20m-1ms, max-1ms, -inf, a date, or milliseconds."""
    if isinstance(value, int):
        return _near_the_end(value)
    if isinstance(value, float):
        return round(value)
    text = str(value).strip().lower()
    if text in ("-inf", "min", "-infinity"):
        return START_OF_TIME
    if _DATE.match(text):
        found = datetime.fromisoformat(text).replace(tzinfo=UTC)
        return (found - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    return _sum(text)


def span(value: object) -> int:
    """Read a duration: 2m, 1h, 2m53s, or milliseconds."""
    return moment(value)


def duration(value: object) -> timedelta:
    """Read a duration as the model takes it."""
    return timedelta(milliseconds=span(value))


def lateness(value: object) -> timedelta:
    """Read how long a window is kept; one that is not said is 0."""
    if value in (None, "n/a"):
        return timedelta(0)
    if str(value).lower() in _ENDLESS or span(value) > _LONG:
        return FOREVER
    return duration(value)


def _near_the_end(value: int) -> int:
    """Give times counted from the greatest 64-bit number as counted from our end of time."""
    return value if value < END_OF_TIME else END_OF_TIME - 1 - (_GREATEST - value)


def _sum(text: str) -> int:
    total, sign, place = 0, 1, 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None or token.end() == place:
            message = f"no time: {text!r}"
            raise ValueError(message)
        if token["sign"]:
            sign = -1 if token["sign"] == "-" else 1
        total += sign * _part(token)
        place = token.end()
    return total


def _part(token: re.Match[str]) -> int:
    if token["name"]:
        return _ENDS.get(token["name"], END_OF_TIME)
    if token["hour"]:
        minutes = int(token["hour"]) * 60 + int(token["minute"])
        return minutes * 60_000 + round(float(token["second"] or 0) * 1000)
    return round(float(token["number"]) * _UNITS[token["unit"] or "ms"])
