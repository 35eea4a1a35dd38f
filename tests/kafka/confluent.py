"""Writer and reader of a load on `confluent-kafka` itself."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from tests.kafka.load import Acknowledged, Seen

# A broker that stands still keeps its connections open: only a timeout tells that it does.
QUICK: dict[str, Any] = {
    "log_level": 0,
    "socket.timeout.ms": 5000,
    "reconnect.backoff.max.ms": 500,
    "topic.metadata.refresh.interval.ms": 1000,
}


class ConfluentWriter:
    """An idempotent producer."""

    def __init__(self, address: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                **QUICK,
                "bootstrap.servers": address,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "request.timeout.ms": 4000,
                "message.timeout.ms": 120_000,
            }
        )

    def write(self, partition: int, value: bytes, acknowledged: Acknowledged) -> None:
        done = partial(_done, partition, time.monotonic(), acknowledged)
        while True:
            try:
                self._producer.produce(self._topic, value, partition=partition, on_delivery=done)
                break
            except BufferError:
                self._producer.poll(0.1)
        self._producer.poll(0)

    def flush(self, seconds: float) -> int:
        left: int = self._producer.flush(seconds)
        return left


class ConfluentReader:
    """A consumer of what is committed, which belongs to no group."""

    def __init__(self, address: str, topic: str, partitions: int) -> None:
        self._consumer = Consumer(
            {
                **QUICK,
                "bootstrap.servers": address,
                "group.id": f"{topic}-reader",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 100,
            }
        )
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])

    def read(self, seconds: float) -> Iterable[Seen]:
        for record in self._consumer.consume(2000, seconds):
            # A broker that is away is an error that passes.
            if record.error() is None:
                value = record.value()
                assert isinstance(value, bytes)
                yield Seen(record.partition() or 0, value)

    def close(self) -> None:
        self._consumer.close()


def _done(
    partition: int,
    sent_at: float,
    acknowledged: Acknowledged,
    error: object,
    _: Message,
) -> None:
    acknowledged(partition, sent_at, None if error is None else str(error))
