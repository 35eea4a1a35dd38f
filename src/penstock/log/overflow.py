"""Records put aside while a consumer group is too far behind, and brought back in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from penstock.errors import TopicError
from penstock.log.port import Log, ReadLimit
from penstock.log.pressure import LagGauge
from penstock.log.record import OFFSET_COLUMN, TopicPartition

SUFFIX = ".overflow"
_STEP = 1000


def put_aside(log: Log, topic: str) -> tuple[int, int]:
    """Give how many records of a topic are aside, and how many have followed since."""
    overflow = topic + SUFFIX
    if overflow not in log.topics():
        return 0, 0
    committed = log.committed(_drain_group(overflow))
    waiting = followed = 0
    for place, (start, end) in log.snapshot([overflow]).items():
        position = max(committed.get(place, start), start)
        waiting += end - position
        followed += position
    return waiting, followed


def _drain_group(overflow: str) -> str:
    return f"{overflow}-drain"


class _Counts(Protocol):
    spilled: int
    drained: int


class Overflow:
    """An overflow topic beside each topic; what is in it goes first once there is room.

    What is still aside when a producer closes waits there for the next one.
    """

    def __init__(self, log: Log, gauge: LagGauge, counts: _Counts) -> None:
        self._log = log
        self._gauge = gauge
        self._counts = counts

    def destination(self, topic: str) -> str:
        """Drain what was put aside as far as there is room; then say where new records go."""
        overflow = topic + SUFFIX
        while not self._gauge.too_far_behind(topic):
            if not self._drain_some(topic, overflow):
                return topic
        self._make(topic, overflow)
        return overflow

    def _make(self, topic: str, overflow: str) -> None:
        if overflow not in self._log.topics():
            described = self._log.topic(topic)
            config = replace(described.config, cleanup="delete", retention=None)
            try:
                self._log.create_topic(
                    overflow,
                    partitions=described.partitions,
                    schema=described.schema,
                    config=config,
                )
            except TopicError as error:
                if error.code != "TOPIC_EXISTS":
                    raise

    def _drain_some(self, topic: str, overflow: str) -> bool:
        """Move some records back, exactly once; False where none are left."""
        if overflow not in self._log.topics():
            return False
        group = _drain_group(overflow)
        committed = self._log.committed(group)
        for number in range(self._log.topic(overflow).partitions):
            place = TopicPartition(overflow, number)
            bounds = self._log.bounds(*place)
            position = committed.get(place, bounds.start)
            if position < bounds.end:
                self._move(topic, place, position, group)
                return True
        return False

    def _move(self, topic: str, place: TopicPartition, position: int, group: str) -> None:
        chunk = self._log.read(*place, position, ReadLimit(records=_STEP))
        transaction = self._log.transaction(group)
        try:
            transaction.begin()
            if chunk.rows.num_rows:
                rows = chunk.rows.drop_columns([OFFSET_COLUMN])
                transaction.append(topic, place.partition, rows)
            transaction.commit_offsets(group, {place: chunk.next_offset})
            transaction.commit()
        finally:
            transaction.close()
        self._gauge.appended(topic, chunk.rows.num_rows)
        self._counts.drained += chunk.rows.num_rows
