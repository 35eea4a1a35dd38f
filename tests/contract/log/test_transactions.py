from __future__ import annotations

import pytest

from penstock.errors import TransactionError
from penstock.log.port import Bounds, Log
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from tests.contract.log.adapters import OpenLog
from tests.contract.log.reading import values


@pytest.fixture(autouse=True)
def _topics(log: Log) -> None:
    log.create_topic("debits", partitions=2)
    log.create_topic("credits")


def test_readers_see_all_of_a_transaction_or_none(log: Log, open_again: OpenLog) -> None:
    reader = open_again()
    transaction = log.transaction("transfer")
    transaction.begin()
    transaction.append("debits", 1, rows_of_bytes([b"-5"]))
    transaction.append("credits", 0, rows_of_bytes([b"+5", b"+6"]))
    assert values(reader, "debits", 1) == values(reader, "credits") == []
    transaction.commit()
    assert values(reader, "debits", 1) == [b"-5"]
    assert values(reader, "credits") == [b"+5", b"+6"]


def test_an_aborted_transaction_is_never_seen(log: Log, open_again: OpenLog) -> None:
    transaction = log.transaction("transfer")
    transaction.begin()
    transaction.append("credits", 0, rows_of_bytes([b"no"]))
    transaction.abort()
    log.append("credits", 0, rows_of_bytes([b"yes"]))
    assert values(open_again(), "credits") == [b"yes"]
    assert values(open_again(), "credits", 0, "uncommitted") == [b"no", b"yes"]


def test_an_open_transaction_holds_back_what_comes_after_it(log: Log) -> None:
    transaction = log.transaction("slow")
    transaction.begin()
    transaction.append("credits", 0, rows_of_bytes([b"1"]))
    log.append("credits", 0, rows_of_bytes([b"2"]))
    assert log.bounds("credits", 0) == Bounds(0, 0)
    assert log.bounds("credits", 0, "uncommitted") == Bounds(0, 2)
    transaction.commit()
    assert values(log, "credits") == [b"1", b"2"]


def test_a_later_holder_of_the_id_fences_the_earlier(log: Log, open_again: OpenLog) -> None:
    zombie = log.transaction("job")
    zombie.begin()
    zombie.append("credits", 0, rows_of_bytes([b"zombie"]))
    holder = open_again().transaction("job")
    with pytest.raises(TransactionError, match="WRITER_FENCED"):
        zombie.commit()
    holder.begin()
    holder.append("credits", 0, rows_of_bytes([b"holder"]))
    holder.commit()
    assert values(log, "credits") == [b"holder"]
    zombie.close()


def test_a_zombies_late_rows_stay_invisible(log: Log, open_again: OpenLog) -> None:
    zombie = log.transaction("job")
    zombie.begin()
    open_again().transaction("job")
    zombie.append("debits", 0, rows_of_bytes([b"zombie"]))
    with pytest.raises(TransactionError, match="WRITER_FENCED"):
        zombie.commit()
    log.append("debits", 0, rows_of_bytes([b"plain"]))
    assert values(log, "debits") == [b"plain"]


def test_the_note_of_the_last_commit_survives(log: Log, open_again: OpenLog) -> None:
    transaction = log.transaction("job")
    assert transaction.note == ""
    transaction.begin()
    transaction.commit("batch 41")
    transaction.begin()
    transaction.abort()
    assert open_again().transaction("job").note == "batch 41"


def test_many_transactions_one_after_another(log: Log, open_again: OpenLog) -> None:
    transaction = log.transaction("job")
    for number in range(40):
        transaction.begin()
        transaction.append("credits", 0, rows_of_bytes([b"%d" % number]))
        if number % 3:
            transaction.commit()
        else:
            transaction.abort()
    expected = [b"%d" % number for number in range(40) if number % 3]
    assert values(open_again(), "credits") == expected


def test_two_ids_interleave_on_one_partition(log: Log, open_again: OpenLog) -> None:
    one, two = log.transaction("one"), open_again().transaction("two")
    one.begin()
    two.begin()
    for number in range(3):
        one.append("credits", 0, rows_of_bytes([b"one %d" % number]))
        two.append("credits", 0, rows_of_bytes([b"two %d" % number]))
    two.commit()
    assert values(log, "credits") == []
    one.abort()
    assert values(log, "credits") == [b"two 0", b"two 1", b"two 2"]


def test_group_offsets_are_committed_with_the_records(log: Log) -> None:
    place = TopicPartition("debits", 0)
    transaction = log.transaction("job")
    transaction.begin()
    transaction.append("credits", 0, rows_of_bytes([b"x"]))
    transaction.commit_offsets("readers", {place: 5})
    assert log.committed("readers") == {}
    transaction.commit()
    assert log.committed("readers") == {place: 5}
    transaction.begin()
    transaction.commit_offsets("readers", {place: 9})
    transaction.abort()
    assert log.committed("readers") == {place: 5}


def test_a_snapshot_has_the_whole_transaction_or_nothing_of_it(log: Log) -> None:
    transaction = log.transaction("job")
    transaction.begin()
    transaction.append("debits", 0, rows_of_bytes([b"x"]))
    transaction.append("credits", 0, rows_of_bytes([b"y"]))
    ends = {place: bounds.end for place, bounds in log.snapshot(["debits", "credits"]).items()}
    assert set(ends.values()) == {0}
    transaction.commit()
    after = log.snapshot(["debits", "credits"])
    assert after[TopicPartition("debits", 0)].end > 0
    assert after[TopicPartition("credits", 0)].end > 0


def test_steps_out_of_order_are_refused(log: Log) -> None:
    transaction = log.transaction("job")
    with pytest.raises(TransactionError, match="TRANSACTION_NOT_OPEN"):
        transaction.append("credits", 0, rows_of_bytes([b"x"]))
    with pytest.raises(TransactionError, match="TRANSACTION_NOT_OPEN"):
        transaction.commit()
    transaction.begin()
    with pytest.raises(TransactionError, match="TRANSACTION_OPEN"):
        transaction.begin()


def test_closing_aborts_what_is_open(log: Log) -> None:
    transaction = log.transaction("job")
    transaction.begin()
    transaction.append("credits", 0, rows_of_bytes([b"x"]))
    transaction.close()
    log.append("credits", 0, rows_of_bytes([b"y"]))
    assert values(log, "credits") == [b"y"]
