"""Durations as people write them: 90s, 1h30m, 7d."""

from __future__ import annotations

import re
from datetime import timedelta

from penstock.errors import UsageError

_UNITS = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[wdhms])")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(text: str) -> timedelta:
    """Read a duration such as 90s, 1h30m or 7d."""
    compact = text.replace(" ", "").lower()
    if compact == "0":
        return timedelta(0)
    if not _WHOLE.fullmatch(compact):
        raise UsageError(
            "DURATION_FORMAT",
            f'duration "{text}" is not a number with a unit',
            hint="Write it as 500ms, 90s, 15m, 1h30m, 7d or 2w.",
        )
    try:
        parts = (float(number) * _UNITS[unit] for number, unit in _PART.findall(compact))
        return sum(parts, timedelta(0))
    except OverflowError:
        raise UsageError(
            "DURATION_FORMAT",
            f'duration "{text}" is longer than time itself',
            hint="Write none where something is to last for ever.",
        ) from None


def duration_text(duration: timedelta) -> str:
    """Write a duration so that `parse_duration` gives the same one."""
    left = duration // timedelta(milliseconds=1)
    if not left:
        return "0s"
    text = ""
    for name, unit in _UNITS.items():
        size = unit // timedelta(milliseconds=1)
        if name != "w" and left >= size:
            text += f"{left // size}{name}"
            left %= size
    return text
