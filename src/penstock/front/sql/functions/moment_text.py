"""Moments as they are written in statements, in whole or in part."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_MOMENT = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?)?)?)?"
    r"(Z|[+-]\d{2}:?\d{2})?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_moment(text: str) -> int | None:
    """Give the milliseconds since 1970 of a moment; one without a zone is in UTC."""
    found = _MOMENT.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            tzinfo=_zone(zone),
        )
    except ValueError:
        return None
    millis = int(((fraction or "") + "000")[:3])
    return (moment - _EPOCH) // timedelta(milliseconds=1) + millis


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return timezone(timedelta())
    digits = text[1:].replace(":", "")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(size if text[0] == "+" else -size)
