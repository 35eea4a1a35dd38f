"""The active segment: the one file of a partition that takes appends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from penstock.errors import CorruptionError
from penstock.log.embedded.aborted import AbortedTransaction
from penstock.log.embedded.boot import UNKNOWN_BOOT, this_boot
from penstock.log.embedded.frame import ABORT_MARKER, Frame
from penstock.log.embedded.head import NEWEST, OLDEST, Head, OpenTransaction
from penstock.log.embedded.index import (
    ENTRY_SIZE,
    IndexEntry,
    decode_index,
    encode_index_entry,
)
from penstock.log.embedded.manifest import segment_name
from penstock.log.embedded.segment import last_intact_position, read_headers
from penstock.log.storage import Bytes, Storage


class ActiveSegment:
    """Writes frames and their sparse index; used only while the partition's lock is held."""

    def __init__(self, storage: Storage, directory: str, base_offset: int) -> None:
        self.base_offset = base_offset
        self.path = f"{directory}/{segment_name(base_offset)}.seg"
        self.file = storage.open(self.path, create=True)
        self._index = storage.open(f"{directory}/{segment_name(base_offset)}.idx", create=True)
        self._index_size = self._index.size() // ENTRY_SIZE * ENTRY_SIZE
        self._indexed_position = 0
        self.synced = True

    def write(self, position: int, parts: Sequence[Bytes]) -> None:
        """Write at a position; what lies beyond the head is nobody's."""
        self.synced = False
        self.file.write_at(position, parts)

    def index(self, head: Head, interval: int) -> None:
        """Note where the next frame begins, once in a while."""
        if head.end_position - self._indexed_position < interval:
            return
        entry = IndexEntry(head.end_offset, head.end_position, head.active_max_timestamp)
        self._index.write_at(self._index_size, [encode_index_entry(entry)])
        self._index_size += ENTRY_SIZE
        self._indexed_position = head.end_position

    def sync(self) -> None:
        """Return when all frames written so far would survive a power cut."""
        if not self.synced:
            self.file.sync()
            self.synced = True

    def others_wrote(self) -> None:
        """Take note that another process wrote here: the index grew, and a sync is owed."""
        self.synced = False
        self._index_size = self._index.size() // ENTRY_SIZE * ENTRY_SIZE

    def clear(self) -> None:
        """Empty a file that a roll killed before its head was published left behind."""
        self.file.truncate(0)
        self._index.truncate(0)
        self._index_size = 0

    def cut_index(self, end_position: int) -> None:
        """Forget what the index says about frames that are not there any more."""
        entries = decode_index(self._index.read_at(0, self._index_size))
        kept = [entry for entry in entries if entry.position <= end_position]
        self._index.truncate(0)
        self._index.write_at(0, [b"".join(map(encode_index_entry, kept))])
        self._index_size = len(kept) * ENTRY_SIZE

    def close(self) -> None:
        """Let go of the files."""
        self.file.close()
        self._index.close()


def follow_frame(head: Head, frame: Frame) -> Head:
    """The head after one more frame in the active segment."""
    opened = head.open
    if frame.is_marker:
        opened = tuple(item for item in opened if item.key != frame.transaction_key)
    elif frame.is_transactional and all(item.key != frame.transaction_key for item in opened):
        opened = (*opened, OpenTransaction(*frame.transaction_key, frame.base_offset))
    times = () if frame.is_marker else (frame.min_timestamp, frame.max_timestamp)
    return replace(
        head,
        end_offset=frame.next_offset,
        end_position=head.end_position + frame.length,
        active_records=head.active_records + (0 if frame.is_marker else frame.records),
        active_min_timestamp=min(head.active_min_timestamp, *times)
        if times
        else head.active_min_timestamp,
        active_max_timestamp=max(head.active_max_timestamp, *times)
        if times
        else head.active_max_timestamp,
        active_since=head.active_since if head.active_since >= 0 else frame.appended_at,
        open=opened,
        marker_count=head.marker_count + frame.is_marker,
    )


class Mended(NamedTuple):
    """A head that is true again, and transactions whose abort only the frames still told of."""

    head: Head
    aborted: tuple[AbortedTransaction, ...] = ()


def mend_tail(active: ActiveSegment, head: Head) -> Mended:
    """Cut what a killed writer left behind the head; after a power cut keep what was synced.

    Within one start of the machine the head is exact, so bytes beyond it were never
    acknowledged. After a restart the head on disk may be older than synced frames, or
    newer than frames that were not synced yet: the frames themselves tell how far it goes.
    """
    boot, size = this_boot(), active.file.size()
    if head.boot == boot and (boot != UNKNOWN_BOOT or size == head.end_position):
        if size > head.end_position:
            active.file.truncate(head.end_position)
        return Mended(head)
    begin = _emptied(head)
    intact = last_intact_position(active.file, 0, size, begin.end_offset)
    if intact < head.synced_position:
        raise CorruptionError(
            "SEGMENT_SHORT",
            f'the segment "{active.path}" is whole up to byte {intact}, synced were'
            f" {head.synced_position}",
            hint="Restore the file from a copy; records beyond its end are gone.",
        )
    mended, aborted = begin, []
    for frame, _ in read_headers(active.file, active.path, begin.end_position, intact):
        if frame.kind == ABORT_MARKER:
            aborted += aborted_by(mended, frame)
        mended = follow_frame(mended, frame)
    if size > intact:
        active.file.truncate(intact)
    active.cut_index(mended.end_position)
    return Mended(replace(mended, boot=boot, synced_position=head.synced_position), tuple(aborted))


def aborted_by(head: Head, marker: Frame) -> list[AbortedTransaction]:
    """The transaction an abort marker ends, where it has rows in this partition."""
    return [
        AbortedTransaction(*item, marker.base_offset)
        for item in head.open
        if item.key == marker.transaction_key
    ]


def _emptied(head: Head) -> Head:
    return replace(
        head,
        end_offset=head.active_base,
        end_position=0,
        active_records=0,
        active_min_timestamp=NEWEST,
        active_max_timestamp=OLDEST,
        open=tuple(item for item in head.open if item.first_offset < head.active_base),
    )
