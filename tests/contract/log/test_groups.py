"""What any log owes to the members of a consumer group."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.clock import ManualClock
from penstock.errors import GroupError
from penstock.log.consumer import Consumer
from penstock.log.port import Capability, Log, Membership
from penstock.log.record import Record, TopicPartition
from penstock.log.rows import rows_of_bytes
from tests.contract.log.adapters import OpenLog

P0 = TopicPartition("orders", 0)
ALL = frozenset(TopicPartition("orders", number) for number in range(3))


@pytest.fixture(autouse=True)
def _topic(log: Log) -> None:
    log.create_topic("orders", partitions=3)


@pytest.fixture
def consumer(open_again: OpenLog) -> Iterator[Callable[..., Consumer]]:
    """Makes consumers of the topic, each on a log of its own as in another process."""
    made: list[Consumer] = []

    def make(group: str | None = None, **settings: object) -> Consumer:
        made.append(Consumer(open_again(), "orders", group=group, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()


def produce(log: Log, count: int) -> None:
    for partition in range(3):
        log.append("orders", partition, rows_of_bytes([b"%d" % n for n in range(count)]))


def drain(*consumers: Consumer, expected: int) -> dict[Consumer, list[Record]]:
    """Poll by turns until so many records have come; fails where they do not."""
    found: dict[Consumer, list[Record]] = {one: [] for one in consumers}
    deadline = time.monotonic() + 30
    while sum(map(len, found.values())) < expected:
        assert time.monotonic() < deadline, f"{sum(map(len, found.values()))} of {expected} came"
        for one in consumers:
            found[one] += one.poll(0.01)
    return found


def balance(log: Log, *seats: Membership) -> None:
    """Let every member give up and take what the group wants, until all agree on who has what."""
    far = Capability.CLUSTER in log.capabilities
    deadline, agreed_at = time.monotonic() + 30, float("inf")
    # In a cluster the news of a change takes a moment: all agree for a while before it comes.
    while not time.monotonic() - agreed_at >= (1 if far else 0):
        assert time.monotonic() < deadline, "the members of the group come to no agreement"
        if sum(_follow(seat) for seat in seats) or not _agreed(log, seats):
            agreed_at = float("inf")
        else:
            agreed_at = min(agreed_at, time.monotonic())
        time.sleep(0.02 if far else 0)


def _agreed(log: Log, seats: Sequence[Membership]) -> bool:
    """Whether what the group says is what its members know: in a cluster that takes a moment."""
    held = sorted(sorted(seat.owned) for seat in seats)
    try:
        members = log.group("billing").members
    except GroupError:
        return False
    return held == sorted(sorted(member.assigned) for member in members) and any(held)


def _follow(seat: Membership) -> bool:
    change = seat.heartbeat()
    if change is not None and change.revoked:
        seat.release(change.revoked)
    return change is not None


def places(records: list[Record]) -> list[tuple[int, int]]:
    return sorted((record.partition, record.offset) for record in records)


def every(count: int) -> list[tuple[int, int]]:
    return [(partition, offset) for partition in range(3) for offset in range(count)]


def test_members_of_one_group_share_the_records(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    first, second = consumer("billing", max_poll_records=10), consumer("billing")
    deadline = time.monotonic() + 30
    while not (first.assignment and second.assignment):
        assert time.monotonic() < deadline, "one of the two gets no partition"
        first.poll(0.01)
        second.poll(0.01)
    produce(log, 100)
    found = drain(first, second, expected=300)
    assert found[first]
    assert found[second]
    assert places(found[first] + found[second]) == every(100)


def test_each_of_two_groups_gets_every_record(log: Log, consumer: Callable[..., Consumer]) -> None:
    produce(log, 50)
    billing, audit = consumer("billing"), consumer("audit")
    found = drain(billing, audit, expected=300)
    assert places(found[billing]) == places(found[audit]) == every(50)


def test_reading_takes_nothing_away(log: Log, consumer: Callable[..., Consumer]) -> None:
    produce(log, 10)
    drain(consumer("billing"), expected=30)
    assert places(drain(late := consumer("audit"), expected=30)[late]) == every(10)
    assert places(drain(alone := consumer(), expected=30)[alone]) == every(10)


def test_every_partition_has_exactly_one_member(log: Log) -> None:
    seats = [log.join("billing", ["orders"], client=f"c{n}") for n in range(2)]
    balance(log, *seats)
    info = log.group("billing")
    assert Counter(place for m in info.members for place in m.owned) == Counter(ALL)
    assert Counter(place for m in info.members for place in m.assigned) == Counter(ALL)
    assert sorted(m.client for m in info.members) == ["c0", "c1"]
    for seat in seats:
        seat.leave()


@pytest.mark.parametrize("assignor", ["range", "round-robin", "sticky", "cooperative-sticky"])
def test_the_shares_of_members_differ_by_at_most_one(log: Log, assignor: str) -> None:
    log.create_topic("wide", partitions=10)
    seats = [log.join("billing", ["wide"], assignor=assignor) for _ in range(4)]  # type: ignore[arg-type]
    balance(log, *seats)
    assert sorted(len(seat.owned) for seat in seats) == [2, 2, 3, 3]
    for seat in seats:
        seat.leave()


def test_three_partitions_leave_two_of_five_members_idle(log: Log) -> None:
    seats = [log.join("billing", ["orders"]) for _ in range(5)]
    balance(log, *seats)
    assert sorted(len(seat.owned) for seat in seats) == [0, 0, 1, 1, 1]
    for seat in seats:
        seat.leave()


def test_a_newcomer_gets_its_share_and_a_leaver_gives_it_back(log: Log) -> None:
    first = log.join("billing", ["orders"])
    balance(log, first)
    assert first.owned == ALL
    second = log.join("billing", ["orders"])
    balance(log, first, second)
    assert len(second.owned) in {1, 2}
    assert first.owned | second.owned == ALL
    second.leave()
    balance(log, first)
    assert first.owned == ALL
    first.leave()


def test_one_group_may_be_at_10_and_another_at_500(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    produce(log, 600)
    for group, offset in (("billing", 10), ("audit", 500)):
        log.commit(group, {P0: offset, **dict.fromkeys(ALL - {P0}, 600)})
    billing, audit = consumer("billing"), consumer("audit")
    found = drain(billing, audit, expected=690)
    assert [record.offset for record in found[billing]] == [*range(10, 600)]
    assert [record.offset for record in found[audit]] == [*range(500, 600)]


def test_a_group_continues_after_a_restart_where_it_committed(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    produce(log, 10)
    first = consumer("billing", max_poll_records=7)
    before = drain(first, expected=15)[first]
    first.close()
    second = consumer("billing")
    after = drain(second, expected=30 - len(before))[second]
    assert places(before + after) == every(10)
    assert log.committed("billing") != {}


def test_a_program_that_keeps_its_offsets_itself_continues_too(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    produce(log, 10)
    first = consumer(max_poll_records=7)
    before = first.poll() + first.poll()
    mine = {place: first.position(place) for place in first.assignment}
    first.close()
    second = consumer()
    for place, offset in mine.items():
        second.seek(place, offset)
    after = drain(second, expected=30 - len(before))[second]
    assert places(before + after) == every(10)
    assert log.groups() == ()


def test_what_was_processed_but_not_committed_comes_again(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    produce(log, 10)
    first = consumer("billing", auto_commit=None)
    drain(first, expected=30)
    first.commit(dict.fromkeys(ALL, 4))
    first.close(commit=False)
    second = consumer("billing")
    assert places(drain(second, expected=18)[second]) == [p for p in every(10) if p[1] >= 4]


def test_a_consumer_that_was_cut_off_catches_up(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    produce(log, 10)
    first = consumer("billing")
    drain(first, expected=30)
    first.close()
    produce(log, 20)
    again = consumer("billing")
    assert places(drain(again, expected=60)[again]) == [p for p in every(30) if p[1] >= 10]


def test_a_slow_consumer_falls_behind_without_holding_up_its_producer(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    slow = consumer("billing", max_poll_records=5)
    produce(log, 5)
    seen = len(slow.poll())
    lags = []
    for _ in range(5):
        produce(log, 20)
        seen += len(slow.poll())
        lags.append(sum(slow.lag().values()))
    assert lags == sorted(lags)
    assert lags[-1] == 315 - seen
    drain(slow, expected=315 - seen)
    assert sum(slow.lag().values()) == 0


def test_more_consumers_finish_sooner(log: Log, consumer: Callable[..., Consumer]) -> None:
    produce(log, 20)
    alone = consumer("one")
    trio = [consumer("three") for _ in range(3)]
    while [len(alone.assignment), *(len(one.assignment) for one in trio)] != [3, 1, 1, 1]:
        for one in (alone, *trio):
            one.poll(0.01)
    for one in (alone, *trio):
        one.seek_to_beginning()
    assert _rounds_to_work_off([alone], records=60) == 60
    assert _rounds_to_work_off(trio, records=60) == 20


def _rounds_to_work_off(consumers: list[Consumer], records: int) -> int:
    """Count rounds in which each consumer does one record, all of them at the same time."""
    rounds: list[None] = []
    # It lets nobody through before all are there with a record each.
    meeting = threading.Barrier(len(consumers), action=lambda: rounds.append(None), timeout=30)

    def work(one: Consumer) -> int:
        return sum(meeting.wait() >= 0 for _ in one.records(max_records=records // len(consumers)))

    with ThreadPoolExecutor(len(consumers)) as threads:
        assert sum(threads.map(work, consumers)) == records
    return len(rounds)


def test_a_member_that_lost_its_seat_cannot_commit(log: Log, clock: ManualClock) -> None:
    well, stuck = log.join("billing", ["orders"]), log.join("billing", ["orders"])
    balance(log, well, stuck)
    place = next(iter(stuck.owned))
    for _ in range(15):
        clock.advance(1_000)
        well.heartbeat()
    balance(log, well)
    assert well.owned == ALL
    well.commit({place: 7})
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        stuck.commit({place: 3})
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        stuck.heartbeat()
    assert log.committed("billing") == {place: 7}
    well.leave()
    stuck.leave()


def test_a_waiting_member_is_woken_by_a_change_of_the_group(log: Log, open_again: OpenLog) -> None:
    first = log.join("billing", ["orders"])
    balance(log, first)
    first.wait(0)
    joined: list[Membership] = []
    later = threading.Timer(0.05, lambda: joined.append(open_again().join("billing", ["orders"])))
    later.start()
    begun = time.monotonic()
    assert first.wait(30)
    assert time.monotonic() - begun < 20
    later.join()
    change = first.heartbeat()
    assert change is not None
    assert change.revoked
    joined[0].leave()
    first.leave()


def test_an_operator_sets_offsets_only_while_nobody_reads(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    produce(log, 10)
    reading = consumer("billing")
    drain(reading, expected=30)
    with pytest.raises(GroupError, match="GROUP_ACTIVE"):
        log.commit("billing", {P0: 0})
    reading.close()
    log.commit("billing", {P0: 0})
    again = consumer("billing")
    assert places(drain(again, expected=10)[again]) == [(0, offset) for offset in range(10)]


def test_offsets_of_a_transaction_outlive_the_transactions_after_it(
    log: Log, open_again: OpenLog
) -> None:
    transaction = log.transaction("copy")
    transaction.begin()
    transaction.commit_offsets("billing", {P0: 5})
    transaction.commit()
    transaction.begin()
    transaction.append("orders", 0, rows_of_bytes([b"x"]))
    transaction.commit()
    transaction.close()
    open_again().transaction("copy").close()
    assert open_again().committed("billing") == {P0: 5}


def test_offsets_of_a_transaction_whose_holder_vanished_are_dropped(
    log: Log, open_again: OpenLog
) -> None:
    log.commit("billing", {P0: 2})
    transaction = log.transaction("copy")
    transaction.begin()
    transaction.commit_offsets("billing", {P0: 5})
    open_again().transaction("copy").close()
    assert log.committed("billing") == {P0: 2}


def test_a_topic_made_anew_is_read_from_its_beginning(
    log: Log, consumer: Callable[..., Consumer]
) -> None:
    produce(log, 10)
    reading = consumer("billing")
    drain(reading, expected=30)
    reading.close()
    log.delete_topic("orders")
    log.create_topic("orders", partitions=3)
    produce(log, 5)
    assert log.committed("billing") == {}
    again = consumer("billing")
    assert places(drain(again, expected=15)[again]) == every(5)
