"""The receiver's end of one connection: what has come, what was taken, what may still come."""

from __future__ import annotations

import hmac
import socket
import time
from collections.abc import Iterator
from typing import NamedTuple

from penstock.errors import ChannelError
from penstock.log.channel.address import Address
from penstock.log.channel.frame import (
    GAP,
    HELLO_BYTES,
    RECORD,
    SYNC,
    Ack,
    FrameSplitter,
    Gap,
    decode_gap,
    decode_hello,
    decode_record,
    encode_ack,
    malformed,
)
from penstock.log.record import Record

_CHUNK_BYTES = 256 * 1024
_NO_GAP = Gap(0, 0)


class Arrival(NamedTuple):
    """A record, the connection that brought it and the room it takes there."""

    record: Record
    inlet: Inlet
    size: int


class Inlet:
    """Reads one sender, who may not have more waiting here than the window it was given.

    `taken_records` and `taken_bytes` belong to the inbox, all else to the thread that reads.
    """

    __slots__ = (
        "_address",
        "_arrived_bytes",
        "_hello",
        "_limit",
        "_outgoing",
        "_splitter",
        "_sync_asked",
        "_topic",
        "arrived_records",
        "connected_at",
        "connection",
        "gap",
        "greeted",
        "taken_bytes",
        "taken_records",
    )

    def __init__(self, connection: socket.socket, topic: str, address: Address) -> None:
        self.connection = connection
        self.connected_at = time.monotonic()
        self.greeted = False
        self.gap = _NO_GAP
        self.arrived_records = self.taken_records = self.taken_bytes = 0
        self._arrived_bytes = 0
        self._topic = topic
        self._address = address
        self._limit = Ack(0, *address.window)
        self._hello = b""
        self._splitter = FrameSplitter()
        self._sync_asked = False
        self._outgoing = b""

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self.connection.fileno()

    def receive(self, offsets: Iterator[int], arrivals: list[Arrival]) -> bool:
        """Read once and append what came; False at the end of the connection."""
        chunk = self.connection.recv(_CHUNK_BYTES)
        if not chunk:
            return False
        if not self.greeted:
            chunk = self._greet(chunk)
        for kind, data, start, end in self._splitter.frames(chunk):
            if kind == RECORD:
                self._admit(end - start)
                parts = decode_record(data, start, end)
                record = Record(self._topic, 0, next(offsets), *parts)
                arrivals.append(Arrival(record, self, end - start))
            elif kind == SYNC:
                self._sync_asked = True
            elif kind == GAP:
                self.gap = decode_gap(data, start, end)
            else:
                raise malformed(f"kind {kind} does not exist")
        return True

    def _greet(self, chunk: bytes) -> bytes:
        self._hello += chunk
        if len(self._hello) < HELLO_BYTES:
            return b""
        hello, rest = self._hello[:HELLO_BYTES], self._hello[HELLO_BYTES:]
        if not hmac.compare_digest(decode_hello(hello), self._address.token):
            raise ChannelError(
                "CHANNEL_TOKEN",
                f'a sender to channel "{self._topic}" did not know the token of this receiver',
                hint="Another program or user connected to the port; the connection was closed.",
            )
        self.greeted, self._hello = True, b""
        return rest

    def _admit(self, size: int) -> None:
        limit = self._limit
        if self.arrived_records >= limit.record_limit or self._arrived_bytes >= limit.byte_limit:
            raise ChannelError(
                "CHANNEL_OVERRUN",
                f'a sender to channel "{self._topic}" sent more than the room it was given',
                hint="The connection was closed; run the same release of penstock at both ends.",
            )
        self.arrived_records += 1
        self._arrived_bytes += size

    @property
    def owes_ack(self) -> bool:
        """Whether the sender asked, or is past half of its room while there is more to give."""
        if self._sync_asked or self._outgoing:
            return True
        arrived, limit, window = self.arrived_records, self._limit, self._address.window
        records_low = 2 * (limit.record_limit - arrived) <= window.records
        bytes_low = 2 * (limit.byte_limit - self._arrived_bytes) <= window.bytes
        more_records = self.taken_records + window.records > limit.record_limit
        more_bytes = self.taken_bytes + window.bytes > limit.byte_limit
        return (records_low and more_records) or (bytes_low and more_bytes)

    def acknowledge(self) -> bool:
        """Tell the sender what came and how far it may go; False where the socket is full."""
        if not self._outgoing:
            window = self._address.window
            records = self.taken_records + window.records
            self._limit = Ack(self.arrived_records, records, self.taken_bytes + window.bytes)
            self._outgoing = encode_ack(self._limit)
            self._sync_asked = False
        try:
            sent = self.connection.send(self._outgoing)
        except BlockingIOError:
            return False
        self._outgoing = self._outgoing[sent:]
        return not self._outgoing
