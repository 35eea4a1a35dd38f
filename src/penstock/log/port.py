"""The log's port: what a durable, partitioned log can do, whoever keeps it.

`embedded` is a directory on this machine, `remote` such a directory served over a socket, or by
`penstock serve` over WebSockets; `kafka` is a cluster of Apache Kafka.
`tests/contract/log` is the suite each adapter passes.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from penstock.log.record import TopicPartition
from penstock.log.topic import Topic, TopicConfig

if TYPE_CHECKING:
    import pyarrow as pa

Isolation: TypeAlias = Literal["committed", "uncommitted"]
Assignor: TypeAlias = Literal["range", "round-robin", "sticky", "cooperative-sticky"]


class Capability(enum.Enum):
    """What only some adapters have."""

    TRANSACTIONS = "transactions"
    COMPACTION = "compaction"
    TYPED_COLUMNS = "typed columns"
    FSYNC_BY_TOPIC = "fsync by topic"
    TOPIC_DUMP = "topic dump"
    REPLICATION = "replication"
    CLUSTER = "cluster"
    STAMPS = "stamps"
    """Whether a repeated append is recognised whoever repeats it, not only by its own handle."""


class Bounds(NamedTuple):
    """The readable part of a partition: offsets from `start` up to, not including, `end`."""

    start: int
    end: int


class Appended(NamedTuple):
    """Where an append landed; a duplicate was there already and was not written again."""

    base_offset: int
    last_offset: int
    duplicate: bool = False


class WriterStamp(NamedTuple):
    """Who appends and which record of theirs comes first, so that a repeat is recognised."""

    writer_id: int
    epoch: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows read from one partition, and the offset to read next.

    The columns are `_offset`, `_timestamp`, `_key`, `_headers`, `_deleted`, then the
    topic's own (`value` where it has no schema). Compacted, aborted and control
    records leave gaps, so `next_offset` may lie beyond the last row.
    """

    rows: pa.Table
    next_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimit:
    """How much one read may return; at least one batch is always given."""

    records: int | None = None
    bytes: int = 8 * 1024 * 1024
    stop: int | None = None
    columns: tuple[str, ...] | None = None
    isolation: Isolation = "committed"


class SegmentInfo(NamedTuple):
    """One segment of a partition, as `topics describe` shows it.

    A log that does not tell how it keeps a partition gives none: see `amount_of`.
    """

    base_offset: int
    next_offset: int
    size: int
    records: int
    min_timestamp: int
    max_timestamp: int
    file: str
    active: bool


class Rebalance(NamedTuple):
    """What a member must give up and what it has been given."""

    revoked: frozenset[TopicPartition]
    assigned: frozenset[TopicPartition]


class GroupMemberInfo(NamedTuple):
    """A member as the group's view shows it."""

    member_id: str
    client: str
    topics: tuple[str, ...]
    assigned: tuple[TopicPartition, ...]
    owned: tuple[TopicPartition, ...]
    heartbeat_at: int | None
    """When it was last heard of; None where the log does not tell."""


class GroupInfo(NamedTuple):
    """A consumer group as its view shows it."""

    name: str
    generation: int | None
    """How many times its partitions were given out; None where the log does not tell."""
    assignor: str
    members: tuple[GroupMemberInfo, ...]
    committed: Mapping[TopicPartition, int]


class Membership(Protocol):
    """One consumer's seat in a group."""

    @property
    def member_id(self) -> str:
        """The name of this member within its group."""
        ...

    @property
    def generation(self) -> int:
        """The generation this member has seen last."""
        ...

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions this member may read and commit now."""
        ...

    def heartbeat(self) -> Rebalance | None:
        """Say "alive"; learn what to give up and what was given, None where nothing changed.

        Revoked partitions stay owned until `release`, so that the caller can commit them.
        """
        ...

    def wait(self, timeout: float) -> bool:
        """Block until the group may have news for `heartbeat`, or the time is over."""
        ...

    def release(self, partitions: Iterable[TopicPartition]) -> None:
        """Give revoked partitions to whoever is to have them next."""
        ...

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store the next offsets to read; a member that lost them is fenced."""
        ...

    def leave(self) -> None:
        """Give up all partitions and the seat."""
        ...


class Transaction(Protocol):
    """Appends over several partitions and topics that readers see all or none of."""

    @property
    def note(self) -> str:
        """The note of the last transaction committed under this id ("" before the first)."""
        ...

    def begin(self) -> None:
        """Open a transaction; one at a time for each id."""
        ...

    def append(self, topic: str, partition: int, rows: pa.Table) -> Appended:
        """Append rows that nobody sees before `commit`."""
        ...

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Let a group's offsets become committed together with the records."""
        ...

    def commit(self, note: str = "") -> None:
        """Make everything visible at once, with a note that `note` gives back after a restart."""
        ...

    def abort(self) -> None:
        """Make everything vanish."""
        ...

    def close(self) -> None:
        """Abort what is open and let go of the id."""
        ...


class Log(Protocol):
    """A partitioned, append-only log."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this adapter has beyond the common promise."""
        ...

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        schema: pa.Schema | None = None,
        config: TopicConfig | None = None,
    ) -> Topic:
        """Create a topic; an existing name is refused."""
        ...

    def topics(self) -> tuple[str, ...]:
        """The names of all topics, sorted."""
        ...

    def topic(self, name: str) -> Topic:
        """Describe a topic."""
        ...

    def configure_topic(self, name: str, config: TopicConfig) -> Topic:
        """Change settings; the number of partitions and the schema stay."""
        ...

    def delete_topic(self, name: str) -> None:
        """Remove a topic and all its records."""
        ...

    def append(
        self, topic: str, partition: int, rows: pa.Table, *, stamp: WriterStamp | None = None
    ) -> Appended:
        """Append rows in order; when it returns they are as safe as the topic's fsync says."""
        ...

    def read(self, topic: str, partition: int, offset: int, limit: ReadLimit) -> Chunk:
        """Give the rows from an offset on, without waiting."""
        ...

    def bounds(self, topic: str, partition: int, isolation: Isolation = "committed") -> Bounds:
        """The offsets a reader can have."""
        ...

    def snapshot(self, topics: Iterable[str]) -> dict[TopicPartition, Bounds]:
        """The committed bounds of whole topics at one instant: no half transaction."""
        ...

    def offset_at_time(self, topic: str, partition: int, timestamp: int) -> int | None:
        """The first offset whose timestamp is at or after a time; None where there is none."""
        ...

    def wait(self, positions: Mapping[TopicPartition, int], timeout: float) -> bool:
        """Block until a position has something to read, or the time is over."""
        ...

    def transaction(self, transactional_id: str) -> Transaction:
        """Take over an id: earlier holders are fenced, what they left open is aborted."""
        ...

    def join(
        self,
        group: str,
        topics: Sequence[str],
        *,
        assignor: Assignor = "range",
        client: str = "",
        session_timeout: timedelta = timedelta(seconds=10),
        instance_id: str | None = None,
    ) -> Membership:
        """Take a seat in a consumer group; an instance id keeps its partitions over a restart."""
        ...

    def groups(self) -> tuple[str, ...]:
        """The names of all groups, sorted."""
        ...

    def group(self, name: str) -> GroupInfo:
        """Describe a group: members, assignment, committed offsets."""
        ...

    def committed(self, group: str) -> dict[TopicPartition, int]:
        """The offsets a group has committed: the next to read."""
        ...

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Set a group's offsets from outside, as an operator or a lone reader does."""
        ...

    def delete_group(self, name: str) -> None:
        """Remove a group without live members, its offsets included."""
        ...

    def close(self) -> None:
        """Let go of files and threads; closing twice is harmless."""
        ...
