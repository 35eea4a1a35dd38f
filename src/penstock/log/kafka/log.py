"""A log that Apache Kafka keeps: the port's promises on the brokers of a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from typing import Self, TypeVar

import pyarrow as pa

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import PenstockError
from penstock.log.guard import Guards
from penstock.log.kafka.catalog import Catalog
from penstock.log.kafka.clients import Clients
from penstock.log.kafka.columns import messages_of
from penstock.log.kafka.documents import Documents
from penstock.log.kafka.fetch import Fetch
from penstock.log.kafka.groups import Groups
from penstock.log.kafka.membership import KafkaMembership, Seating
from penstock.log.kafka.offsets import Offsets
from penstock.log.kafka.properties import KafkaPlace
from penstock.log.kafka.reader import Readers
from penstock.log.kafka.stamps import Stamps
from penstock.log.kafka.transaction import Holder, KafkaTransaction, Transacting
from penstock.log.kafka.typed import MakeTyped, TypedTopics, default_typed
from penstock.log.kafka.upkeep import Upkeep
from penstock.log.kafka.writer import Sendable, Writer
from penstock.log.port import (
    Appended,
    Assignor,
    Bounds,
    Capability,
    Chunk,
    GroupInfo,
    Isolation,
    ReadLimit,
    WriterStamp,
)
from penstock.log.record import VALUE_COLUMN, TopicPartition
from penstock.log.rows import fit_rows
from penstock.log.topic import Topic, TopicConfig

Result = TypeVar("Result")

_CAPABILITIES = frozenset(
    {
        Capability.TRANSACTIONS,
        Capability.COMPACTION,
        Capability.REPLICATION,
        Capability.CLUSTER,
    }
)


class KafkaLog(Upkeep):
    """The topics of a cluster; threads may share it, processes open their own.

    Topics with a schema hold values as Confluent's clients write them: `typed` makes who turns
    columns into such values.
    """

    def __init__(
        self, place: KafkaPlace, *, clock: Clock = SYSTEM_CLOCK, typed: MakeTyped = default_typed
    ) -> None:
        self.place = place
        self.clock = clock
        self._clients = Clients(place)
        self._offsets = Offsets(self._clients)
        self._readers = Readers(self._clients)
        self._writer = Writer(self._clients)
        self._groups = Groups(self._clients)
        self._documents = Documents(self._offsets, self._readers, self._append_document)
        self._catalog = Catalog(self._clients, clock, self._documents)
        self._stamps = Stamps()
        self._guards = Guards(self)
        self._make_typed = typed
        self._holding = threading.Lock()
        self._holders: dict[str, Holder] = {}
        self._transacting = Transacting(
            self._clients, self._offsets, self._groups, self._sendable, self._keep
        )

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this adapter has beyond the common promise."""
        return _CAPABILITIES

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        schema: pa.Schema | None = None,
        config: TopicConfig | None = None,
    ) -> Topic:
        """Create a topic; an existing name is refused."""
        wanted = config or TopicConfig()
        planned = Topic(name, partitions, schema, wanted)
        self._guards.admit(planned)
        made = self._catalog.create(name, partitions=partitions, schema=schema, config=wanted)
        if schema is not None:
            self._typed.admit(made)
        return made

    def topics(self) -> tuple[str, ...]:
        """The names of all topics, sorted; Kafka's own are left out."""
        return self._catalog.names()

    def topic(self, name: str) -> Topic:
        """Describe a topic."""
        return self._catalog.get(name)

    def configure_topic(self, name: str, config: TopicConfig) -> Topic:
        """Change settings; the number of partitions and the schema stay."""
        topic = replace(self._catalog.get(name), config=config)
        self._guards.admit(topic)
        self._catalog.configure(topic)
        return topic

    def delete_topic(self, name: str) -> None:
        """Remove a topic and all its records."""
        gone = self._catalog.delete(name)
        self._readers.drop(name)
        if gone.schema is not None:
            self._typed.forget(gone)

    def append(
        self, topic: str, partition: int, rows: pa.Table, *, stamp: WriterStamp | None = None
    ) -> Appended:
        """Append rows in order; when it returns all replicas in sync have them."""
        place = TopicPartition(topic, partition)
        if stamp is not None:
            known = self._stamps.check(place, stamp, rows.num_rows)
            if known is not None:
                return known
        records = self._sendable(place, rows)
        if not rows.num_rows:
            end = self._offsets.ends([place], "uncommitted")[place]
            return Appended(end, end - 1)
        done = self._on(topic, lambda: self._writer.append(place, records))
        if stamp is not None:
            self._stamps.note(place, stamp, done)
        return done

    def read(self, topic: str, partition: int, offset: int, limit: ReadLimit) -> Chunk:
        """Give the rows from an offset on, without waiting for more than there is."""
        described = self._catalog.place(topic, partition)
        return self._on(topic, lambda: self._fetch.read(described, partition, offset, limit))

    def bounds(self, topic: str, partition: int, isolation: Isolation = "committed") -> Bounds:
        """The offsets a reader can have."""
        self._catalog.place(topic, partition)
        place = TopicPartition(topic, partition)
        return self._on(topic, lambda: self._offsets.bounds([place], isolation)[place])

    def snapshot(self, topics: Iterable[str]) -> dict[TopicPartition, Bounds]:
        """The committed bounds of whole topics, asked for at once.

        Kafka marks the partitions of a transaction one after the other: a snapshot taken between
        two markers has the transaction in the one partition and not yet in the other.
        """
        places = [
            TopicPartition(name, number)
            for name in dict.fromkeys(topics)
            for number in range(self._catalog.get(name).partitions)
        ]
        return self._offsets.bounds(places, "committed")

    def offset_at_time(self, topic: str, partition: int, timestamp: int) -> int | None:
        """The first offset whose timestamp is at or after a time; None where there is none."""
        self._catalog.place(topic, partition)
        return self._offsets.at_time(TopicPartition(topic, partition), timestamp)

    def wait(self, positions: Mapping[TopicPartition, int], timeout: float) -> bool:
        """Block until a position has something to read, or the time is over."""
        return self._offsets.wait(positions, timeout)

    def transaction(self, transactional_id: str) -> KafkaTransaction:
        """Take over an id: earlier holders are fenced, what they left open is aborted.

        A holder that this handle has closed is used again, so that each batch of a job does not
        wait for the coordinator; if another took the id meanwhile, the first commit says so.
        """
        with self._holding:
            holder = self._holders.pop(transactional_id, None)
        if holder is None:
            self._catalog.ensure_documents()
            holder = self._transacting.hold(transactional_id)
        return KafkaTransaction(self._transacting, holder)

    def join(
        self,
        group: str,
        topics: Sequence[str],
        *,
        assignor: Assignor = "range",
        client: str = "",
        session_timeout: timedelta = timedelta(seconds=10),
        instance_id: str | None = None,
    ) -> KafkaMembership:
        """Take a seat in a consumer group; an instance id keeps its partitions over a restart."""
        for topic in topics:
            self._catalog.get(topic)
        seating = Seating(
            group=group,
            topics=tuple(dict.fromkeys(topics)),
            assignor=assignor,
            client=client,
            session_timeout=session_timeout,
            instance_id=instance_id,
        )
        return KafkaMembership(self._clients, self.clock, seating)

    def groups(self) -> tuple[str, ...]:
        """The names of all groups, sorted."""
        return self._groups.names()

    def group(self, name: str) -> GroupInfo:
        """Describe a group: members, assignment, committed offsets."""
        return self._groups.describe(name)

    def committed(self, group: str) -> dict[TopicPartition, int]:
        """The offsets a group has committed: the next to read."""
        return self._groups.committed(group)

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Set a group's offsets from outside, as an operator or a lone reader does."""
        for place in offsets:
            self._catalog.place(*place)
        self._groups.commit(group, offsets)

    def delete_group(self, name: str) -> None:
        """Remove a group without live members, its offsets included."""
        self._groups.delete(name)

    def close(self) -> None:
        """Let go of connections and threads; closing twice is harmless."""
        self._guards.close()
        with self._holding:
            self._holders.clear()
        self._readers.close()
        self._writer.close()
        self._groups.close()
        self._clients.close()

    def __enter__(self) -> Self:
        """Use the log for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _typed(self) -> TypedTopics:
        return self._make_typed(self)

    @cached_property
    def _fetch(self) -> Fetch:
        return Fetch(self._offsets, self._readers, lambda: self._typed)

    def _sendable(self, place: TopicPartition, rows: pa.Table) -> Sendable:
        """Check rows and give them as they are sent."""
        topic = self._catalog.place(*place)
        fitted = fit_rows(rows, topic, self.clock.now())
        self._guards.check(topic, fitted)
        if topic.schema is None:
            return messages_of(fitted, fitted.column(VALUE_COLUMN))
        return messages_of(fitted, self._typed.encode(topic, fitted))

    def _append_document(self, place: TopicPartition, rows: pa.Table) -> None:
        fitted = fit_rows(rows, Topic(place.topic, 1), self.clock.now())
        self._writer.append(place, messages_of(fitted, fitted.column(VALUE_COLUMN)))

    def _keep(self, holder: Holder) -> None:
        with self._holding:
            self._holders[holder.name] = holder

    def _on(self, topic: str, act: Callable[[], Result]) -> Result:
        """Act on a topic; where that fails since somebody has deleted it, that is said."""
        try:
            return act()
        except PenstockError as refusal:
            self._catalog.forget(topic)
            if refusal.code == "KAFKA_REFUSED":
                self._catalog.get(topic)
            raise
