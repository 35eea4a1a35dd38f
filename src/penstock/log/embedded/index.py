"""The sparse index of a segment: an offset, its position and the newest timestamp so far.

The index only tells where to begin looking. Each entry has its own checksum; one that
fails is passed over, and the search begins earlier.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from crc32c import crc32c

_ENTRY = struct.Struct("<qqqI4x")
ENTRY_SIZE = _ENTRY.size


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """Before `position` lie only offsets below `offset`, none newer than `max_timestamp`."""

    offset: int
    position: int
    max_timestamp: int


def encode_index_entry(entry: IndexEntry) -> bytes:
    """Give the bytes of one entry, checksum included."""
    fields = (entry.offset, entry.position, entry.max_timestamp)
    return _ENTRY.pack(*fields, crc32c(_ENTRY.pack(*fields, 0)))


def decode_index(data: bytes) -> list[IndexEntry]:
    """Give the entries that hold their checksum, in order."""
    entries: list[IndexEntry] = []
    for offset, position, timestamp, checksum in _ENTRY.iter_unpack(
        data[: len(data) // ENTRY_SIZE * ENTRY_SIZE]
    ):
        if checksum == crc32c(_ENTRY.pack(offset, position, timestamp, 0)):
            entries.append(IndexEntry(offset, position, timestamp))
    return entries


def position_before_offset(entries: list[IndexEntry], offset: int) -> int:
    """The last known position at or before an offset."""
    found = bisect_right(entries, offset, key=lambda entry: entry.offset) - 1
    return entries[found].position if found >= 0 else 0


def position_before_time(entries: list[IndexEntry], timestamp: int) -> int:
    """The last known position before which everything is older than a time."""
    found = bisect_left(entries, timestamp, key=lambda entry: entry.max_timestamp) - 1
    return entries[found].position if found >= 0 else 0
