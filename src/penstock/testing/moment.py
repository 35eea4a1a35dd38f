"""Times and spans as tests write them: whole milliseconds, or Python's own values."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from penstock.model.duration import duration_of

Moment: TypeAlias = int | datetime
Span: TypeAlias = int | timedelta | str
"""Milliseconds, a timedelta, or text such as "10s"."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_ENDS = {"start": START_OF_TIME, "end": END_OF_TIME}
_CLOCK = re.compile(r"(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def millis(moment: Moment) -> int:
    """Give a time as milliseconds since 1970; one without a zone is UTC."""
    if isinstance(moment, int):
        return moment
    known = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (known - _EPOCH) // _MILLISECOND


def span_millis(span: Span) -> int:
    """Give a span as milliseconds."""
    return span if isinstance(span, int) else duration_of(span) // _MILLISECOND


def read_moment(text: object) -> int:
    """Read a time of a transcript: milliseconds, 12:03:10, a span since 1970, or ISO 8601.

    `start` and `end` are the ends of time.
    """
    if isinstance(text, int | datetime):
        return millis(text)
    found = str(text).strip()
    if found in _ENDS:
        return _ENDS[found]
    clock = _CLOCK.fullmatch(found)
    if clock:
        hours, minutes, seconds = clock.groups()
        return int(hours) * 3_600_000 + int(minutes) * 60_000 + round(float(seconds or 0) * 1000)
    if _DATE.match(found):
        return millis(datetime.fromisoformat(found))
    return duration_of(found) // _MILLISECOND
