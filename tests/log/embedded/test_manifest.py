from __future__ import annotations

import pytest

from penstock.errors import CorruptionError
from penstock.log.embedded.manifest import (
    ENTRY_SIZE,
    HEADER_SIZE,
    Manifest,
    SealedSegment,
    encode_manifest,
    read_manifest,
)
from penstock.log.embedded.memory import MemoryStorage

SEGMENTS = (
    SealedSegment(0, 10, 0, 640, 10, 1_000, 2_000),
    SealedSegment(10, 25, 2, 1280, 7, 1_500, 2_500),
)


def stored(content: bytes) -> MemoryStorage:
    storage = MemoryStorage()
    storage.replace("manifest-3", content)
    return storage


def test_segments_come_back_as_far_as_the_head_counts_them() -> None:
    storage = stored(encode_manifest(3, SEGMENTS))
    assert read_manifest(storage, "manifest-3", 2) == Manifest(3, SEGMENTS)
    assert read_manifest(storage, "manifest-3", 1) == Manifest(3, SEGMENTS[:1])


def test_an_offset_is_looked_up_in_the_segment_that_holds_it() -> None:
    manifest = Manifest(3, SEGMENTS)
    assert [manifest.position_of(offset) for offset in (-1, 0, 9, 10, 24)] == [-1, 0, 0, 1, 1]


def test_a_flip_of_any_byte_is_named_with_its_entry() -> None:
    content = encode_manifest(3, SEGMENTS)
    for position in range(len(content)):
        hurt = bytearray(content)
        hurt[position] ^= 1
        entry = (position - HEADER_SIZE) // ENTRY_SIZE
        start = 0 if position < HEADER_SIZE else HEADER_SIZE + entry * ENTRY_SIZE
        if start and position >= start + ENTRY_SIZE - 4:
            continue  # four zeros behind each checksum mean nothing
        with pytest.raises(CorruptionError, match=rf'MANIFEST_CORRUPT.*"manifest-3".*byte {start}'):
            read_manifest(stored(bytes(hurt)), "manifest-3", 2)


@pytest.mark.parametrize("lost", [1, ENTRY_SIZE, 2 * ENTRY_SIZE + 1])
def test_a_manifest_cut_short_is_named(lost: int) -> None:
    with pytest.raises(CorruptionError, match="MANIFEST_CORRUPT"):
        read_manifest(stored(encode_manifest(3, SEGMENTS)[:-lost]), "manifest-3", 2)
