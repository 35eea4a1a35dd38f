from __future__ import annotations

import pytest

from penstock.errors import RecordError, TransactionError
from penstock.log.embedded.frame import Frame
from penstock.log.embedded.writers import WriterTable, writers_from_bytes
from penstock.log.port import Appended, WriterStamp


def _frame(sequence: int, count: int = 1, *, base: int = 0, epoch: int = 0) -> Frame:
    return Frame(
        base_offset=base, offset_span=count - 1, records=count, writer_id=7, epoch=epoch,
        sequence=sequence,
    )  # fmt: skip


def test_a_table_saved_and_read_back_knows_the_same() -> None:
    table = WriterTable()
    for number in range(8):
        table.follow(_frame(2 * number, 2, base=2 * number))
    saved = writers_from_bytes(table.to_bytes(3, 0, 512))
    assert saved is not None
    assert (saved.active_base, saved.position) == (0, 512)
    assert saved.table.check(WriterStamp(7, 0, 14), 2) == Appended(14, 15, duplicate=True)
    assert saved.table.last_sequence(7, 0) == 15


def test_a_torn_table_is_not_believed() -> None:
    data = bytearray(WriterTable().to_bytes(1, 0, 0))
    data[-1] ^= 1
    assert writers_from_bytes(bytes(data)) is None


def test_only_the_last_five_appends_are_remembered() -> None:
    table = WriterTable()
    for number in range(7):
        table.follow(_frame(number, base=number))
    assert table.check(WriterStamp(7, 0, 2), 1) == Appended(2, 2, duplicate=True)
    with pytest.raises(RecordError, match="SEQUENCE_GAP"):
        table.check(WriterStamp(7, 0, 1), 1)


def test_a_new_epoch_begins_its_own_sequence_and_fences_the_old() -> None:
    table = WriterTable()
    table.follow(_frame(40))
    assert table.check(WriterStamp(7, 1, 0), 1) is None
    table.follow(_frame(0, epoch=1))
    with pytest.raises(TransactionError, match="WRITER_FENCED"):
        table.check(WriterStamp(7, 0, 41), 1)
