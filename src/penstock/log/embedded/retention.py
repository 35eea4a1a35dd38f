"""Retention: which of the oldest segments a topic's settings let go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.log.port import SegmentInfo
from penstock.log.topic import TopicConfig


def expired_segments(
    segments: Sequence[SegmentInfo],
    config: TopicConfig,
    *,
    start_offset: int,
    stable_offset: int,
    now: int,
) -> int:
    """How many segments, counted from the oldest, may go; the active one may be among them.

    What lies below the start offset goes first, then what is too much, then what is too
    old. Nothing at or beyond the first undecided transaction goes, and no segment goes
    before an older one.
    """

    def first_kept(begin: int, goes: Callable[[SegmentInfo], bool]) -> int:
        for number in range(begin, len(segments)):
            segment = segments[number]
            if not segment.size or segment.next_offset > stable_offset or not goes(segment):
                return number
        return len(segments)

    dropped = first_kept(0, lambda segment: segment.next_offset <= start_offset)
    if not config.deletes:
        return dropped
    if config.retention_bytes is not None:
        excess = sum(segment.size for segment in segments[dropped:]) - config.retention_bytes
        dropped = first_kept(dropped, _fits_into(excess))
    if config.retention is not None:
        oldest = now - config.retention.total_seconds() * 1000
        dropped = first_kept(dropped, lambda segment: segment.max_timestamp < oldest)
    return dropped


def _fits_into(excess: int) -> Callable[[SegmentInfo], bool]:
    left = excess

    def goes(segment: SegmentInfo) -> bool:
        nonlocal left
        left -= segment.size
        return left >= 0

    return goes
