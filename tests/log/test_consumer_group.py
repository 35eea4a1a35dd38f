from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice

import pytest

from penstock.errors import GroupError, StorageError
from penstock.log.consumer import Consumer
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.membership import EmbeddedMembership
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.port import Assignor
from penstock.log.record import Record, TopicPartition
from penstock.log.rows import rows_of_bytes
from tests.log.embedded.group_kit import die

ALL = frozenset(TopicPartition("orders", number) for number in range(4))
P0 = TopicPartition("orders", 0)
OFTEN = timedelta(0)


@pytest.fixture
def log() -> Iterator[EmbeddedLog]:
    with EmbeddedLog(MemoryStorage()) as log:
        log.create_topic("orders", partitions=4)
        yield log


def fill(log: EmbeddedLog, count: int = 10, partitions: int = 4) -> None:
    for partition in range(partitions):
        log.append("orders", partition, rows_of_bytes([b"x"] * count))


def seat_of(consumer: Consumer) -> EmbeddedMembership:
    seat = consumer._part.seat  # type: ignore[union-attr]  # a member
    assert isinstance(seat, EmbeddedMembership)
    return seat


def settle(*consumers: Consumer) -> list[Record]:
    """Poll all consumers until the group is at rest and there is nothing left to read."""
    found: list[Record] = []
    quiet = 0
    while quiet < 3:
        before = [consumer.assignment for consumer in consumers]
        new = []
        for consumer in consumers:
            consumer._part.news.set()  # type: ignore[union-attr]  # a member
            new += consumer.poll(0)
        changed = before != [consumer.assignment for consumer in consumers]
        quiet = 0 if new or changed else quiet + 1
        found += new
    return found


def places(records: list[Record]) -> list[tuple[int, int]]:
    return sorted((record.partition, record.offset) for record in records)


def test_a_lone_member_reads_everything_and_continues_after_a_restart(log: EmbeddedLog) -> None:
    fill(log, 3)
    with Consumer(log, "orders", group="billing") as consumer:
        assert len(consumer.poll()) == 12
        assert consumer.assignment == ALL
    fill(log, 2)
    with Consumer(log, "orders", group="billing") as consumer:
        assert places(consumer.poll()) == [(p, o) for p in range(4) for o in (3, 4)]
    assert log.committed("billing") == dict.fromkeys(ALL, 5)


@pytest.mark.parametrize("assignor", ["range", "round-robin", "sticky", "cooperative-sticky"])
def test_members_that_come_and_go_read_every_record_exactly_once(
    log: EmbeddedLog, assignor: Assignor
) -> None:
    fill(log, 20)
    first = Consumer(log, "orders", group="g", max_poll_records=7, assignor=assignor)
    found = first.poll() + first.poll()
    second = Consumer(log, "orders", group="g", max_poll_records=7, assignor=assignor)
    found += second.poll(0) + first.poll() + second.poll(0)
    third = Consumer(log, "orders", group="g", max_poll_records=7, assignor=assignor)
    found += settle(first, second, third)
    fill(log, 20)
    found += third.poll()
    third.close()
    found += settle(first, second)
    first.close()
    fill(log, 5)
    found += settle(second)
    second.close()
    assert places(found) == [(p, o) for p in range(4) for o in range(45)]


def test_shares_are_disjoint_and_even(log: EmbeddedLog) -> None:
    fill(log)
    consumers = [Consumer(log, "orders", group="g") for _ in range(3)]
    settle(*consumers)
    shares = [consumer.assignment for consumer in consumers]
    assert Counter(place for share in shares for place in share) == Counter(ALL)
    assert sorted(map(len, shares)) == [1, 1, 2]
    for consumer in consumers:
        consumer.close()


def test_what_is_given_up_is_told_and_committed_before_another_has_it(log: EmbeddedLog) -> None:
    fill(log)
    told: list[tuple[str, frozenset[TopicPartition]]] = []
    first = Consumer(
        log,
        "orders",
        group="g",
        on_assign=lambda places: told.append(("assign", places)),
        on_revoke=lambda places: told.append(("revoke", places)),
        on_lost=lambda places: told.append(("lost", places)),
    )
    first.poll()
    second = Consumer(log, "orders", group="g")
    settle(first, second)
    passed = second.assignment
    assert told == [("assign", ALL), ("revoke", passed)]
    assert {place: log.committed("g")[place] for place in passed} == dict.fromkeys(passed, 10)
    second.close()
    settle(first)
    assert told[2:] == [("assign", passed)]
    first.close()
    assert told[3:] == [("revoke", ALL)]


def test_a_commit_from_the_callback_is_what_the_next_owner_finds(log: EmbeddedLog) -> None:
    fill(log)

    def keep(places: frozenset[TopicPartition]) -> None:
        first.commit(dict.fromkeys(places, 4))

    first = Consumer(log, "orders", group="g", auto_commit=None, on_revoke=keep)
    first.poll()
    second = Consumer(log, "orders", group="g", auto_commit=None)
    found = settle(first, second)
    assert places(found) == sorted((p, o) for _, p in second.assignment for o in range(4, 10))
    second.close()
    first.close()


def test_without_automatic_commits_only_what_was_committed_is_not_read_again(
    log: EmbeddedLog,
) -> None:
    fill(log, 10, partitions=1)
    with Consumer(log, "orders", group="g", auto_commit=None, max_poll_records=4) as consumer:
        consumer.poll()
        consumer.commit()
        consumer.poll()
    with Consumer(log, "orders", group="g", auto_commit=None) as consumer:
        assert [record.offset for record in consumer.poll()] == [4, 5, 6, 7, 8, 9]


def test_a_crash_between_processing_and_commit_gives_the_records_again(log: EmbeddedLog) -> None:
    fill(log, 10, partitions=1)
    crashed = Consumer(log, "orders", group="g", max_poll_records=4)
    assert len(crashed.poll()) == 4
    crashed._part._attendance._stopped.set()  # type: ignore[union-attr]  # a member
    die(seat_of(crashed))
    with Consumer(log, "orders", group="g") as consumer:
        assert [record.offset for record in settle(consumer)] == [*range(10)]


def test_a_failed_with_block_commits_nothing_more(log: EmbeddedLog) -> None:
    fill(log, 10, partitions=1)
    with pytest.raises(ZeroDivisionError):
        _fail_after_a_poll(Consumer(log, "orders", group="g", max_poll_records=4))
    assert log.committed("g") == {}
    assert log.group("g").members == ()


def _fail_after_a_poll(consumer: Consumer) -> None:
    with consumer:
        consumer.poll()
        raise ZeroDivisionError


def test_an_automatic_commit_never_covers_the_record_in_work(log: EmbeddedLog) -> None:
    fill(log, 10, partitions=1)
    with Consumer(log, "orders", group="g", auto_commit=OFTEN) as consumer:
        for record in islice(consumer, 10):
            assert log.committed("g").get(P0, 0) <= record.offset
            consumer._part.news.set()  # type: ignore[union-attr]  # a member
        assert log.committed("g")[P0] == 9
    assert log.committed("g")[P0] == 10


def test_a_poll_counts_the_records_of_the_one_before_as_processed(log: EmbeddedLog) -> None:
    fill(log, 10, partitions=1)
    settings = {"group": "g", "auto_commit": OFTEN, "max_poll_records": 4}
    with Consumer(log, "orders", **settings) as consumer:  # type: ignore[arg-type]  # as typed above
        committed = []
        for _ in range(3):
            consumer._part.news.set()  # type: ignore[union-attr]  # a member
            consumer.poll()
            committed.append(log.committed("g").get(P0, 0))
    assert committed == [0, 4, 8]


def test_an_expelled_consumer_is_told_and_takes_a_new_seat(log: EmbeddedLog) -> None:
    fill(log)
    lost: list[frozenset[TopicPartition]] = []
    consumer = Consumer(log, "orders", group="g", auto_commit=None, on_lost=lost.append)
    consumer.poll()
    seat_of(consumer)._lose_seat()
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        consumer.commit()
    assert places(settle(consumer)) == [(p, o) for p in range(4) for o in range(10)]
    assert lost == [ALL]
    consumer.commit()
    assert log.committed("g") == dict.fromkeys(ALL, 10)
    consumer.close()


def test_an_expelled_consumer_can_be_closed(log: EmbeddedLog) -> None:
    fill(log)
    lost: list[frozenset[TopicPartition]] = []
    consumer = Consumer(log, "orders", group="g", on_lost=lost.append)
    consumer.poll()
    seat_of(consumer)._lose_seat()
    consumer.close()
    assert lost == [ALL]
    assert log.committed("g") == {}


def test_latest_is_pinned_by_the_first_commit(log: EmbeddedLog) -> None:
    fill(log)
    with Consumer(log, "orders", group="g", start="latest") as consumer:
        assert consumer.poll(0) == []
    fill(log, 1)
    with Consumer(log, "orders", group="g", start="latest") as consumer:
        assert places(consumer.poll()) == [(p, 10) for p in range(4)]


def test_a_disk_that_refuses_a_commit_is_named_and_the_partition_kept(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(log)
    first = Consumer(log, "orders", group="g")
    first.poll()
    second = Consumer(log, "orders", group="g")
    with monkeypatch.context() as patched:
        patched.setattr(MemoryStorage, "replace", _refuse)
        first._part.news.set()  # type: ignore[union-attr]  # a member
        with pytest.raises(StorageError, match="DISK_FULL"):
            first.poll(0)
    assert first.assignment == ALL
    assert settle(first, second) == []
    assert first.assignment | second.assignment == ALL
    first.close()
    second.close()


def test_a_consumer_that_cannot_commit_leaves_all_the_same(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(log)
    first = Consumer(log, "orders", group="g")
    first.poll()
    with monkeypatch.context() as patched:
        patched.setattr(MemoryStorage, "replace", _refuse)
        with pytest.raises(StorageError, match="DISK_FULL"):
            first.close()
    with Consumer(log, "orders", group="g") as second:
        assert len(settle(second)) == 40


def _refuse(self: MemoryStorage, path: str, content: bytes, *, sync: bool = False) -> None:
    raise OSError(28, "No space left on device", path)


def test_offsets_of_a_transaction_are_committed_with_its_records(log: EmbeddedLog) -> None:
    fill(log, 10, partitions=1)
    log.create_topic("out")
    with (
        Consumer(log, "orders", group="g", auto_commit=None) as consumer,
        log.transaction("copy") as transaction,
    ):
        found = consumer.poll()
        transaction.begin()
        transaction.append("out", 0, rows_of_bytes([b"y"] * len(found)))
        transaction.commit_offsets("g", {P0: consumer.position(P0)})
        assert consumer.committed() == {}
        transaction.commit()
        assert consumer.committed() == {P0: 10}
