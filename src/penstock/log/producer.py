"""Sending records: gathered for a moment, partitioned by column, appended once each."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pyarrow as pa

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import PenstockError, RecordError, StorageError, UsageError
from penstock.log.buffer import TopicBuffer, check_value
from penstock.log.delivery import BatchDelivery, BatchFuture, BatchReceipt, failed_delivery
from penstock.log.overflow import Overflow
from penstock.log.partitioner import DefaultPartitioner, Partitioner
from penstock.log.port import Appended, Log, WriterStamp
from penstock.log.pressure import LagGauge, Pressure
from penstock.log.record import KEY_COLUMN, Headers, TopicPartition, Value
from penstock.log.rows import integer_array, record_sizes

_ASK_AGAIN = 0.02
_RETRIES = 2
_NOT_WORTH_A_RETRY = {"DISK_FULL", "ACCESS_DENIED"}


@dataclass(slots=True)
class ProducerStats:
    """What a producer did so far."""

    sent: int = 0
    acknowledged: int = 0
    failed: int = 0
    dropped: int = 0
    spilled: int = 0
    drained: int = 0
    blocked_seconds: float = 0.0


class Producer:
    """Sends records to a log; safe to use from several threads.

    Records of one partition keep the order of `send`. A record is safe when its
    delivery says so, or when `flush` or `close` has returned.
    """

    def __init__(
        self,
        log: Log,
        *,
        linger: timedelta = timedelta(milliseconds=5),
        batch_bytes: int = 1024 * 1024,
        partitioner: Partitioner | None = None,
        pressure: Pressure | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.stats = ProducerStats()
        self._log = log
        self._linger = linger.total_seconds()
        self._batch_bytes = batch_bytes
        self._partitioner = partitioner or DefaultPartitioner()
        self._pressure = pressure or Pressure()
        self._gauge = LagGauge(log, self._pressure)
        self._overflow = Overflow(log, self._gauge, self.stats)
        self._now: Callable[[], int] = clock.now
        self._buffers: dict[str, TopicBuffer] = {}
        self._waiting_bytes = 0
        self._in_flight = 0
        self._failures: list[BatchFuture] = []
        self._flushing = 0
        self._writer_id = _new_writer_id()
        self._sequences: dict[TopicPartition, int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def send(
        self,
        topic: str,
        value: Value,
        *,
        key: bytes | None = None,
        timestamp: int | None = None,
        headers: Headers = (),
        partition: int | None = None,
    ) -> BatchDelivery:
        """Take a record to be sent; the delivery tells when and where it went."""
        with self._changed:
            buffer = self._buffer(topic)
            size = check_value(buffer.topic, value) + (0 if key is None else len(key))
            if self._waiting_bytes + size > self._pressure.buffer_bytes:
                if not self._have_room(size):
                    return self._drop(topic)
                buffer = self._buffer(topic)
            buffer.values.append(value)
            buffer.keys.append(key)
            buffer.timestamps.append(self._now() if timestamp is None else timestamp)
            buffer.headers.append(headers)
            buffer.partitions.append(-1 if partition is None else partition)
            if key is not None:
                buffer.has_keys = True
            if headers:
                buffer.has_headers = True
            if partition is not None:
                buffer.has_partitions = True
            was_empty = buffer.size == 0
            buffer.size += size
            self._waiting_bytes += size
            self.stats.sent += 1
            delivery = BatchDelivery(buffer.future, len(buffer.values) - 1)
            if was_empty or buffer.size >= self._batch_bytes > buffer.size - size:
                self._changed.notify_all()
            return delivery

    def send_rows(self, topic: str, rows: pa.Table) -> list[Appended]:
        """Append a whole table at once, after everything sent before; give where parts landed."""
        self.flush()
        with self._changed:
            described = self._log.topic(topic)
            chosen = self._choose(described.name, rows, described.partitions)
        done = []
        for number in np.unique(chosen):
            part = (
                rows
                if len(rows) == (chosen == number).sum()
                else rows.take(integer_array(np.flatnonzero(chosen == number)))
            )
            done.append(self._append(TopicPartition(topic, int(number)), part))
        return done

    def flush(self) -> None:
        """Return when everything sent so far has its fate.

        Raises the first failure since the last flush that no delivery was asked about.
        """
        with self._changed:
            self._flushing += 1
            self._changed.notify_all()
            try:
                while self._in_flight or any(len(item) for item in self._buffers.values()):
                    self._changed.wait()
            finally:
                self._flushing -= 1
            failures, self._failures = self._failures, []
        for failed in failures:
            if not failed.seen:
                failed.result()

    def close(self) -> None:
        """Flush and let go; closing twice is harmless."""
        if self._closed:
            return
        try:
            self.flush()
        finally:
            with self._changed:
                self._closed = True
                self._changed.notify_all()
            if self._thread is not None:
                self._thread.join()

    def __enter__(self) -> Producer:
        """Use the producer for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _buffer(self, topic: str) -> TopicBuffer:
        known = self._buffers.get(topic)
        if known is not None and not self._closed:
            return known
        if self._closed:
            raise UsageError(
                "PRODUCER_CLOSED",
                "the producer is closed",
                hint="Open a new one, or send inside its with block.",
            )
        buffer = self._buffers[topic] = TopicBuffer(self._log.topic(topic))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="penstock-producer", daemon=True)
            self._thread.start()
        return buffer

    def _have_room(self, size: int) -> bool:
        """Wait for room under `block` and `spill`; say no under `drop`."""
        if self._pressure.policy == "drop":
            return False
        began = time.monotonic()
        limit = self._pressure.timeout
        while self._waiting_bytes and self._waiting_bytes + size > self._pressure.buffer_bytes:
            left = None if limit is None else limit.total_seconds() + began - time.monotonic()
            if left is not None and left <= 0:
                self.stats.blocked_seconds += time.monotonic() - began
                raise RecordError(
                    "BUFFER_FULL",
                    f"{self._waiting_bytes} bytes wait to be appended for {limit} already",
                    hint="Send more slowly, enlarge buffer_bytes, or use the policy drop or spill.",
                )
            self._changed.wait(left)
        self.stats.blocked_seconds += time.monotonic() - began
        return True

    def _drop(self, topic: str) -> BatchDelivery:
        self.stats.dropped += 1
        return failed_delivery(
            RecordError(
                "RECORD_DROPPED",
                f'a record for topic "{topic}" was dropped: the buffer is full',
                hint="Send more slowly, or use the policy block or spill to lose nothing.",
            )
        )

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closed and not any(map(len, self._buffers.values())):
                    self._changed.wait()
                if self._closed and not any(map(len, self._buffers.values())):
                    return
                self._linger_a_while()
                taken = [self._take(name) for name in list(self._buffers)]
            for buffer in taken:
                if buffer is not None:
                    self._deliver(buffer)

    def _linger_a_while(self) -> None:
        deadline = time.monotonic() + self._linger
        while not self._flushing and not self._closed:
            left = deadline - time.monotonic()
            if left <= 0 or any(item.size >= self._batch_bytes for item in self._buffers.values()):
                return
            self._changed.wait(left)

    def _take(self, name: str) -> TopicBuffer | None:
        buffer = self._buffers[name]
        if not len(buffer):
            return None
        self._buffers[name] = TopicBuffer(buffer.topic)
        self._in_flight += 1
        return buffer

    def _deliver(self, buffer: TopicBuffer) -> None:
        try:
            receipt = self._append_buffer(buffer)
        except Exception as error:  # noqa: BLE001 - the fate of the batch, whatever it is
            self.stats.failed += len(buffer)
            self._failures.append(buffer.future)
            buffer.future.set_exception(error)
        else:
            self.stats.acknowledged += len(buffer)
            buffer.future.set_result(receipt)
        finally:
            with self._changed:
                self._in_flight -= 1
                self._waiting_bytes -= buffer.size
                self._changed.notify_all()

    def _append_buffer(self, buffer: TopicBuffer) -> BatchReceipt:
        topic, rows = buffer.topic.name, buffer.rows()
        chosen = self._choose(topic, rows, buffer.topic.partitions)
        if buffer.has_partitions:
            given = np.asarray(buffer.partitions, np.int32)
            chosen = np.where(given < 0, chosen, given)
        target = self._destination(topic)
        offsets = np.empty(len(buffer), np.int64)
        if target != topic:
            self.stats.spilled += len(buffer)
        for number in np.unique(chosen):
            members = np.flatnonzero(chosen == number)
            part = rows if len(members) == len(buffer) else rows.take(integer_array(members))
            done = self._append(TopicPartition(target, int(number)), part)
            offsets[members] = np.arange(done.base_offset, done.base_offset + len(members))
        self._gauge.appended(target, len(buffer))
        return BatchReceipt(target, chosen, offsets, np.asarray(buffer.timestamps, np.int64))

    def _destination(self, topic: str) -> str:
        """The topic itself, or its overflow while the group behind it is too far behind."""
        if self._pressure.policy == "spill":
            return self._overflow.destination(topic)
        while self._gauge.too_far_behind(topic) and not self._closed:
            time.sleep(_ASK_AGAIN)
        return topic

    def _choose(
        self, topic: str, rows: pa.Table, partitions: int
    ) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        if partitions == 1:
            return np.zeros(rows.num_rows, np.int32)
        keys = None
        if KEY_COLUMN in rows.column_names:
            keys = rows.column(KEY_COLUMN).combine_chunks()
        return self._partitioner.partition(topic, keys, record_sizes(rows), partitions)

    def _append(self, target: TopicPartition, rows: pa.Table) -> Appended:
        sequence = self._sequences.get(target, 0)
        stamp = WriterStamp(self._writer_id, 0, sequence)
        try:
            done = self._append_stubbornly(target, rows, stamp)
        except PenstockError:
            self._become_another_writer()
            raise
        self._sequences[target] = sequence + rows.num_rows
        return done

    def _append_stubbornly(
        self, target: TopicPartition, rows: pa.Table, stamp: WriterStamp
    ) -> Appended:
        """Try again where the disk may have changed its mind; the stamp keeps it to one append."""
        for _ in range(_RETRIES):
            try:
                return self._log.append(*target, rows, stamp=stamp)
            except StorageError as error:
                if error.code in _NOT_WORTH_A_RETRY:
                    raise
        return self._log.append(*target, rows, stamp=stamp)

    def _become_another_writer(self) -> None:
        # Whether the failed append landed is not known: its sequence numbers must never be
        # given to other records, which would then be taken for a repeat of it.
        self._writer_id = _new_writer_id()
        self._sequences.clear()


def _new_writer_id() -> int:
    return secrets.randbits(63)
