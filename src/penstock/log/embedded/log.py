"""The embedded log: a directory, no server; many processes read and write it at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pyarrow as pa

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import PenstockError, TopicError
from penstock.log.embedded.anew import looked_up_anew
from penstock.log.embedded.batch import encode_rows, prepare_rows, prepared_rows
from penstock.log.embedded.burial import bury_topic
from penstock.log.embedded.catalog import Catalog
from penstock.log.embedded.cleaner import CleanReport
from penstock.log.embedded.group import DEFAULT_SESSION_TIMEOUT, GroupCoordinator
from penstock.log.embedded.head import OpenTransaction
from penstock.log.embedded.housekeeping import Housekeeping
from penstock.log.embedded.partition import Partition
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.embedded.repair import Repaired
from penstock.log.embedded.root import open_root
from penstock.log.embedded.transaction import EmbeddedTransaction
from penstock.log.embedded.transaction_file import TransactionFiles
from penstock.log.embedded.verify import Finding
from penstock.log.embedded.waiting import Watches, wait_for_news
from penstock.log.guard import Guards
from penstock.log.port import (
    Appended,
    Assignor,
    Bounds,
    Capability,
    Chunk,
    GroupInfo,
    Isolation,
    Membership,
    ReadLimit,
    SegmentInfo,
    WriterStamp,
)
from penstock.log.prepared import Prepared
from penstock.log.record import TopicPartition
from penstock.log.rows import fit_rows
from penstock.log.storage import Storage
from penstock.log.topic import Topic, TopicConfig
from penstock.log.topic_refusals import missing_topic

Result = TypeVar("Result")


class EmbeddedLog:
    """A log kept in a storage; safe to use from several threads and processes."""

    def __init__(self, storage: Storage, clock: Clock = SYSTEM_CLOCK) -> None:
        with coded_storage_errors("opening the log"):
            open_root(storage, clock)
        self.storage, self.clock = storage, clock
        self._catalog = Catalog(storage, clock)
        self._transactions = TransactionFiles(storage)
        self._groups = GroupCoordinator(
            storage, clock, lambda name: self.topic(name).partitions, self._transactions
        )
        self._partitions: dict[TopicPartition, Partition] = {}
        self._watches = Watches(storage)
        self._opening = threading.Lock()
        self._housekeeping = Housekeeping(storage, clock, self._catalog, self.partition)
        self._guards = Guards(self)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this adapter has beyond the common promise."""
        return frozenset(Capability) - {Capability.REPLICATION, Capability.CLUSTER}

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        schema: pa.Schema | None = None,
        config: TopicConfig | None = None,
    ) -> Topic:
        """Create a topic; an existing name is refused."""
        self._guards.admit(Topic(name, partitions, schema, config or TopicConfig()))
        with coded_storage_errors(f'creating topic "{name}"'):
            return self._catalog.create(
                name, partitions=partitions, schema=schema, config=config or TopicConfig()
            )

    def topics(self) -> tuple[str, ...]:
        """The names of all topics, sorted."""
        with coded_storage_errors("listing topics"):
            return self._catalog.names()

    def topic(self, name: str) -> Topic:
        """Describe a topic."""
        with coded_storage_errors(f'describing topic "{name}"'):
            return self._catalog.get(name)

    def configure_topic(self, name: str, config: TopicConfig) -> Topic:
        """Change settings; the number of partitions and the schema stay."""
        with coded_storage_errors(f'configuring topic "{name}"'):
            topic = replace(self._catalog.get(name), config=config)
            self._guards.admit(topic)
            self._catalog.configure(topic)
            with self._opening:
                for place, part in self._partitions.items():
                    if place.topic == name:
                        part.configure(topic)
            return topic

    def delete_topic(self, name: str) -> None:
        """Remove a topic and all its records; its open readers and writers are told."""
        with coded_storage_errors(f'deleting topic "{name}"'):
            self._catalog.get(name)
            self._forget(name)
            self._catalog.retire(name)
            self._groups.forget_topic(name)
            for directory in self._catalog.retired():
                bury_topic(self.storage, directory)

    def append(
        self,
        topic: str,
        partition: int,
        rows: pa.Table | Prepared,
        *,
        stamp: WriterStamp | None = None,
    ) -> Appended:
        """Append rows in order; when it returns they are as safe as the topic's fsync says."""
        with coded_storage_errors(f'appending to topic "{topic}"'):
            return self._on(topic, partition, lambda part: self._append(part, rows, stamp, None))

    def read(self, topic: str, partition: int, offset: int, limit: ReadLimit) -> Chunk:
        """Give the rows from an offset on, without waiting."""
        with coded_storage_errors(f'reading topic "{topic}"'):
            return self._on(topic, partition, lambda part: part.reader.read(offset, limit))

    def bounds(self, topic: str, partition: int, isolation: Isolation = "committed") -> Bounds:
        """The offsets a reader can have."""
        with coded_storage_errors(f'reading topic "{topic}"'):
            return self._on(topic, partition, lambda part: part.reader.bounds(isolation))

    def snapshot(self, topics: Iterable[str]) -> dict[TopicPartition, Bounds]:
        """The committed bounds of whole topics at one instant: no half transaction."""
        places = [
            TopicPartition(name, number)
            for name in topics
            for number in range(self.topic(name).partitions)
        ]
        # A transaction seen in one partition and not yet in another, looked at before, shows
        # itself there at the second look. Where no stamp has changed, there was none.
        before = self._look_at(places)
        while True:
            after = self._look_at(places)
            if all(after[place][1] == before[place][1] for place in places):
                return {place: bounds for place, (bounds, _) in before.items()}
            before = after

    def offset_at_time(self, topic: str, partition: int, timestamp: int) -> int | None:
        """The first offset whose timestamp is at or after a time; None where there is none."""
        with coded_storage_errors(f'reading topic "{topic}"'):
            return self._on(topic, partition, lambda part: part.reader.offset_at_time(timestamp))

    def wait(self, positions: Mapping[TopicPartition, int], timeout: float) -> bool:
        """Block until a position has something to read, or the time is over."""
        with coded_storage_errors("waiting for records"):
            return looked_up_anew(
                lambda: {self.partition(*place): offset for place, offset in positions.items()},
                lambda watched: wait_for_news(watched, self._watches, timeout),
                lambda: self._forget(*(place.topic for place in positions)),
            )

    def segments(self, topic: str, partition: int) -> list[SegmentInfo]:
        """The segments of a partition, oldest first."""
        with coded_storage_errors(f'describing topic "{topic}"'):
            return self._on(topic, partition, lambda part: part.reader.segments())

    def clean(self, topic: str, *, include_active: bool = False) -> tuple[CleanReport, ...]:
        """Apply retention and compaction now; the newest segment is left alone unless asked for."""
        with coded_storage_errors(f'cleaning topic "{topic}"'):
            return self._housekeeping.clean(topic, include_active=include_active)

    def delete_records(self, topic: str, partition: int, *, before_offset: int) -> int:
        """Remove the records before an offset; give the offset the partition now starts at."""
        with coded_storage_errors(f'deleting records of topic "{topic}"'):
            place = TopicPartition(topic, partition)
            return self._housekeeping.delete_records(place, before_offset)

    def trim(self, topic: str, groups: Iterable[str]) -> dict[int, int]:
        """Use a topic as a queue: remove what all the named groups have committed.

        Gives the offset each partition now starts at. Groups that are not named lose what
        they have not read yet.
        """
        committed = [self.committed(group) for group in groups]
        starts = {}
        for number in range(self.topic(topic).partitions):
            place, start = TopicPartition(topic, number), self.bounds(topic, number).start
            consumed = min((offsets.get(place, start) for offsets in committed), default=start)
            starts[number] = self.delete_records(topic, number, before_offset=max(start, consumed))
        return starts

    def verify(self, topic: str | None = None) -> list[Finding]:
        """Read the whole log, or one topic, and give every place that is not what was written."""
        with coded_storage_errors("verifying the log"):
            return list(self._housekeeping.verify(topic))

    def repair(
        self, topic: str | None = None, *, cut_corrupt: bool = False
    ) -> tuple[Repaired, ...]:
        """Rebuild heads, lists and indexes from the segments; intact records are never touched.

        Frames that are hurt stay, and are refused to readers, unless `cut_corrupt` is given:
        then their segment is set aside and the intact frames of it go on.
        """
        with coded_storage_errors("repairing the log"):
            return self._housekeeping.repair(topic, cut_corrupt=cut_corrupt)

    def transaction(self, transactional_id: str) -> EmbeddedTransaction:
        """Take over an id: earlier holders are fenced, what they left open is aborted."""
        with coded_storage_errors(f'opening transaction "{transactional_id}"'):
            return EmbeddedTransaction(transactional_id, self._transactions, self, self._groups)

    def join(
        self,
        group: str,
        topics: Sequence[str],
        *,
        assignor: Assignor = "range",
        client: str = "",
        session_timeout: timedelta = DEFAULT_SESSION_TIMEOUT,
        instance_id: str | None = None,
    ) -> Membership:
        """Take a seat in a consumer group; an instance id keeps its partitions over a restart."""
        with coded_storage_errors(f'joining group "{group}"'):
            return self._groups.join(
                group,
                topics,
                assignor=assignor,
                client=client,
                session_timeout=session_timeout,
                instance_id=instance_id,
            )

    def groups(self) -> tuple[str, ...]:
        """The names of all groups, sorted."""
        with coded_storage_errors("listing groups"):
            return self._groups.groups()

    def group(self, name: str) -> GroupInfo:
        """Describe a group: members, assignment, committed offsets."""
        with coded_storage_errors(f'describing group "{name}"'):
            return self._groups.group(name)

    def committed(self, group: str) -> dict[TopicPartition, int]:
        """The offsets a group has committed: the next to read."""
        with coded_storage_errors(f'reading group "{group}"'):
            return self._groups.committed(group)

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Set a group's offsets from outside, as an operator or a lone reader does."""
        with coded_storage_errors(f'committing for group "{group}"'):
            self._groups.commit(group, offsets)

    def delete_group(self, name: str) -> None:
        """Remove a group without live members, its offsets included."""
        with coded_storage_errors(f'deleting group "{name}"'):
            self._groups.delete(name)

    def close(self) -> None:
        """Let go of files and threads; closing twice is harmless."""
        self._housekeeping.stop()
        self._guards.close()
        self._watches.close()
        with self._opening:
            for partition in self._partitions.values():
                partition.close()
            self._partitions.clear()

    def __enter__(self) -> EmbeddedLog:
        """Use the log for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def partition(self, topic: str, number: int) -> Partition:
        """The partition's two sides in this process; one out of range is refused."""
        place = TopicPartition(topic, number)
        found = self._partitions.get(place)
        if found is not None:
            return found
        with self._opening:
            described = self._catalog.get(topic)
            if not 0 <= number < described.partitions:
                raise TopicError(
                    "PARTITION_RANGE",
                    f'partition {number} of topic "{topic}" does not exist',
                    hint=f"It has {described.partitions}, counted from 0.",
                )
            try:
                return self._partitions.setdefault(
                    place,
                    Partition(
                        self.storage,
                        described,
                        number,
                        clock=self.clock,
                        decisions=self._transactions,
                        on_sealed=self._sealed,
                    ),
                )
            except FileNotFoundError as error:
                raise missing_topic(topic, self._catalog.names()) from error

    def prepare(self, topic: str, rows: pa.Table) -> Prepared:
        """Check and encode rows; nothing is written before they are appended."""
        found = self._catalog.get(topic)
        return prepare_rows(self._fitted(found, rows), found)

    def append_in_transaction(
        self,
        target: TopicPartition,
        rows: pa.Table | Prepared,
        *,
        stamp: WriterStamp,
        number: int,
    ) -> Appended:
        """Append rows that belong to a transaction."""
        with coded_storage_errors(f'appending to topic "{target.topic}"'):
            return self._on(*target, lambda part: self._append(part, rows, stamp, number))

    def mark(
        self, target: TopicPartition, transaction: OpenTransaction, *, committed: bool
    ) -> None:
        """Write a transaction's marker, unless it is there or the topic is gone."""
        if self._catalog.has(target.topic):
            self.partition(*target).appender.append_marker(transaction, committed=committed)

    def sync_partition(self, target: TopicPartition) -> None:
        """Return when the partition would survive a power cut, where its topic asks for that."""
        if self._catalog.has(target.topic):
            part = self.partition(*target)
            if part.topic.config.fsync == "always":
                part.appender.sync()

    def _append(
        self,
        part: Partition,
        rows: pa.Table | Prepared,
        stamp: WriterStamp | None,
        number: int | None,
    ) -> Appended:
        if isinstance(rows, Prepared):
            encoded = prepared_rows(rows, part.topic)
        else:
            encoded = encode_rows(self._fitted(part.topic, rows), part.topic)
        return part.appender.append(encoded, stamp=stamp, transaction=number)

    def _fitted(self, topic: Topic, rows: pa.Table) -> pa.RecordBatch:
        fitted = fit_rows(rows, topic, self.clock.now())
        self._guards.check(topic, fitted)
        return fitted

    def _on(self, topic: str, number: int, act: Callable[[Partition], Result]) -> Result:
        """Act on a partition; one that vanishes is looked up anew."""
        return looked_up_anew(
            lambda: (self.partition(topic, number),),
            lambda parts: act(parts[0]),
            lambda: self._forget(topic),
        )

    def _look_at(
        self, places: Iterable[TopicPartition]
    ) -> dict[TopicPartition, tuple[Bounds, object]]:
        with coded_storage_errors("taking a snapshot"):
            return {
                place: self._on(*place, lambda part: part.reader.look_for_snapshot())
                for place in places
            }

    def _sealed(self, part: Partition) -> None:
        """Take on settings another process changed, and have the partition cleaned if it asks."""
        with contextlib.suppress(OSError, PenstockError):
            part.configure(self._catalog.get(part.place.topic))
        if part.topic.config.cleans:
            self._housekeeping.schedule(part.place)

    def _forget(self, *topics: str) -> None:
        with self._opening:
            for place in [place for place in self._partitions if place.topic in topics]:
                self._partitions.pop(place).close()
