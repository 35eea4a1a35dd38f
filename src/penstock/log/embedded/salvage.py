"""Finding out from the segment files alone which segments a partition has, and what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.log.embedded.aborted import AbortedTransaction
from penstock.log.embedded.active import follow_frame
from penstock.log.embedded.frame import ABORT_MARKER, Frame
from penstock.log.embedded.head import Head, OpenTransaction
from penstock.log.embedded.manifest import SealedSegment, segment_name
from penstock.log.embedded.segment_scan import Scanned, scan_segment
from penstock.log.storage import Storage

_SEGMENT_FILE = re.compile(r"(\d{20})(?:-(\d+))?\.seg")


@dataclass(frozen=True, slots=True)
class FoundSegment:
    """A segment file and all that was read of it."""

    base_offset: int
    generation: int
    scanned: tuple[Scanned, ...]

    @property
    def name(self) -> str:
        """The stem of the segment's files."""
        return segment_name(self.base_offset, self.generation)

    @property
    def frames(self) -> list[Frame]:
        """The intact frames."""
        return [item.frame for item in self.scanned if item.frame is not None]

    @property
    def next_offset(self) -> int:
        """The offset after the last intact frame."""
        return max((frame.next_offset for frame in self.frames), default=self.base_offset)

    @property
    def end(self) -> int:
        """The position after all that was read."""
        return self.scanned[-1].end if self.scanned else 0

    @property
    def is_hurt(self) -> bool:
        """Whether some of it is not what was written."""
        return any(item.frame is None for item in self.scanned)

    def up_to(self, end: int) -> FoundSegment:
        """The part before a position."""
        kept = tuple(item for item in self.scanned if item.end <= end)
        return FoundSegment(self.base_offset, self.generation, kept)

    def without_tail(self) -> FoundSegment:
        """The part up to the last intact frame: what follows was never acknowledged."""
        ends = [item.end for item in self.scanned if item.frame is not None]
        return self.up_to(max(ends, default=0))

    def sealed(self, next_offset: int) -> SealedSegment:
        """The entry for the manifest."""
        summed = sum_up(self.frames, self.base_offset)
        return SealedSegment(
            self.base_offset,
            next_offset,
            self.generation,
            self.end,
            summed.active_records,
            summed.active_min_timestamp,
            summed.active_max_timestamp,
        )


def find_segments(storage: Storage, directory: str) -> list[FoundSegment]:
    """Read every segment file of a partition."""
    found = []
    for name in storage.list(directory):
        match = _SEGMENT_FILE.fullmatch(name)
        if match is not None:
            file = storage.open(f"{directory}/{name}")
            try:
                scanned = tuple(scan_segment(file, file.size()))
            finally:
                file.close()
            found.append(FoundSegment(int(match[1]), int(match[2] or 0), scanned))
    return found


def choose_segments(found: Iterable[FoundSegment]) -> list[FoundSegment]:
    """Choose the segments that make up the partition, oldest first.

    A cleaner removes old segments only when the new one is whole and in force: a newer
    generation counts where what it replaces is not all there any more, else it may be
    unfinished and the older ones, which have everything, count.
    """
    chosen: list[FoundSegment] = []
    for segment in sorted(found, key=lambda item: (item.generation, item.base_offset)):
        overlapping = [item for item in chosen if _overlap(item, segment)]
        if segment.generation and _covers(overlapping, segment):
            continue
        chosen = [item for item in chosen if item not in overlapping]
        chosen.append(segment)
    return sorted(chosen, key=lambda item: item.base_offset)


def sum_up(frames: Iterable[Frame], base_offset: int) -> Head:
    """The head of a partition whose active segment has these frames and nothing is before it."""
    head = Head(active_base=base_offset, end_offset=base_offset)
    for frame in frames:
        head = follow_frame(head, frame)
    return head


def transactions_in(
    segments: Iterable[FoundSegment],
) -> tuple[tuple[OpenTransaction, ...], tuple[AbortedTransaction, ...]]:
    """The transactions without a marker, and those that a marker aborted."""
    opened: dict[tuple[int, int, int], int] = {}
    aborted = []
    for segment in segments:
        for frame in segment.frames:
            key = frame.transaction_key
            if not frame.is_marker:
                if frame.is_transactional:
                    opened.setdefault(key, frame.base_offset)
            elif (first := opened.pop(key, None)) is not None and frame.kind == ABORT_MARKER:
                aborted.append(AbortedTransaction(*key, first, frame.base_offset))
    return tuple(OpenTransaction(*key, first) for key, first in opened.items()), tuple(aborted)


def _overlap(one: FoundSegment, other: FoundSegment) -> bool:
    return one.base_offset == other.base_offset or (
        one.base_offset < other.next_offset and other.base_offset < one.next_offset
    )


def _covers(segments: Sequence[FoundSegment], newer: FoundSegment) -> bool:
    reached = newer.base_offset
    for segment in sorted(segments, key=lambda item: item.base_offset):
        if segment.base_offset > reached:
            return False
        reached = max(reached, segment.next_offset)
    return reached >= newer.next_offset
