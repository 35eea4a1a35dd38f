"""The manifest of a partition: its sealed segments, in order.

A segment is part of the partition when the manifest names it, or when it is the
active one that the head names; any other file is a leftover. An entry is appended
when a segment is sealed. When retention or compaction changes the list, a new file is
written under the name of the next generation, and the head alone switches to it.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from crc32c import crc32c

from penstock.errors import CorruptionError
from penstock.log.storage import Storage

MAGIC = b"PNMF"

_HEADER = struct.Struct("<4sIq")
_ENTRY = struct.Struct("<qqqqqqqI4x")
HEADER_SIZE = _HEADER.size
ENTRY_SIZE = _ENTRY.size


@dataclass(frozen=True, slots=True)
class SealedSegment:
    """A segment that takes no more appends."""

    base_offset: int
    next_offset: int
    generation: int
    size: int
    records: int
    min_timestamp: int
    max_timestamp: int

    @property
    def name(self) -> str:
        """The stem of the segment's files."""
        return segment_name(self.base_offset, self.generation)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The sealed segments of a partition, oldest first."""

    generation: int
    segments: tuple[SealedSegment, ...] = ()

    def position_of(self, offset: int) -> int:
        """The number of the segment whose range holds an offset; -1 before the first."""
        return bisect_right(self.segments, offset, key=lambda segment: segment.base_offset) - 1


def manifest_file(generation: int) -> str:
    """Name the file that holds one generation of the list."""
    return f"manifest-{generation}"


def segment_name(base_offset: int, generation: int = 0) -> str:
    """Name a segment so that names sort as offsets do."""
    return f"{base_offset:020d}" if generation == 0 else f"{base_offset:020d}-{generation}"


def encode_entry(segment: SealedSegment) -> bytes:
    """Give the bytes of one entry, checksum included."""
    fields = (
        segment.base_offset,
        segment.next_offset,
        segment.generation,
        segment.size,
        segment.records,
        segment.min_timestamp,
        segment.max_timestamp,
    )
    return _ENTRY.pack(*fields, crc32c(_ENTRY.pack(*fields, 0)))


def encode_manifest(generation: int, segments: Sequence[SealedSegment]) -> bytes:
    """Give the bytes of a whole manifest."""
    header = _HEADER.pack(MAGIC, 0, generation)
    header = header[:4] + crc32c(header).to_bytes(4, "little") + header[8:]
    return header + b"".join(map(encode_entry, segments))


def read_manifest(storage: Storage, path: str, count: int) -> Manifest:
    """Read the first entries of a manifest, as many as the head says; a flipped bit is named."""
    data = storage.read(path)
    if len(data) < HEADER_SIZE:
        raise _corrupt(path, len(data))
    magic, checksum, generation = _HEADER.unpack_from(data)
    if magic != MAGIC or crc32c(_HEADER.pack(MAGIC, 0, generation)) != checksum:
        raise _corrupt(path, 0)
    segments: list[SealedSegment] = []
    for start in range(HEADER_SIZE, HEADER_SIZE + count * ENTRY_SIZE, ENTRY_SIZE):
        if start + ENTRY_SIZE > len(data):
            raise _corrupt(path, start)
        *fields, entry_checksum = _ENTRY.unpack_from(data, start)
        if entry_checksum != crc32c(_ENTRY.pack(*fields, 0)):
            raise _corrupt(path, start)
        segments.append(SealedSegment(*fields))
    return Manifest(generation, tuple(segments))


def _corrupt(path: str, position: int) -> CorruptionError:
    return CorruptionError(
        "MANIFEST_CORRUPT",
        f'the manifest "{path}" fails its checksum at byte {position}',
        hint="Run `penstock log repair` to rebuild the manifest from the segments.",
    )
