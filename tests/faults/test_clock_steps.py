from __future__ import annotations

import random
from datetime import timedelta

import pytest

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.port import ReadLimit, WriterStamp
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.testing.faults import ManualClock

HOUR = 3_600_000
TOPIC = "steps"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(100 * HOUR)


@pytest.fixture
def log(clock: ManualClock) -> EmbeddedLog:
    return EmbeddedLog(MemoryStorage(), clock)


def values(log: EmbeddedLog) -> list[bytes]:
    start = log.bounds(TOPIC, 0).start
    found: list[bytes] = log.read(TOPIC, 0, start, ReadLimit()).rows["value"].to_pylist()
    return found


def test_offsets_and_order_do_not_depend_on_the_clock(log: EmbeddedLog, clock: ManualClock) -> None:
    log.create_topic(TOPIC, config=TopicConfig(segment_bytes=1000))
    for number in range(20):
        done = log.append(TOPIC, 0, rows_of_bytes([b"%d" % number]))
        assert done.base_offset == number
        clock.advance(-HOUR)
    assert values(log) == [b"%d" % number for number in range(20)]


def test_a_time_is_found_although_the_clock_went_back(log: EmbeddedLog, clock: ManualClock) -> None:
    config = TopicConfig(segment_bytes=2000, index_interval_bytes=400)
    log.create_topic(TOPIC, config=config)
    dice, times = random.Random(1), []
    for _ in range(60):
        clock.advance(dice.randint(-5, 6) * 1000)
        times.append(clock.now())
        log.append(TOPIC, 0, rows_of_bytes([b"x"]))
    for asked in range(min(times) - 1000, max(times) + 2000, 500):
        first = next((offset for offset, time in enumerate(times) if time >= asked), None)
        assert log.offset_at_time(TOPIC, 0, asked) == first


def test_a_repeat_is_recognised_although_the_clock_went_back(
    log: EmbeddedLog, clock: ManualClock
) -> None:
    log.create_topic(TOPIC)
    log.append(TOPIC, 0, rows_of_bytes([b"a"]), stamp=WriterStamp(1, 0, 0))
    clock.advance(-1000 * HOUR)
    assert log.append(TOPIC, 0, rows_of_bytes([b"a"]), stamp=WriterStamp(1, 0, 0)).duplicate
    log.append(TOPIC, 0, rows_of_bytes([b"b"]), stamp=WriterStamp(1, 0, 1))
    assert values(log) == [b"a", b"b"]


def test_retention_takes_nothing_that_is_young_when_the_clock_goes_back(
    log: EmbeddedLog, clock: ManualClock
) -> None:
    config = TopicConfig(retention=timedelta(hours=2), segment_bytes=200)
    log.create_topic(TOPIC, config=config)
    for number in range(4):
        log.append(TOPIC, 0, rows_of_bytes([b"%d" % number]))
    clock.advance(-10 * HOUR)
    log.append(TOPIC, 0, rows_of_bytes([b"4"]))
    log.clean(TOPIC)
    assert values(log) == [b"0", b"1", b"2", b"3", b"4"]
    clock.advance(10 * HOUR)
    log.clean(TOPIC)
    assert values(log)[:4] == [b"0", b"1", b"2", b"3"]
    clock.advance(3 * HOUR)
    log.append(TOPIC, 0, rows_of_bytes([b"5"]))
    log.clean(TOPIC)
    assert values(log) == [b"5"]


def test_a_segment_grown_old_is_sealed_whichever_way_the_clock_went(
    log: EmbeddedLog, clock: ManualClock
) -> None:
    log.create_topic(TOPIC, config=TopicConfig(segment_age=timedelta(hours=1)))
    log.append(TOPIC, 0, rows_of_bytes([b"a"]))
    clock.advance(-5 * HOUR)
    log.append(TOPIC, 0, rows_of_bytes([b"b"]))
    clock.advance(7 * HOUR)
    log.append(TOPIC, 0, rows_of_bytes([b"c"]))
    assert values(log) == [b"a", b"b", b"c"]
    assert len(log.segments(TOPIC, 0)) == 2


def test_a_transaction_outlives_a_step_of_the_clock(log: EmbeddedLog, clock: ManualClock) -> None:
    log.create_topic(TOPIC)
    with log.transaction("id") as transaction:
        transaction.begin()
        transaction.append(TOPIC, 0, rows_of_bytes([b"a"]))
        clock.advance(-50 * HOUR)
        transaction.append(TOPIC, 0, rows_of_bytes([b"b"]))
        assert values(log) == []
        transaction.commit("done")
    assert values(log) == [b"a", b"b"]


@pytest.mark.parametrize("step", [-50 * HOUR, 50 * HOUR])
def test_a_step_of_the_clock_expels_no_member(
    log: EmbeddedLog, clock: ManualClock, step: int
) -> None:
    log.create_topic(TOPIC, partitions=2)
    members = [log.join("group", [TOPIC]) for _ in range(2)]
    for _ in range(4):
        for member in members:
            rebalance = member.heartbeat()
            if rebalance is not None:
                member.release(rebalance.revoked)
    owned = [member.owned for member in members]
    clock.advance(step)
    for member in members:
        assert member.heartbeat() is None
        member.commit(dict.fromkeys(member.owned, 0))
    assert [member.owned for member in members] == owned
    assert frozenset().union(*owned) == {TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)}
