"""Sending rows: an idempotent producer, and what became of each record."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import TypeAlias

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from penstock.errors import LogError
from penstock.log.kafka.clients import Clients
from penstock.log.kafka.settings import BATCH_BYTES
from penstock.log.port import Appended
from penstock.log.record import Headers, TopicPartition

Sendable: TypeAlias = Iterable[tuple[bytes | None, bytes | None, int, Headers | None]]
"""Value, key, time and headers of records."""

DELIVERY = 60.0
"""After how many seconds a record that no broker acknowledged is given up."""

SETTINGS = {
    "acks": "all",
    "enable.idempotence": "true",
    "batch.size": str(BATCH_BYTES),
    # A flush does not linger; records of a large append are sent in full batches.
    "linger.ms": "5",
    "message.timeout.ms": str(int(1000 * DELIVERY)),
    "message.max.bytes": str(96 * 1024 * 1024),
    "queue.buffering.max.messages": "500000",
    "queue.buffering.max.kbytes": "262144",
}
_SLICE = 0.5
_MARGIN = 5.0


class Sent:
    """What became of the records of one append; told by callbacks, which any thread may run."""

    __slots__ = ("count", "error", "offsets")

    def __init__(self) -> None:
        self.count = 0
        self.offsets: list[int] = []
        self.error: KafkaError | None = None

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        """Take note of one record."""
        if error is not None:
            self.error = self.error or error
        self.offsets.append(message.offset() or 0)

    @property
    def left(self) -> int:
        """How many records nothing is known of."""
        return self.count - len(self.offsets)

    @property
    def appended(self) -> Appended:
        """Where the records landed."""
        return Appended(min(self.offsets), max(self.offsets))


def send(producer: Producer, place: TopicPartition, records: Sendable) -> Sent:
    """Hand records to a producer; a full queue is waited for."""
    topic, partition = place
    sent = Sent()
    produce = producer.produce
    for value, key, at, headers in records:
        while True:
            try:
                if headers is None:
                    produce(topic, value, key, partition, sent, None, at)
                else:
                    produce(topic, value, key, partition, sent, None, at, list(headers))
                break
            except BufferError:
                producer.poll(_SLICE)
        sent.count += 1
    return sent


def settle(producer: Producer, sent: Sent) -> None:
    """Return when all records were acknowledged, or one of them failed for good."""
    deadline = time.monotonic() + DELIVERY + _MARGIN
    while sent.left > 0 and time.monotonic() < deadline:
        producer.flush(_SLICE)
    if sent.left > 0 and sent.error is None:
        sent.error = KafkaError(KafkaError._MSG_TIMED_OUT)  # noqa: SLF001  # librdkafka's own


class Writer:
    """Appends rows outside of transactions; threads may share it."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._guard = threading.Lock()
        self._producer: Producer | None = None

    def append(self, place: TopicPartition, records: Sendable) -> Appended:
        """Send records in order; when it returns all replicas in sync have them."""
        doing = f'appending to partition "{place}"'
        producer = self._open()
        with self._clients.errors(doing):
            sent = send(producer, place, records)
            settle(producer, sent)
        if sent.error is not None:
            # What it holds back would come later, or twice: a new one begins anew.
            self._drop(producer)
            if sent.error.code() in _UNKNOWN:
                raise delivery_unknown(doing, sent.error)
            with self._clients.errors(doing):
                raise KafkaException(sent.error)
        return sent.appended

    def close(self) -> None:
        """Let go of the producer."""
        with self._guard:
            producer, self._producer = self._producer, None
        if producer is not None:
            producer.flush(_SLICE)

    def _open(self) -> Producer:
        with self._guard:
            if self._producer is None:
                with self._clients.errors("opening a producer"):
                    self._producer = self._clients.producer(SETTINGS)
            return self._producer

    def _drop(self, producer: Producer) -> None:
        with self._guard:
            if self._producer is producer:
                self._producer = None
        producer.purge(blocking=False)
        producer.poll(0)


_UNKNOWN = {
    KafkaError._MSG_TIMED_OUT,  # noqa: SLF001  # librdkafka's own
    KafkaError._TIMED_OUT,  # noqa: SLF001
    # The producer was dropped since an append of another thread failed.
    KafkaError._PURGE_INFLIGHT,  # noqa: SLF001
    KafkaError._PURGE_QUEUE,  # noqa: SLF001
}


def delivery_unknown(doing: str, error: KafkaError) -> LogError:
    """The error for records that may have arrived, or not."""
    return LogError(
        "DELIVERY_UNKNOWN",
        f"{doing} was not acknowledged within {DELIVERY:.0f} s: {error.str()}",
        hint="Some of the records may be there: look at the end of the partition before you send"
        " them again, or send them in a transaction.",
    )
