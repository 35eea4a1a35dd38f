from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from datetime import timedelta

import pytest

from penstock.errors import GroupError
from penstock.log.attendance import Attendance
from penstock.log.port import Rebalance
from penstock.log.record import TopicPartition

LONG = timedelta(minutes=5)


class CountedSeat:
    """A seat that counts heartbeats and whose news a test announces."""

    def __init__(self) -> None:
        self.announced = threading.Event()
        self.waits = threading.Semaphore(0)
        self.beats = threading.Semaphore(0)
        self.has_left = False
        self.is_lost = False
        self.member_id = "m"
        self.generation = 1
        self.owned: frozenset[TopicPartition] = frozenset()

    def heartbeat(self) -> Rebalance | None:
        if self.is_lost:
            raise GroupError("GROUP_FENCED", "lost")
        self.beats.release()
        return None

    def wait(self, timeout: float) -> bool:
        self.waits.release()
        woken = self.announced.wait(timeout)
        self.announced.clear()
        return woken

    def release(self, partitions: Iterable[TopicPartition]) -> None: ...

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None: ...

    def leave(self) -> None:
        self.has_left = True
        self.announced.set()


def test_a_busy_consumer_is_beaten_for() -> None:
    seat = CountedSeat()
    attendance = Attendance(lambda: seat, LONG)
    for _ in range(3):
        seat.announced.set()
        assert seat.beats.acquire(timeout=10)
    attendance.leave()
    assert seat.has_left


def test_a_consumer_that_never_comes_is_beaten_for_no_longer() -> None:
    seat = CountedSeat()
    attendance = Attendance(lambda: seat, timedelta(0))
    for _ in range(3):
        assert seat.waits.acquire(timeout=10)
        seat.announced.set()
    assert not seat.beats.acquire(timeout=0)
    attendance.attend()
    assert seat.beats.acquire(timeout=0)
    attendance.leave()


def test_the_consumer_is_called_every_round_and_at_once_when_there_is_news() -> None:
    seat = CountedSeat()
    attendance = Attendance(lambda: seat, LONG)
    assert attendance.news.is_set()
    for _ in range(2):
        attendance.attend()
        seat.announced.set()
        assert attendance.news.wait(10)
    attendance.leave()


def test_a_lost_seat_is_met_by_the_consumer_and_replaced() -> None:
    seats = [CountedSeat(), CountedSeat()]
    order = iter(seats)
    attendance = Attendance(lambda: next(order), LONG)
    seats[0].is_lost = True
    seats[0].announced.set()
    with pytest.raises(GroupError, match="GROUP_FENCED"):
        attendance.attend()
    attendance.rejoin()
    assert seats[0].has_left
    assert attendance.news.is_set()
    attendance.attend()
    assert seats[1].beats.acquire(timeout=10)
    attendance.leave()
    assert seats[1].has_left
