from __future__ import annotations

import pytest

from penstock.errors import CorruptionError
from penstock.log.embedded.aborted import (
    ENTRY_SIZE,
    AbortedTransaction,
    encode_aborted,
    read_aborted,
)
from penstock.log.embedded.memory import MemoryStorage

ITEMS = (AbortedTransaction(7, 0, 1, 10, 12), AbortedTransaction(8, 3, 0, 11, 20))


def stored(content: bytes) -> MemoryStorage:
    storage = MemoryStorage()
    storage.replace("aborted-0", content)
    return storage


def test_entries_come_back_as_far_as_the_head_counts_them() -> None:
    storage = stored(encode_aborted(ITEMS))
    assert read_aborted(storage, "aborted-0", 2) == ITEMS
    assert read_aborted(storage, "aborted-0", 1) == ITEMS[:1]


def test_where_nothing_was_aborted_no_file_is_needed() -> None:
    assert read_aborted(MemoryStorage(), "aborted-0", 0) == ()


def test_a_flip_of_any_byte_is_named_with_its_entry() -> None:
    content = encode_aborted(ITEMS)
    for position in range(len(content)):
        if position % ENTRY_SIZE >= ENTRY_SIZE - 4:
            continue  # four zeros behind each checksum mean nothing
        hurt = bytearray(content)
        hurt[position] ^= 1
        start = position - position % ENTRY_SIZE
        with pytest.raises(CorruptionError, match=rf'ABORTED_CORRUPT.*"aborted-0".*byte {start}'):
            read_aborted(stored(bytes(hurt)), "aborted-0", 2)


@pytest.mark.parametrize("lost", [1, ENTRY_SIZE, 2 * ENTRY_SIZE])
def test_a_list_cut_short_is_named(lost: int) -> None:
    with pytest.raises(CorruptionError, match="ABORTED_CORRUPT"):
        read_aborted(stored(encode_aborted(ITEMS)[:-lost]), "aborted-0", 2)
