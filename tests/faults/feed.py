"""Records whose place and content follow from a number, so that a reader knows what is wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig

PLAIN = "plain"
LEFT, RIGHT = "left", "right"
TRANSACTION_ID = "mover"
SMALL_SEGMENTS = 16 * 1024


def create_topics(log: EmbeddedLog) -> None:
    """Make one topic for plain appends and two for transactions, with frequent rolls."""
    log.create_topic(PLAIN, config=TopicConfig(fsync="os", segment_bytes=SMALL_SEGMENTS))
    log.create_topic(LEFT, config=TopicConfig(fsync="os", segment_bytes=SMALL_SEGMENTS))
    log.create_topic(RIGHT, config=TopicConfig(fsync="always", segment_bytes=SMALL_SEGMENTS))


def batch_from(first: int) -> list[int]:
    """The numbers of the batch that begins with one: the same whenever it is sent again."""
    return list(range(first, first + random.Random(first).randint(1, 20)))


def plain_value(number: int) -> bytes:
    """The record of a number: a torn or misplaced one cannot look like it."""
    return b"%d:" % number + bytes([number % 251]) * (number % 97)


def plain_rows(numbers: list[int]) -> pa.Table:
    """A batch of plain records."""
    return rows_of_bytes([plain_value(number) for number in numbers])


def share(transaction: int, topic: str) -> int:
    """How many records a transaction has in a topic."""
    return random.Random(f"{transaction}{topic}").randint(1, 4)


def transaction_rows(transaction: int, topic: str, fate: str = "commit") -> pa.Table:
    """The records of a transaction in a topic."""
    count = share(transaction, topic)
    return rows_of_bytes([b"%d:%d:%s" % (transaction, n, fate.encode()) for n in range(count)])


def values(log: EmbeddedLog, topic: str, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """The committed records between two offsets, with their offsets."""
    while start < stop:
        chunk = log.read(topic, 0, start, ReadLimit(stop=stop))
        offsets = chunk.rows.column("_offset").to_pylist()
        yield from zip(offsets, chunk.rows.column("value").to_pylist(), strict=True)
        assert chunk.next_offset > start, "a read that makes no way"
        start = chunk.next_offset


@dataclass(slots=True)
class PlainCheck:
    """Follows the plain topic: every number once, in order, from 0."""

    offset: int = 0
    following: int = 0

    def follow(self, log: EmbeddedLog) -> None:
        """Read what is new and compare it with what must come next."""
        end = log.bounds(PLAIN, 0).end
        for offset, value in values(log, PLAIN, self.offset, end):
            assert value == plain_value(self.following), (offset, value, self.following)
            assert offset == self.following, "an offset without a record"
            self.following += 1
        self.offset = end


@dataclass(slots=True)
class TransactionCheck:
    """Follows both sides of the transactions: each one whole, on both sides, once, in order."""

    offsets: dict[str, int] = field(default_factory=lambda: {LEFT: 0, RIGHT: 0})
    done: int = 0

    def follow(self, log: EmbeddedLog) -> None:
        """Read what is new at one instant and compare both sides."""
        bounds = log.snapshot([LEFT, RIGHT])
        seen = {}
        for place, (_, end) in bounds.items():
            found = [value for _, value in values(log, place.topic, self.offsets[place.topic], end)]
            self.offsets[place.topic] = end
            seen[place.topic] = found
        last = max((int(value.split(b":")[0]) for value in seen[LEFT]), default=self.done)
        for topic, found in seen.items():
            expected = [
                value.as_py()
                for number in range(self.done + 1, last + 1)
                for value in transaction_rows(number, topic).column("value")
            ]
            assert found == expected, (topic, self.done, found[:5], expected[:5])
        self.done = last
