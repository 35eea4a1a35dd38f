"""Points in time as people write them: ISO 8601, or milliseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.errors import UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 date or time; without a zone it is in UTC, as all times are shown."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            "TIME_FORMAT",
            f'time "{text}" is not in the form of ISO 8601',
            hint="Write it as 2026-01-31, 2026-01-31T12:30:00Z or 2026-01-31T12:30:00+02:00.",
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def parse_timestamp(text: str) -> int:
    """Read a record's timestamp: milliseconds since 1970, or ISO 8601."""
    digits = text.strip().removeprefix("-")
    if digits.isascii() and digits.isdigit():
        return int(text)
    return (parse_time(text) - _EPOCH) // _MILLISECOND


def time_text(timestamp: int, *, timespec: str = "milliseconds") -> str:
    """Write milliseconds since 1970 in UTC; what no calendar holds stays a number."""
    try:
        moment = _EPOCH + timestamp * _MILLISECOND
    except OverflowError:
        return str(timestamp)
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")
