"""A log that a server on this machine offers: the port's other end of a socket."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from penstock.log.embedded.home import home_directory
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
from penstock.log.record import TopicPartition
from penstock.log.remote.address import port_of, server_address
from penstock.log.remote.exchange import Exchange, socket_connect
from penstock.log.remote.membership import RemoteMembership
from penstock.log.remote.transaction import RemoteTransaction
from penstock.log.remote.values import (
    decode_group,
    decode_offsets,
    encode_limit,
    encode_offsets,
)
from penstock.log.remote.wire import decode_rows, encode_rows
from penstock.log.topic import Topic, TopicConfig
from penstock.log.topic_document import topic_from_document, topic_to_document


class RemoteLog:
    """The log of a server, by its address `tcp://127.0.0.1:PORT`; threads may share it.

    `home` is the directory the server was started with, which holds the token that opens its
    socket. A server that does not answer within `patience` counts as gone. What only reads is
    asked a second time where a connection breaks; so is an append that has a stamp.
    """

    def __init__(
        self,
        address: str,
        *,
        home: Path | str | None = None,
        patience: timedelta = timedelta(minutes=1),
    ) -> None:
        connect = socket_connect(address, home_directory(home))
        self._exchange = Exchange(server_address(port_of(address)), connect, patience)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this adapter has beyond the common promise."""
        return frozenset(map(Capability, self._read("capabilities")))

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        schema: pa.Schema | None = None,
        config: TopicConfig | None = None,
    ) -> Topic:
        """Create a topic; an existing name is refused."""
        wanted = Topic(name, partitions, schema, config or TopicConfig())
        return topic_from_document(self._change("create_topic", topic=topic_to_document(wanted)))

    def topics(self) -> tuple[str, ...]:
        """The names of all topics, sorted."""
        return tuple(self._read("topics"))

    def topic(self, name: str) -> Topic:
        """Describe a topic."""
        return topic_from_document(self._read("topic", name=name))

    def configure_topic(self, name: str, config: TopicConfig) -> Topic:
        """Change settings; the number of partitions and the schema stay."""
        wanted = topic_to_document(Topic(name, 1, None, config))
        return topic_from_document(self._change("configure_topic", topic=wanted))

    def delete_topic(self, name: str) -> None:
        """Remove a topic and all its records."""
        self._change("delete_topic", name=name)

    def append(
        self, topic: str, partition: int, rows: pa.Table, *, stamp: WriterStamp | None = None
    ) -> Appended:
        """Append rows in order; when it returns they are as safe as the topic's fsync says."""
        asked = {"topic": topic, "partition": partition, "stamp": stamp}
        # Without a stamp the log could not tell a repeat from more of the same records.
        answer = self._exchange.ask(
            "append", asked, encode_rows(rows), repeatable=stamp is not None
        )
        return Appended(*answer.header["result"])

    def read(self, topic: str, partition: int, offset: int, limit: ReadLimit) -> Chunk:
        """Give the rows from an offset on, without waiting."""
        asked = {"topic": topic, "partition": partition, "offset": offset}
        answer = self._exchange.ask(
            "read", {**asked, "limit": encode_limit(limit)}, repeatable=True
        )
        return Chunk(decode_rows(answer.body), answer.header["result"])

    def bounds(self, topic: str, partition: int, isolation: Isolation = "committed") -> Bounds:
        """The offsets a reader can have."""
        found = self._read("bounds", topic=topic, partition=partition, isolation=isolation)
        return Bounds(*found)

    def snapshot(self, topics: Iterable[str]) -> dict[TopicPartition, Bounds]:
        """The committed bounds of whole topics at one instant: no half transaction."""
        found = self._read("snapshot", topics=list(topics))
        return {
            TopicPartition(topic, partition): Bounds(start, end)
            for topic, partition, start, end in found
        }

    def offset_at_time(self, topic: str, partition: int, timestamp: int) -> int | None:
        """The first offset whose timestamp is at or after a time; None where there is none."""
        found: int | None = self._read(
            "offset_at_time", topic=topic, partition=partition, timestamp=timestamp
        )
        return found

    def wait(self, positions: Mapping[TopicPartition, int], timeout: float) -> bool:
        """Block until a position has something to read, or the time is over."""
        asked = {"positions": encode_offsets(positions), "timeout": timeout}
        answer = self._exchange.ask("wait", asked, repeatable=True, waiting=timeout)
        return bool(answer.header["result"])

    def transaction(self, transactional_id: str) -> RemoteTransaction:
        """Take over an id: earlier holders are fenced, what they left open is aborted."""
        return RemoteTransaction(self._exchange, transactional_id)

    def join(
        self,
        group: str,
        topics: Sequence[str],
        *,
        assignor: Assignor = "range",
        client: str = "",
        session_timeout: timedelta = timedelta(seconds=10),
        instance_id: str | None = None,
    ) -> RemoteMembership:
        """Take a seat in a consumer group; an instance id keeps its partitions over a restart."""
        wanted = {
            "topics": list(topics),
            "assignor": assignor,
            "client": client,
            "session_timeout": session_timeout.total_seconds(),
            "instance_id": instance_id,
        }
        return RemoteMembership(self._exchange, group, wanted)

    def groups(self) -> tuple[str, ...]:
        """The names of all groups, sorted."""
        return tuple(self._read("groups"))

    def group(self, name: str) -> GroupInfo:
        """Describe a group: members, assignment, committed offsets."""
        return decode_group(self._read("group", name=name))

    def committed(self, group: str) -> dict[TopicPartition, int]:
        """The offsets a group has committed: the next to read."""
        return decode_offsets(self._read("committed", group=group))

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Set a group's offsets from outside, as an operator or a lone reader does."""
        self._change("commit", group=group, offsets=encode_offsets(offsets))

    def delete_group(self, name: str) -> None:
        """Remove a group and its offsets; one that has members is refused."""
        self._change("delete_group", name=name)

    def close(self) -> None:
        """Hang up; open transactions are aborted and seats given up; twice is harmless."""
        self._exchange.close()

    def __enter__(self) -> Self:
        """Use the log for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, method: str, **arguments: object) -> Any:  # noqa: ANN401  # what JSON holds
        return self._exchange.ask(method, arguments, repeatable=True).header["result"]

    def _change(self, method: str, **arguments: object) -> Any:  # noqa: ANN401  # what JSON holds
        return self._exchange.ask(method, arguments, repeatable=False).header["result"]
