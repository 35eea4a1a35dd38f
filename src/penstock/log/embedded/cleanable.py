"""Which part of a partition compaction may touch, and whether it is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from penstock.log.embedded.cleaned_state import CleanedState
from penstock.log.embedded.head import Head
from penstock.log.port import SegmentInfo
from penstock.log.topic import TopicConfig


class CleanableRange(NamedTuple):
    """The dirty offsets that may be compacted: from the first up to, not including, the second."""

    first_dirty: int
    first_uncleanable: int


def cleanable_range(
    head: Head,
    segments: Sequence[SegmentInfo],
    config: TopicConfig,
    *,
    last_clean: int,
    now: int,
) -> CleanableRange:
    """What may be compacted: not the active segment, no undecided transaction, nothing too young.

    A first dirty offset outside the partition is that of another history: all is dirty.
    """
    first_dirty = last_clean
    if not head.start_offset <= last_clean <= head.end_offset:
        first_dirty = head.start_offset
    bounds = [head.stable_offset, head.active_base]
    youngest = now - _milliseconds(config.min_compaction_lag)
    if config.min_compaction_lag:
        bounds.extend(
            segment.base_offset
            for segment in segments
            if segment.next_offset > first_dirty and segment.max_timestamp > youngest
        )
    return CleanableRange(first_dirty, max(first_dirty, min(bounds)))


def whole_segments(found: CleanableRange, segments: Sequence[SegmentInfo]) -> CleanableRange:
    """The range without the segment that its end cuts through."""
    for segment in segments:
        if segment.base_offset <= found.first_uncleanable < segment.next_offset:
            return found._replace(first_uncleanable=segment.base_offset)
    return found


def is_worth_cleaning(
    found: CleanableRange,
    segments: Sequence[SegmentInfo],
    config: TopicConfig,
    *,
    state: CleanedState,
    now: int,
) -> bool:
    """Whether enough is dirty, something dirty waits for too long, or a tombstone is due."""
    if state.next_horizon is not None and state.next_horizon <= now:
        return True
    below = [item for item in segments if item.base_offset < found.first_uncleanable]
    dirty = [item for item in below if item.next_offset > found.first_dirty]
    dirty_bytes = sum(item.size for item in dirty)
    if not dirty_bytes:
        return False
    if config.max_compaction_lag is not None:
        oldest = now - _milliseconds(config.max_compaction_lag)
        if any(item.min_timestamp < oldest for item in dirty):
            return True
    return dirty_bytes / sum(item.size for item in below) > config.min_dirty_ratio


def active_is_overdue(head: Head, config: TopicConfig, now: int) -> bool:
    """Whether the active segment must be sealed so that its records are compacted in time."""
    lag = config.max_compaction_lag
    if lag is None or not config.compacts or not head.end_position:
        return False
    return head.active_min_timestamp < now - _milliseconds(lag)


def _milliseconds(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)
