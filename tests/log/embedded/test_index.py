from __future__ import annotations

from penstock.log.embedded.index import (
    ENTRY_SIZE,
    IndexEntry,
    decode_index,
    encode_index_entry,
    position_before_offset,
    position_before_time,
)

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
