"""Cleaning a partition: what is too old goes, what has a newer value goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.errors import OffsetError
from penstock.log.embedded.cleanable import (
    CleanableRange,
    active_is_overdue,
    cleanable_range,
    is_worth_cleaning,
    whole_segments,
)
from penstock.log.embedded.cleaned_state import read_cleaned, write_cleaned
from penstock.log.embedded.compaction import Cleaning, CompactionPass
from penstock.log.embedded.head import OLDEST
from penstock.log.embedded.retention import expired_segments
from penstock.log.embedded.segment import read_headers
from penstock.log.embedded.segment_list import CLEAN_LOCK_FILE, ListChange, SegmentList
from penstock.log.port import SegmentInfo
from penstock.log.record import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanReport:
    """What cleaning did to a partition; `busy` where another cleaner is at work on it."""

    partition: TopicPartition
    busy: bool = False
    start_offset: int = 0
    segments_before: int = 0
    segments_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    passes: int = 0


class PartitionCleaner:
    """Applies a topic's retention and compaction to one of its partitions."""

    def __init__(self, cleaning: Cleaning) -> None:
        self._cleaning = cleaning
        self._storage = cleaning.storage
        self._partition = cleaning.partition
        self._config = cleaning.topic.config
        self._directory = cleaning.partition.directory
        self._list = SegmentList(
            cleaning.storage, cleaning.partition.directory, cleaning.partition.appender
        )
        self._passes = 0

    def clean(
        self, now: int, *, only_if_worth_it: bool = False, include_active: bool = False
    ) -> CleanReport:
        """Let go of what the settings let go; with `include_active` the newest segment, too."""
        place = self._partition.place
        lock = self._storage.lock(f"{self._directory}/{CLEAN_LOCK_FILE}")
        try:
            if not lock.acquire(timeout=0):
                return CleanReport(partition=place, busy=True)
            self._list.remove_leftovers(self._partition.reader.head())
            before = self._segments()
            self._passes = 0
            self._seal_active(now, include_active=include_active)
            self._drop_expired(now)
            if self._config.compacts:
                self._compact(now, only_if_worth_it=only_if_worth_it)
            after = self._segments()
        finally:
            lock.close()
        return CleanReport(
            partition=place,
            start_offset=self._partition.reader.head().start_offset,
            segments_before=len(before),
            segments_after=len(after),
            bytes_before=sum(item.size for item in before),
            bytes_after=sum(item.size for item in after),
            passes=self._passes,
        )

    def delete_records(self, before_offset: int) -> int:
        """Let no reader see what lies before an offset any more; give the new start offset."""
        appender = self._partition.appender
        with appender.locked() as head:
            if before_offset > head.stable_offset:
                raise OffsetError(
                    "OFFSET_RANGE",
                    f'records of "{self._directory}" up to offset {before_offset} cannot be'
                    f" deleted: it is decided up to {head.stable_offset}",
                    hint="Give an offset up to the end of the partition.",
                )
            if before_offset > head.start_offset:
                appender.publish_durably(replace(head, start_offset=before_offset))
            return max(before_offset, head.start_offset)

    def _segments(self) -> list[SegmentInfo]:
        return [self._dated(segment) for segment in self._partition.reader.segments()]

    def _dated(self, segment: SegmentInfo) -> SegmentInfo:
        """Give a segment that has only markers the time of the newest of them."""
        if segment.max_timestamp != OLDEST or not segment.size:
            return segment
        file = self._storage.open(segment.file)
        try:
            headers = read_headers(file, segment.file, 0, segment.size)
            return segment._replace(max_timestamp=max(frame.max_timestamp for frame, _ in headers))
        finally:
            file.close()

    def _seal_active(self, now: int, *, include_active: bool) -> None:
        appender = self._partition.appender
        with appender.locked() as head:
            if include_active or active_is_overdue(head, self._config, now):
                appender.seal(head)

    def _drop_expired(self, now: int) -> None:
        segments = self._segments()
        head = self._partition.reader.head()
        count = expired_segments(
            segments,
            self._config,
            start_offset=head.start_offset,
            stable_offset=head.stable_offset,
            now=now,
        )
        if count == 0:
            return
        if count == len(segments):
            self._partition.appender.roll()
        gone = self._partition.reader.view().manifest.segments[:count]
        self._list.change(ListChange(gone, start_offset=gone[-1].next_offset))

    def _compact(self, now: int, *, only_if_worth_it: bool) -> None:
        state = read_cleaned(self._storage, self._directory)
        span, segments = self._cleanable(state.first_dirty, now)
        if only_if_worth_it and not is_worth_cleaning(
            span, segments, self._config, state=state, now=now
        ):
            return
        while self._passes == 0 or span.first_dirty < span.first_uncleanable:
            state = CompactionPass(self._cleaning, span, now).run()
            write_cleaned(self._storage, self._directory, state)
            self._passes += 1
            span = span._replace(first_dirty=state.first_dirty)

    def _cleanable(self, last_clean: int, now: int) -> tuple[CleanableRange, Sequence[SegmentInfo]]:
        segments = [segment for segment in self._segments() if not segment.active]
        head = self._partition.reader.head()
        found = cleanable_range(head, segments, self._config, last_clean=last_clean, now=now)
        return whole_segments(found, segments), segments
