"""A partition in memory with the words in which facts about Kafka's log are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from penstock.clock import ManualClock
from penstock.log.embedded.batch import encode_rows
from penstock.log.embedded.cleaner import PartitionCleaner
from penstock.log.embedded.compaction import Cleaning
from penstock.log.embedded.decisions import Outcome
from penstock.log.embedded.head import OpenTransaction
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.embedded.partition import Partition
from penstock.log.port import Appended, SegmentInfo, WriterStamp
from penstock.log.rows import fit_rows, rows_of_bytes
from penstock.log.topic import Topic, TopicConfig


class Undecided:
    """Knows of no decision, so that only markers decide."""

    def outcome(self, _writer_id: int, _epoch: int, _number: int) -> Outcome:
        return "open"


class PartitionLog:
    """One partition, its storage and its clock; producers have epoch 0 and count for themselves."""

    def __init__(self, config: TopicConfig, *, now: int = 0) -> None:
        self.storage = MemoryStorage()
        self.clock = ManualClock(now)
        log = EmbeddedLog(self.storage, self.clock)
        self.topic = log.create_topic("t", config=config)
        self.partition = Partition(
            self.storage, self.topic, 0, clock=self.clock, decisions=Undecided()
        )
        self._sequences: Counter[int] = Counter()
        self._transactions: Counter[int] = Counter()

    def topic_with(self, **settings: object) -> Topic:
        """The topic with other settings; the log itself keeps its own."""
        return replace(self.topic, config=self.topic.config.with_settings(**settings))

    def append(
        self,
        keys: Sequence[bytes],
        *,
        values: Sequence[bytes | None] | None = None,
        timestamp: int | None = None,
        stamp: WriterStamp | None = None,
        transaction: int | None = None,
    ) -> Appended:
        """Append one batch with one record for each key."""
        timestamps = None if timestamp is None else [timestamp] * len(keys)
        rows = rows_of_bytes(values or keys, keys=keys, timestamps=timestamps)
        encoded = encode_rows(fit_rows(rows, self.topic, self.clock.now()), self.topic)
        return self.partition.appender.append(encoded, stamp=stamp, transaction=transaction)

    def append_as_replica(
        self,
        keys: Sequence[bytes],
        *,
        values: Sequence[bytes | None] | None = None,
        stamp: WriterStamp | None = None,
        transaction: int | None = None,
    ) -> Appended:
        """Append what another broker has accepted: its sequence is taken as it is."""
        rows = rows_of_bytes(values or keys, keys=keys)
        encoded = encode_rows(fit_rows(rows, self.topic, self.clock.now()), self.topic)
        appender = self.partition.appender
        with appender.locked() as head:
            return appender._write_rows(encoded, head, stamp, transaction)

    def append_in_transaction(
        self, keys: Sequence[bytes], producer: int, *, timestamp: int | None = None
    ) -> Appended:
        """Append a batch to the producer's present transaction."""
        stamp = self.next_stamp(producer, len(keys))
        number = self.transaction_of(producer)
        return self.append(keys, timestamp=timestamp, stamp=stamp, transaction=number)

    def next_stamp(self, producer: int, count: int) -> WriterStamp:
        """The stamp of the producer's next records."""
        first = self._sequences[producer]
        self._sequences[producer] += count
        return WriterStamp(producer, 0, first)

    def transaction_of(self, producer: int) -> int:
        """The number of the producer's present transaction."""
        return self._transactions[producer]

    def mark(self, producer: int, *, committed: bool) -> None:
        """Write a marker that ends the producer's present transaction."""
        present = OpenTransaction(producer, 0, self._transactions[producer], 0)
        self._transactions[producer] += 1
        self.partition.appender.force_marker(present, committed=committed)

    def roll(self, base_offset: int | None = None) -> None:
        """Begin a new segment, where asked at an offset that leaves a gap."""
        appender = self.partition.appender
        appender.roll()
        if base_offset is not None:
            with appender.locked() as head:
                appender.publish(replace(head, active_base=base_offset, end_offset=base_offset))

    def move_start(self, offset: int) -> None:
        """Delete the records before an offset."""
        PartitionCleaner(Cleaning(self.storage, self.partition, self.topic)).delete_records(offset)

    def segments(self) -> list[SegmentInfo]:
        """All segments, the active one last."""
        return self.partition.reader.segments()

    def segment_count(self) -> int:
        """How many segments there are, the active one among them."""
        return len(self.segments())

    def start_offset(self) -> int:
        """The first offset a reader can have."""
        return self.partition.reader.head().start_offset

    def record_size(self) -> int:
        """The bytes that one appended record takes on disk."""
        before = self.partition.reader.head().end_position
        self.append([b"k"])
        return self.partition.reader.head().end_position - before
