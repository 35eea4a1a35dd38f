"""Writing a whole new segment, frame by frame, with its sparse index."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.log.embedded.frame import Frame
from penstock.log.embedded.head import NEWEST, OLDEST
from penstock.log.embedded.index import IndexEntry, encode_index_entry
from penstock.log.embedded.manifest import SealedSegment, segment_name
from penstock.log.storage import Bytes, Storage

_PIECE = 1024 * 1024


class SegmentWriter:
    """Writes a segment that nobody reads before a manifest names it."""

    def __init__(self, storage: Storage, directory: str, base_offset: int, generation: int) -> None:
        self._storage = storage
        self._stem = f"{directory}/{segment_name(base_offset, generation)}"
        self._base_offset = base_offset
        self._generation = generation
        self._file = storage.open(f"{self._stem}.seg", create=True)
        self._file.truncate(0)
        self._waiting: list[Bytes] = []
        self._written = 0
        self._indexed = 0
        self._index: list[bytes] = []
        self._size = 0
        self._records = 0
        self._min_timestamp = NEWEST
        self._max_timestamp = OLDEST

    def write(self, frame: Frame, parts: Sequence[Bytes], index_interval: int) -> None:
        """Add a frame at the end."""
        self._waiting.extend(parts)
        self._size += frame.length
        if frame.records and not frame.is_marker:
            self._records += frame.records
            self._min_timestamp = min(self._min_timestamp, frame.min_timestamp)
            self._max_timestamp = max(self._max_timestamp, frame.max_timestamp)
        if self._size - self._indexed >= index_interval:
            entry = IndexEntry(frame.next_offset, self._size, self._max_timestamp)
            self._index.append(encode_index_entry(entry))
            self._indexed = self._size
        if self._size - self._written >= _PIECE:
            self._flush()

    def finish(self, next_offset: int) -> SealedSegment:
        """Return when the segment would survive a power cut."""
        self._flush()
        self._file.sync()
        self._file.close()
        self._storage.replace(f"{self._stem}.idx", b"".join(self._index))
        return SealedSegment(
            self._base_offset,
            next_offset,
            self._generation,
            self._size,
            self._records,
            self._min_timestamp,
            self._max_timestamp,
        )

    def discard(self) -> None:
        """Remove what was written."""
        self._file.close()
        self._storage.remove(f"{self._stem}.seg")
        self._storage.remove(f"{self._stem}.idx")

    def _flush(self) -> None:
        if self._waiting:
            self._file.write_at(self._written, self._waiting)
            self._waiting = []
            self._written = self._size
