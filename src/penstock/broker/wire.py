"""Asks a broker what it knows of its cluster, in Kafka's own words and with no client library.

Two requests suffice: Metadata (version 1) and DescribeQuorum (version 0). Clients of data are
elsewhere; this is for those who look after brokers.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from penstock.broker.plan import HOST

_METADATA, _METADATA_VERSION = 3, 1
_QUORUM, _QUORUM_VERSION = 55, 0
_QUORUM_TOPIC = b"__cluster_metadata"
_CLIENT = b"penstock"
_ALL = -1
_LONGEST = 64 * 2**20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PartitionView:
    """Where a partition is: who leads it, who has a copy, and whose copy is whole."""

    topic: str
    number: int
    leader: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClusterView:
    """What a broker knows of its cluster."""

    brokers: tuple[int, ...]
    topics: tuple[str, ...]
    partitions: tuple[PartitionView, ...]


@dataclass(frozen=True, slots=True)
class QuorumView:
    """The controllers that vote, and the one of them that leads; -1: none does now."""

    leader: int
    voters: tuple[int, ...]


def describe_cluster(port: int, *, seconds: float = 5.0) -> ClusterView:
    """Ask a broker for its brokers and topics; OSError where it does not answer in time."""
    return _read_cluster(_ask(port, _METADATA, _METADATA_VERSION, struct.pack(">i", _ALL), seconds))


def describe_quorum(port: int, *, seconds: float = 5.0) -> QuorumView:
    """Ask a broker who controls its cluster; OSError where it does not answer in time."""
    topic = bytes([len(_QUORUM_TOPIC) + 1]) + _QUORUM_TOPIC
    # One topic, with one partition, 0; each of the three ends with its optional fields: none.
    body = b"\x02" + topic + b"\x02" + struct.pack(">i", 0) + b"\x00\x00\x00"
    reader = _ask(port, _QUORUM, _QUORUM_VERSION, b"\x00" + body, seconds)
    reader.take(1)
    return _read_quorum(reader)


class _Reader:
    """The bytes of an answer, read from front to back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """Give the next bytes; an answer that is cut off is an OSError, as if none had come."""
        if count < 0 or self._at + count > len(self._data):
            raise ConnectionError("the answer of a broker is cut off")
        self._at += count
        return self._data[self._at - count : self._at]

    def short(self) -> int:
        """Give the next two bytes as a number."""
        return int.from_bytes(self.take(2), signed=True)

    def number(self) -> int:
        """Give the next four bytes as a number."""
        return int.from_bytes(self.take(4), signed=True)

    def text(self) -> str:
        """Give a text with its length before it; none is empty."""
        return self.take(max(self.short(), 0)).decode()

    def many(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Give an array with its length before it."""
        return tuple(read() for _ in range(max(self.number(), 0)))

    def compact_many(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Give an array with its length, and one, before it; here always less than 127."""
        return tuple(read() for _ in range(max(self.take(1)[0] - 1, 0)))


def _ask(port: int, request: int, version: int, body: bytes, seconds: float) -> _Reader:
    header = struct.pack(">hhih", request, version, 1, len(_CLIENT)) + _CLIENT
    message = header + body
    with socket.create_connection((HOST, port), timeout=seconds) as connection:
        connection.sendall(struct.pack(">i", len(message)) + message)
        size = int.from_bytes(_receive(connection, 4))
        if size > _LONGEST:
            raise ConnectionError("what answers there is no broker")
        reader = _Reader(_receive(connection, size))
    reader.number()
    return reader


def _receive(connection: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = connection.recv(min(size, 2**16))
        if not part:
            raise ConnectionError("the broker has hung up")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _read_cluster(reader: _Reader) -> ClusterView:
    def broker() -> int:
        found = reader.number()
        reader.text()
        reader.number()
        reader.text()
        return found

    def topic() -> tuple[str, tuple[PartitionView, ...]]:
        reader.short()
        name = reader.text()
        reader.take(1)
        return name, reader.many(lambda: _read_partition(reader, name))

    brokers = reader.many(broker)
    reader.number()
    topics = reader.many(topic)
    found = [partition for _, partitions in topics for partition in partitions]
    return ClusterView(
        tuple(sorted(brokers)),
        tuple(sorted(name for name, _ in topics)),
        tuple(sorted(found, key=lambda partition: (partition.topic, partition.number))),
    )


def _read_partition(reader: _Reader, topic: str) -> PartitionView:
    reader.short()
    number, leader = reader.number(), reader.number()
    replicas, in_sync = reader.many(reader.number), reader.many(reader.number)
    return PartitionView(topic, number, leader, replicas, in_sync)


def _read_quorum(reader: _Reader) -> QuorumView:
    def voter() -> int:
        found = reader.number()
        reader.take(8 + 1)
        return found

    if reader.short() != 0:
        raise ConnectionError("the broker does not know who controls it")
    reader.take(1)
    reader.take(reader.take(1)[0] - 1)
    reader.take(1)
    reader.number()
    if reader.short() != 0:
        raise ConnectionError("the broker does not know who controls it")
    leader = reader.number()
    reader.take(4 + 8)
    return QuorumView(leader, tuple(sorted(reader.compact_many(voter))))
