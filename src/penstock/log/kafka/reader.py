"""Reading a partition: a consumer of its own, kept warm between reads."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as KafkaPartition

from penstock.log.kafka.clients import PATIENCE, Clients
from penstock.log.kafka.columns import RAW, raw_rows
from penstock.log.port import Isolation
from penstock.log.record import OFFSET_COLUMN, TopicPartition
from penstock.log.rows import numbers

_AT_ONCE = 4000
_SLICE = 0.2
_MOST_READERS = 64
# The wait after a full queue is a whole second by default: the most that a reader loses.
_SETTINGS = {
    "group.id": "penstock-reader",
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.partition.eof": "true",
    "auto.offset.reset": "error",
    "fetch.queue.backoff.ms": "5",
    "queued.min.messages": "100000",
    "queued.max.messages.kbytes": "32768",
    "max.partition.fetch.bytes": "8388608",
    "fetch.wait.max.ms": "100",
}


@dataclass(frozen=True, slots=True)
class Block:
    """Rows as they came, from an offset up to the one to read next."""

    begin: int
    rows: pa.RecordBatch
    next_offset: int

    def after(self, offset: int) -> Block:
        """Give what lies at or after an offset."""
        places = numbers(self.rows.column(OFFSET_COLUMN), np.int64)
        first = int(np.searchsorted(places, offset))
        return Block(offset, self.rows.slice(first), self.next_offset)

    def before(self, offset: int) -> Block:
        """Give what lies before an offset."""
        places = numbers(self.rows.column(OFFSET_COLUMN), np.int64)
        kept = self.rows.slice(0, int(np.searchsorted(places, offset)))
        return Block(self.begin, kept, min(self.next_offset, offset))

    def first(self, count: int) -> Block:
        """Give so many rows at most."""
        if self.rows.num_rows <= count:
            return self
        kept = self.rows.slice(0, count)
        last = int(numbers(kept.column(OFFSET_COLUMN), np.int64)[-1]) if count else self.begin - 1
        return Block(self.begin, kept, last + 1)


class PartitionReader:
    """Gives the rows of one partition in the order of offsets; one thread at a time."""

    def __init__(self, clients: Clients, place: TopicPartition, isolation: Isolation) -> None:
        self.guard = threading.Lock()
        self.known_end = 0
        self._place = place
        self._clients = clients
        self._consumer: Consumer = clients.consumer(
            {**_SETTINGS, "isolation.level": f"read_{isolation}"}
        )
        self._next: int | None = None
        self._ahead: Block | None = None

    def blocks(self, offset: int, end: int) -> Iterator[Block]:
        """Give what lies between two offsets, piece by piece; the last one may go beyond."""
        deadline = time.monotonic() + PATIENCE
        while offset < end:
            block = self._block(offset)
            if block is None:
                if time.monotonic() > deadline:
                    with self._clients.errors(f'reading partition "{self._place}"'):
                        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))  # noqa: SLF001
                continue
            deadline = time.monotonic() + PATIENCE
            offset = block.next_offset
            yield block

    def keep(self, block: Block) -> None:
        """Take back what was not needed; it is given with the next read."""
        self._ahead = block if block.next_offset > block.begin else None

    def has(self, offset: int) -> bool:
        """Whether a read from an offset needs to ask nobody where the partition ends."""
        return 0 <= offset < self.known_end

    def close(self) -> None:
        """Let go of the consumer."""
        self._consumer.close()

    def _block(self, offset: int) -> Block | None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.begin <= offset < ahead.next_offset:
            return ahead.after(offset)
        if self._next != offset:
            # Not `seek`, which waits for the end of the fetch under way: half a second.
            self._consumer.assign([KafkaPartition(*self._place, offset)])
            self._next = offset
        messages = self._consumer.consume(1, _SLICE)
        if not messages:
            return None
        return self._taken(offset, messages + self._consumer.consume(_AT_ONCE, 0))

    def _taken(self, offset: int, messages: list[Message]) -> Block:
        good, reached = messages, offset
        if any(error is not None for error in map(Message.error, messages)):
            good = [message for message in messages if message.error() is None]
            reached = max(self._reached(message) for message in messages)
        if good:
            reached = max(reached, int(good[-1].offset() or 0) + 1)
        self._next = reached
        return Block(offset, raw_rows(good), reached)

    def _reached(self, message: Message) -> int:
        """Where an event says that reading goes on: behind control records at the end, too."""
        error = message.error()
        if error is None or error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
            return int(message.offset() or 0)
        self._next = None
        with self._clients.errors(f'reading partition "{self._place}"'):
            raise KafkaException(error)


class Readers:
    """The readers of a log; those used last stay."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._guard = threading.Lock()
        self._made: OrderedDict[tuple[str, TopicPartition, Isolation], PartitionReader] = (
            OrderedDict()
        )

    @contextlib.contextmanager
    def of(
        self, topic_id: str, place: TopicPartition, isolation: Isolation
    ) -> Iterator[PartitionReader]:
        """Give the reader of a partition for the length of a with block, to one thread."""
        key = (topic_id, place, isolation)
        with self._guard:
            reader = self._made.pop(key, None)
            if reader is None:
                with self._clients.errors(f'opening partition "{place}"'):
                    reader = PartitionReader(self._clients, place, isolation)
            self._made[key] = reader
            surplus = self._surplus()
        for idle in surplus:
            idle.close()
        with reader.guard:
            yield reader

    def drop(self, topic: str) -> None:
        """Let go of the readers of a topic."""
        with self._guard:
            gone = [key for key in self._made if key[1].topic == topic]
            readers = [self._made.pop(key) for key in gone]
        for reader in readers:
            with reader.guard:
                reader.close()

    def close(self) -> None:
        """Let go of all."""
        for topic in {key[1].topic for key in list(self._made)}:
            self.drop(topic)

    def _surplus(self) -> list[PartitionReader]:
        idle = [key for key, reader in self._made.items() if not reader.guard.locked()]
        many = max(0, len(self._made) - _MOST_READERS)
        return [self._made.pop(key) for key in idle[:many]]


def no_rows() -> pa.RecordBatch:
    """No rows at all."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in RAW.types], schema=RAW)
