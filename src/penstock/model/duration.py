"""Durations as people write them: 10s, 1 minute, 1h30m, 250 ms."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TypeAlias

from penstock.errors import ModelError

Duration: TypeAlias = str | timedelta
"""Text such as "10s", "1 minute" or "1h30m", or a `timedelta`."""

_MILLISECOND = timedelta(milliseconds=1)
_UNITS = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": _MILLISECOND,
}
_WORDS = {
    "w": timedelta(weeks=1),
    "week": timedelta(weeks=1),
    "day": _UNITS["d"],
    "hour": _UNITS["h"],
    "minute": _UNITS["m"],
    "min": _UNITS["m"],
    "second": _UNITS["s"],
    "sec": _UNITS["s"],
    "millisecond": _MILLISECOND,
    **_UNITS,
}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)\s*")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def duration_of(value: Duration) -> timedelta:
    """Read a duration; one that is no whole number of milliseconds is refused."""
    found = value if isinstance(value, timedelta) else _read(value)
    if found % _MILLISECOND:
        raise _refused(value, "is finer than a millisecond")
    return found


def duration_text(duration: timedelta) -> str:
    """Write a duration so that `duration_of` gives the same one."""
    left = duration // _MILLISECOND
    sign = "-" if left < 0 else ""
    left = abs(left)
    text = ""
    for name, unit in _UNITS.items():
        count, left = divmod(left, unit // _MILLISECOND)
        text += f"{count}{name}" if count else ""
    return f"{sign}{text}" or "0s"


def _read(value: object) -> timedelta:
    text = value.strip().lower() if isinstance(value, str) else ""
    sign = -1 if text.startswith("-") else 1
    text = text.removeprefix("-")
    if text == "0":
        return timedelta(0)
    if not _WHOLE.fullmatch(text):
        raise _refused(value, "is not a number with a unit")
    total = timedelta(0)
    for number, word in _PART.findall(text):
        unit = _WORDS.get(word) or _WORDS.get(word.removesuffix("s"))
        if unit is None:
            raise _refused(value, f'has the unit "{word}", which does not exist')
        total += _product(value, float(number), unit)
    return sign * total


def _product(value: object, number: float, unit: timedelta) -> timedelta:
    try:
        return number * unit
    except OverflowError:
        raise _refused(value, "is longer than can be counted") from None


def _refused(value: object, why: str) -> ModelError:
    shown = f'"{value}"' if isinstance(value, str) else repr(value)
    return ModelError(
        "DURATION_FORMAT",
        f"duration {shown} {why}",
        hint='Write it as "500ms", "10s", "1 minute", "1h30m" or "7 days".',
    )
