from __future__ import annotations

import pytest

from penstock.clock import ManualClock
from penstock.log.embedded.index import (
    ENTRY_SIZE,
    IndexEntry,
    decode_index,
    encode_index_entry,
    position_before_offset,
    position_before_time,
)
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryFile, MemoryStorage
from penstock.log.port import ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig

ENTRIES = [IndexEntry(10, 100, 50), IndexEntry(20, 200, 50), IndexEntry(30, 300, 90)]


def test_entries_come_back_and_a_damaged_one_is_passed_over() -> None:
    data = bytearray(b"".join(map(encode_index_entry, ENTRIES)))
    assert decode_index(bytes(data)) == ENTRIES
    data[ENTRY_SIZE + 3] ^= 1
    assert decode_index(bytes(data)) == [ENTRIES[0], ENTRIES[2]]
    assert decode_index(bytes(data[:-1])) == [ENTRIES[0]]


def test_a_search_by_offset_begins_at_or_before_it() -> None:
    assert [position_before_offset(ENTRIES, offset) for offset in (0, 9, 10, 19, 20, 99)] == [
        0, 0, 100, 100, 200, 300,
    ]  # fmt: skip


def test_a_search_by_time_begins_where_all_before_is_older() -> None:
    assert [position_before_time(ENTRIES, time) for time in (0, 50, 51, 90, 91)] == [
        0, 0, 200, 200, 300,
    ]  # fmt: skip


def test_a_place_in_a_long_segment_is_found_without_reading_what_lies_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = MemoryStorage()
    with EmbeddedLog(storage, ManualClock(0)) as log:
        log.create_topic("avg", config=TopicConfig(index_interval_bytes=2_000))
        for number in range(500):
            log.append("avg", 0, rows_of_bytes([b"x" * 500], timestamps=[10 * number]))
    size = storage.open("topics/avg/0/00000000000000000000.seg").size()
    begun_at: list[int] = []
    read_at = MemoryFile.read_at

    def noted(file: MemoryFile, position: int, length: int) -> bytes:
        if file.size() == size:
            begun_at.append(position)
        return read_at(file, position, length)

    monkeypatch.setattr(MemoryFile, "read_at", noted)
    with EmbeddedLog(storage, ManualClock(0)) as log:
        rows = log.read("avg", 0, 450, ReadLimit(records=1)).rows
        assert rows["_offset"].to_pylist() == [450]
        assert log.offset_at_time("avg", 0, 4_401) == 441
    assert begun_at
    assert min(begun_at) > 0.85 * size
