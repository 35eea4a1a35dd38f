"""A writer of a load in transactions, some of which are given up on purpose.

A commit whose answer got lost may stand or not, and asking again may be a fatal error: then the
producer is made anew, which decides what was open, and the offset of a group, sent with each batch,
tells whether the batch stands.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.kafka.confluent import QUICK
from tests.kafka.load import Acknowledged

_BATCH = 300
_SECONDS = 10
_GIVEN_UP = 7
"""Each so-manieth batch is written, given up and written again: a reader is to see it once."""


class TransactionalWriter:
    """Writes batch by batch; a batch that fails is given up and written anew."""

    def __init__(self, address: str, topic: str) -> None:
        self._address = address
        self._topic = topic
        self._batch: list[tuple[int, bytes, float, Acknowledged]] = []
        self._count = 0
        settings = {**QUICK, "bootstrap.servers": address, "isolation.level": "read_committed"}
        self._marker = Consumer({**settings, "group.id": f"{topic}-writer"})
        self._producer = self._made()

    def write(self, partition: int, value: bytes, acknowledged: Acknowledged) -> None:
        self._batch.append((partition, value, time.monotonic(), acknowledged))
        if len(self._batch) == _BATCH:
            self._write_batch()

    def flush(self, seconds: float) -> int:
        until = time.monotonic() + seconds
        if self._batch:
            self._write_batch()
        self._marker.close()
        return int(time.monotonic() > until)

    def _write_batch(self) -> None:
        self._count += 1
        give_up = self._count % _GIVEN_UP == 0
        while not self._stands(give_up=give_up):
            give_up = False
        for partition, _, sent_at, acknowledged in self._batch:
            acknowledged(partition, sent_at, None)
        self._batch.clear()

    def _stands(self, *, give_up: bool) -> bool:
        """Write the batch; give whether it stands, or has to be written again."""
        try:
            self._produce()
            if not give_up:
                _again(lambda: self._producer.commit_transaction(_SECONDS))
                return True
        except KafkaException as error:
            if not _error(error).txn_requires_abort():
                return self._decided()
        try:
            _again(lambda: self._producer.abort_transaction(_SECONDS))
        except KafkaException:
            return self._decided()
        return False

    def _produce(self) -> None:
        self._producer.begin_transaction()
        for partition, value, _, _ in self._batch:
            self._producer.produce(self._topic, value, partition=partition)
        self._producer.poll(0)
        marker = [TopicPartition(self._topic, 0, self._count)]
        group = self._marker.consumer_group_metadata()
        _again(lambda: self._producer.send_offsets_to_transaction(marker, group, _SECONDS))

    def _decided(self) -> bool:
        """Make the producer anew, and give whether the batch stands."""
        self._producer = self._made()
        while True:
            try:
                (found,) = self._marker.committed([TopicPartition(self._topic, 0)], _SECONDS)
            except KafkaException:
                continue
            return bool(found.offset >= self._count)

    def _made(self) -> Producer:
        """Give a producer that has ended what the one before it left open."""
        made = Producer(
            {
                **QUICK,
                "bootstrap.servers": self._address,
                "transactional.id": f"{self._topic}-writer",
                "transaction.timeout.ms": 60_000,
                "linger.ms": 5,
                "request.timeout.ms": 4000,
            }
        )
        _again(lambda: made.init_transactions(_SECONDS))
        return made


def _again(act: Callable[[], object]) -> None:
    """Do something until it is done; what is not decided yet may be asked again."""
    while True:
        try:
            act()
        except KafkaException as error:
            if not _error(error).retriable():
                raise
        else:
            return


def _error(error: KafkaException) -> KafkaError:
    found: KafkaError = error.args[0]
    return found
