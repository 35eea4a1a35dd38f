from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.errors import CorruptionError, TransactionError
from penstock.log.embedded.head import (
    MAX_OPEN_TRANSACTIONS,
    SLOT_SIZE,
    Head,
    OpenTransaction,
    create_head,
    encode_head,
    publish_head,
    read_head,
)
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.storage import File


@pytest.fixture
def file() -> File:
    return MemoryStorage().open("head", create=True)


def test_the_newest_head_is_read(file: File) -> None:
    head = Head(start_offset=3, end_offset=9, open=(OpenTransaction(1, 2, 3, 4),))
    create_head(file, head)
    for number in range(5):
        head = publish_head(file, replace(head, end_offset=10 + number))
    assert read_head(file, "head") == head
    assert head.change == 5


def test_a_torn_update_leaves_the_head_before_it(file: File) -> None:
    head = Head(end_offset=1)
    create_head(file, head)
    second = publish_head(file, replace(head, end_offset=2))
    third = encode_head(replace(second, change=2, end_offset=3))
    for torn_at in range(len(third)):
        old = file.read_at(0, SLOT_SIZE)
        file.write_at(0, [third[:torn_at]])
        # A slot may end in zeros that were zeros before: then it is whole before its last byte.
        assert read_head(file, "head") in (second, replace(second, change=2, end_offset=3))
        file.write_at(0, [old])


def test_a_head_with_no_valid_slot_is_named(file: File) -> None:
    create_head(file, Head())
    file.write_at(20, [b"\xff"])
    assert read_head(file, "part/head") == Head()
    file.write_at(SLOT_SIZE + 20, [b"\xff"])
    with pytest.raises(CorruptionError, match=r"HEAD_CORRUPT.*part/head"):
        read_head(file, "part/head")


def test_the_head_is_laid_out_whole_so_that_updates_need_no_space(file: File) -> None:
    create_head(file, Head())
    assert file.size() == 2 * SLOT_SIZE


def test_more_open_transactions_than_fit_are_refused(file: File) -> None:
    many = tuple(OpenTransaction(n, 0, 1, n) for n in range(MAX_OPEN_TRANSACTIONS + 1))
    encode_head(Head(open=many[:-1]))
    with pytest.raises(TransactionError, match="TRANSACTION_LIMIT"):
        encode_head(Head(open=many))


def test_the_stable_offset_is_that_of_the_oldest_open_transaction() -> None:
    head = Head(end_offset=9, open=(OpenTransaction(1, 0, 1, 6), OpenTransaction(2, 0, 1, 4)))
    assert head.stable_offset == 4
    assert replace(head, open=()).stable_offset == 9
