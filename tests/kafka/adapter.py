"""Writers and reader of a load on our own log: its producer, its transactions, its reads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from queue import Empty, SimpleQueue
from typing import NamedTuple

import pyarrow as pa

from penstock.errors import LogError
from penstock.log.kafka.log import KafkaLog
from penstock.log.kafka.properties import kafka_place
from penstock.log.port import ReadLimit
from penstock.log.record import TopicPartition
from tests.kafka.load import Acknowledged, Seen

PASSING = {"KAFKA_TIMEOUT", "KAFKA_UNREACHABLE", "TRANSACTION_UNDECIDED"}
"""What is said while brokers are away."""
_BATCH = 900
_GIVEN_UP = 7
"""Each so-manieth batch is written, given up and written again: a reader is to see it once."""
_MOST_WAITING = 20_000


class _Given(NamedTuple):
    value: bytes
    sent_at: float
    acknowledged: Acknowledged


class AdapterWriter:
    """Appends of the log, by a thread for each partition, which share its producer."""

    def __init__(self, address: str, topic: str) -> None:
        self._log = _opened(address)
        self._topic = topic
        self._lanes: dict[int, SimpleQueue[_Given | None]] = {}
        self._threads: list[threading.Thread] = []

    def write(self, partition: int, value: bytes, acknowledged: Acknowledged) -> None:
        lane = self._lanes.get(partition)
        if lane is None:
            lane = self._lanes[partition] = SimpleQueue()
            thread = threading.Thread(target=self._append, args=(partition, lane), daemon=True)
            self._threads.append(thread)
            thread.start()
        while lane.qsize() > _MOST_WAITING:
            time.sleep(0.01)
        lane.put(_Given(value, time.monotonic(), acknowledged))

    def flush(self, seconds: float) -> int:
        until = time.monotonic() + seconds
        for lane in self._lanes.values():
            lane.put(None)
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        left = sum(lane.qsize() for lane in self._lanes.values())
        if not any(thread.is_alive() for thread in self._threads):
            self._log.close()
        return left

    def _append(self, partition: int, lane: SimpleQueue[_Given | None]) -> None:
        while (first := lane.get()) is not None:
            batch, ended = _more(lane, first)
            error = None
            try:
                self._log.append(self._topic, partition, _rows(batch))
            except LogError as refusal:
                error = f"{refusal.code}: {refusal}"
            for given in batch:
                given.acknowledged(partition, given.sent_at, error)
            if ended:
                return


class AdapterTransactions:
    """Batches of the log's transactions, each with its number as a note."""

    def __init__(self, address: str, topic: str) -> None:
        self._log = _opened(address)
        self._topic = topic
        self._batch: dict[int, list[_Given]] = {}
        self._held = self._count = 0

    def write(self, partition: int, value: bytes, acknowledged: Acknowledged) -> None:
        given = _Given(value, time.monotonic(), acknowledged)
        self._batch.setdefault(partition, []).append(given)
        self._held += 1
        if self._held == _BATCH:
            self._write_batch()

    def flush(self, seconds: float) -> int:
        until = time.monotonic() + seconds
        if self._held:
            self._write_batch()
        self._log.close()
        return int(time.monotonic() > until)

    def _write_batch(self) -> None:
        self._count += 1
        give_up = self._count % _GIVEN_UP == 0
        while not self._stands(give_up=give_up):
            give_up = False
        for partition, several in self._batch.items():
            for given in several:
                given.acknowledged(partition, given.sent_at, None)
        self._batch, self._held = {}, 0

    def _stands(self, *, give_up: bool) -> bool:
        """Write the batch as a job does: unless its number is noted; give whether it is there."""
        try:
            transaction = self._log.transaction(f"{self._topic}-writer")
            try:
                if transaction.note and int(transaction.note) >= self._count:
                    return True
                transaction.begin()
                transaction.append_all(
                    (self._topic, partition, _rows(several))
                    for partition, several in self._batch.items()
                )
                if give_up:
                    transaction.abort()
                else:
                    transaction.commit(str(self._count))
            finally:
                transaction.close()
        except LogError as refusal:
            if refusal.code not in PASSING:
                raise
            return False
        return not give_up


class AdapterReader:
    """Reads of the log, of one partition after the other."""

    def __init__(self, address: str, topic: str, partitions: int) -> None:
        self._log = _opened(address)
        self._topic = topic
        self._next = {TopicPartition(topic, number): 0 for number in range(partitions)}

    def read(self, seconds: float) -> Iterable[Seen]:
        try:
            if not self._log.wait(self._next, seconds):
                return
        except LogError as refusal:
            if refusal.code not in PASSING:
                raise
        for place in self._next:
            yield from self._read(place)

    def close(self) -> None:
        self._log.close()

    def _read(self, place: TopicPartition) -> Iterable[Seen]:
        try:
            chunk = self._log.read(*place, self._next[place], ReadLimit())
        except LogError as refusal:
            # A broker that is away is an error that passes.
            if refusal.code not in PASSING:
                raise
            return
        self._next[place] = chunk.next_offset
        for value in chunk.rows.column("value").to_pylist():
            yield Seen(place.partition, value)


def _opened(address: str) -> KafkaLog:
    return KafkaLog(kafka_place(f"kafka://{address}", {}))


def _more(lane: SimpleQueue[_Given | None], first: _Given) -> tuple[list[_Given], bool]:
    """Give what waits in a lane, and whether nothing will follow."""
    batch = [first]
    while len(batch) < _BATCH:
        try:
            given = lane.get_nowait()
        except Empty:
            break
        if given is None:
            return batch, True
        batch.append(given)
    return batch, False


def _rows(batch: Iterable[_Given]) -> pa.Table:
    return pa.table({"value": pa.array([given.value for given in batch], pa.binary())})
