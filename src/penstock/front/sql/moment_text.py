"""Times as texts, of which the end may be left out: 2020, 2020-01-31T10, with a zone or not."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017  # datetime.UTC is new in 3.11
_MIDNIGHT = 24
_TEXT = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?)?"
    r"(?:[T ](?P<hour>\d{1,2})?(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})"
    r"(?:\.(?P<fraction>\d{1,9}))?)?)?)?"
    r"(?P<zone>Z|[+-]\d{2}:?\d{2})?"
)


def moment_millis(text: str) -> int | None:
    """Count the milliseconds from 1970 to a time; none where a text is none."""
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        return None
    names = ("year", "month", "day", "hour", "minute", "second")
    least = (1, 1, 1, 0, 0, 0)
    parts = [int(found[name] or start) for name, start in zip(names, least, strict=True)]
    # 24 o'clock is the beginning of the next day.
    late = timedelta(days=1) if parts[3] == _MIDNIGHT else timedelta(0)
    parts[3] %= _MIDNIGHT
    try:
        moment = datetime(*parts, tzinfo=_zone(found["zone"]))  # type: ignore[arg-type,misc]
    except ValueError:
        return None
    fraction = int((found["fraction"] or "0").ljust(3, "0")[:3])
    return (moment + late - _EPOCH) // timedelta(milliseconds=1) + fraction


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return timezone.utc  # noqa: UP017
    digits = text[1:].replace(":", "")
    span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(span if text[0] == "+" else -span)
