"""Where a reader begins, and where it goes on when its offset is gone."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from penstock.errors import OffsetError, UsageError
from penstock.log.port import Isolation, Log
from penstock.log.record import TopicPartition

Start: TypeAlias = Literal["earliest", "latest"] | int | datetime
OutOfRange: TypeAlias = Literal["earliest", "latest", "error"]


def start_offset(
    log: Log, place: TopicPartition, start: Start, isolation: Isolation = "committed"
) -> int:
    """The offset to read first; a time after the last record is the end of the partition."""
    if isinstance(start, datetime):
        return offset_at(log, place, start, isolation)
    if isinstance(start, int):
        return start
    bounds = log.bounds(*place, isolation)
    return bounds.start if start == "earliest" else bounds.end


def offset_at(
    log: Log, place: TopicPartition, moment: datetime, isolation: Isolation = "committed"
) -> int:
    """The first offset at or after a time, or the end where every record is older."""
    if moment.tzinfo is None:
        raise UsageError(
            "TIME_ZONE_MISSING",
            f'the time "{moment.isoformat()}" has no time zone',
            hint="Give one, as in datetime(2026, 1, 1, tzinfo=timezone.utc).",
        )
    found = log.offset_at_time(*place, int(moment.timestamp() * 1000))
    return log.bounds(*place, isolation).end if found is None else found


def offset_after_loss(
    log: Log, place: TopicPartition, policy: OutOfRange, refusal: OffsetError
) -> int:
    """Where to go on when the log refuses an offset; with the policy "error" it stays refused."""
    if policy == "error" or refusal.code != "OFFSET_RANGE":
        raise refusal
    return start_offset(log, place, policy)
