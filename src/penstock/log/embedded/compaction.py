"""Compaction: of each key only the last record stays; offsets and order never change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from penstock.log.embedded.aborted import AbortedTransaction
from penstock.log.embedded.cleanable import CleanableRange
from penstock.log.embedded.cleaned_state import CleanedState
from penstock.log.embedded.frame import HAS_KEYS
from penstock.log.embedded.frame_filter import FrameFilter, PassRules
from penstock.log.embedded.manifest import SealedSegment
from penstock.log.embedded.offset_map import DEFAULT_SLOTS, OffsetMap, map_keys
from penstock.log.embedded.partition import Partition
from penstock.log.embedded.payload import decode_payload, offsets_of
from penstock.log.embedded.segment import StoredFrame, read_frames
from penstock.log.embedded.segment_list import ListChange, SegmentList
from penstock.log.embedded.segment_writer import SegmentWriter
from penstock.log.embedded.transaction_trace import TransactionTrace
from penstock.log.embedded.view import View
from penstock.log.record import KEY_COLUMN
from penstock.log.rows import value_schema
from penstock.log.storage import Storage
from penstock.log.topic import Topic

_LONGEST_SPAN = 2**31 - 1


class CleaningStopped(Exception):  # noqa: N818  not an error: the process wants to end
    """A pass was given up between two frames; the partition is as it was."""


class Cleaning(NamedTuple):
    """Where a pass works: the rows' topic, the present settings, and whether to go on."""

    storage: Storage
    partition: Partition
    topic: Topic
    map_slots: int = DEFAULT_SLOTS
    keep_going: Callable[[], bool] = lambda: True


class CompactionPass:
    """One pass: notes the newest offset of each dirty key, then copies what is still needed."""

    def __init__(self, cleaning: Cleaning, span: CleanableRange, now: int) -> None:
        self._storage = cleaning.storage
        self._partition = cleaning.partition
        self._topic = cleaning.topic
        self._directory = cleaning.partition.directory
        self._keep_going = cleaning.keep_going
        self._span = span
        self._now = now
        self._newest = OffsetMap(cleaning.map_slots)
        self._next_horizon: int | None = None

    def run(self) -> CleanedState:
        """Clean as far as the map has room; give where the next pass begins.

        The lock `clean.lock` of the partition is held by the caller. Each group of
        segments is switched by itself, so that disk space for one is enough.
        """
        view = self._partition.reader.view()
        below = [
            item
            for item in view.manifest.segments
            if item.base_offset < self._span.first_uncleanable
        ]
        latest = self._note_keys(below, view)
        rules = PassRules(
            newest=self._newest,
            latest=latest,
            first_uncleanable=self._span.first_uncleanable,
            last_appends=self._partition.appender.last_appends(),
            now=self._now,
        )
        trace = TransactionTrace(view.aborted)
        chosen = FrameFilter(self._topic, rules, trace)
        touched = [item for item in below if item.base_offset <= latest]
        for group in group_by_size(touched, self._topic.config.segment_bytes):
            self._clean_group(group, chosen, trace)
        return CleanedState(latest + 1, self._next_horizon)

    def _note_keys(self, segments: Sequence[SealedSegment], view: View) -> int:
        """Fill the map from the dirty part; give the last offset whose key it knows."""
        latest = self._span.first_dirty - 1
        trace = TransactionTrace(view.aborted)
        ends = [item.base_offset for item in segments[1:]] + [self._span.first_uncleanable]
        for segment, end in zip(segments, ends, strict=False):
            if end <= self._span.first_dirty:
                continue
            for stored in self._frames(segment):
                last, is_full = self._note_frame(stored, trace)
                latest = max(latest, last)
                if is_full:
                    return latest
            # Compaction may have left a gap of offsets before the next segment.
            latest = max(latest, end - 1)
        return latest

    def _note_frame(self, stored: StoredFrame, trace: TransactionTrace) -> tuple[int, bool]:
        frame = stored.frame
        if frame.is_marker or trace.meets_rows(frame) or not frame.records:
            return frame.last_offset, False
        if frame.last_offset < self._span.first_dirty or not frame.flags & HAS_KEYS:
            return frame.last_offset, False
        rows = decode_payload(frame, stored.buffer, stored.start, value_schema(self._topic))
        offsets = offsets_of(frame, rows)
        first = int(offsets.searchsorted(self._span.first_dirty))
        keys, noted = map_keys(rows.column(KEY_COLUMN))[first:], offsets[first:].tolist()
        taken = self._newest.add(keys, noted)
        if taken == len(keys):
            return frame.last_offset, False
        return noted[taken] - 1, True

    def _clean_group(
        self, group: Sequence[SealedSegment], chosen: FrameFilter, trace: TransactionTrace
    ) -> None:
        head = self._partition.reader.head()
        output = SegmentWriter(
            self._storage, self._directory, group[0].base_offset, head.manifest_generation + 1
        )
        try:
            changed = self._copy(group, chosen, output)
            cleaned = output.finish(group[-1].next_offset)
        except BaseException:
            with contextlib.suppress(OSError):
                output.discard()
            raise
        aborted = trace.take_needed()
        same = len(group) == 1 and not changed and aborted == self._aborted_within(group)
        if same or not cleaned.size:
            output.discard()
        if same:
            return
        new = (cleaned,) if cleaned.size else ()
        switch = SegmentList(self._storage, self._directory, self._partition.appender)
        switch.change(ListChange(tuple(group), new, aborted))

    def _copy(
        self, group: Sequence[SealedSegment], chosen: FrameFilter, output: SegmentWriter
    ) -> bool:
        changed = False
        for segment in group:
            for stored in self._frames(segment):
                kept = chosen.filter(stored)
                changed |= kept is None or kept.changed
                if kept is None:
                    continue
                output.write(kept.frame, kept.parts, self._topic.config.index_interval_bytes)
                self._note_horizon(kept.frame.delete_horizon)
        return changed

    def _aborted_within(self, group: Sequence[SealedSegment]) -> tuple[AbortedTransaction, ...]:
        begin, end = group[0].base_offset, group[-1].next_offset
        present = self._partition.reader.view().aborted
        return tuple(item for item in present if begin <= item.last_offset < end)

    def _note_horizon(self, horizon: int) -> None:
        # One that has passed did what it was there for.
        if horizon > self._now:
            known = self._next_horizon
            self._next_horizon = horizon if known is None else min(known, horizon)

    def _frames(self, segment: SealedSegment) -> Iterator[StoredFrame]:
        path = f"{self._directory}/{segment.name}.seg"
        file = self._storage.open(path)
        try:
            for stored in read_frames(file, path, 0, segment.size):
                if not self._keep_going():
                    raise CleaningStopped
                yield stored
        finally:
            file.close()


def group_by_size(
    segments: Sequence[SealedSegment], most_bytes: int
) -> Iterator[tuple[SealedSegment, ...]]:
    """Put neighbours together that fit into one segment, so that segments do not ever shrink."""
    group: list[SealedSegment] = []
    for segment in segments:
        fits = sum(item.size for item in group) + segment.size <= most_bytes
        if group and not (fits and segment.next_offset - group[0].base_offset <= _LONGEST_SPAN):
            yield tuple(group)
            group = []
        group.append(segment)
    if group:
        yield tuple(group)
