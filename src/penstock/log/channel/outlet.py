"""The sender's end of one connection: the room left at the receiver, the bytes not yet written."""

from __future__ import annotations

import socket
from typing import Self

from penstock.errors import ChannelError
from penstock.log.channel.address import LOOPBACK, Address
from penstock.log.channel.frame import (
    FRAME_HEAD_BYTES,
    SYNC_FRAME,
    Ack,
    Gap,
    decode_last_ack,
    encode_gap,
    encode_hello,
)

_CONNECT_SECONDS = 1.0
_ACKS_BYTES = 4096
_WRITE_BYTES = 1024 * 1024


class Outlet:
    """Pushes frames to one receiver, as far as that receiver has given room.

    What is pushed waits in memory until `write`; the receiver's window bounds it.
    """

    __slots__ = (
        "_acks",
        "_connection",
        "_gap_told",
        "_pending",
        "_sent_bytes",
        "ack",
        "gap",
        "gone",
        "receiver_id",
        "sent",
        "written_at",
    )

    def __init__(self, receiver_id: str, connection: socket.socket, limit: Ack) -> None:
        self.receiver_id = receiver_id
        self.ack = limit
        self.gap = self._gap_told = Gap(0, 0)
        self.gone = False
        self.sent = 0
        self.written_at = 0.0
        self._sent_bytes = 0
        self._connection = connection
        self._pending = bytearray()
        self._acks = bytearray()

    @classmethod
    def connect(cls, address: Address) -> Self:
        """Reach a receiver; its first room is in the address, so nothing is waited for."""
        try:
            connection = socket.create_connection((LOOPBACK, address.port), _CONNECT_SECONDS)
        except OSError as failure:
            raise ChannelError(
                "CHANNEL_CONNECT",
                f"a receiver on port {address.port} does not answer: {failure}",
                hint="It may be starting, stopping or stopped in a debugger; it is tried again.",
            ) from failure
        connection.setblocking(False)  # noqa: FBT003  # the socket module's own signature
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        outlet = cls(address.receiver_id, connection, Ack(0, *address.window))
        outlet._pending += encode_hello(address.token)
        return outlet

    def fileno(self) -> int:
        """The descriptor to wait on; -1 once it is closed."""
        return self._connection.fileno()

    @property
    def has_room(self) -> bool:
        """Whether the receiver takes one more record."""
        ack = self.ack
        return not self.gone and self.sent < ack.record_limit and self._sent_bytes < ack.byte_limit

    @property
    def pending_bytes(self) -> int:
        """How much is pushed and not yet written."""
        return len(self._pending)

    def push(self, frame: bytes) -> None:
        """Add one record to what is to be written."""
        if self.gap is not self._gap_told:
            self._tell_gap()
        self._pending += frame
        self.sent += 1
        self._sent_bytes += len(frame) - FRAME_HEAD_BYTES

    def skip(self, *, dropped: int = 0, spilled: int = 0) -> None:
        """Take note of a record that this receiver will not get."""
        self.gap = Gap(self.gap.dropped + dropped, self.gap.spilled + spilled)

    def ask(self) -> None:
        """Ask the receiver to confirm what it has had, and tell it what it has missed."""
        if self.gap is not self._gap_told:
            self._tell_gap()
        if self.ack.arrived < self.sent:
            self._pending += SYNC_FRAME

    def _tell_gap(self) -> None:
        self._pending += encode_gap(self.gap)
        self._gap_told = self.gap

    def write(self, now: float) -> None:
        """Write as much as the socket takes; OSError where the receiver is gone."""
        pending = self._pending
        self.written_at = now
        while pending:
            part = pending if len(pending) <= _WRITE_BYTES else pending[:_WRITE_BYTES]
            try:
                written = self._connection.send(part)
                del pending[:written]
            except BlockingIOError:
                return
            except BaseException:
                # An interrupt between the two lines would let the stream go on within a frame.
                self.close()
                raise

    def read(self) -> None:
        """Take in acknowledgements; OSError where the receiver is gone."""
        chunk = self._connection.recv(_ACKS_BYTES)
        if not chunk:
            raise ConnectionResetError
        self._acks += chunk
        self.ack = decode_last_ack(self._acks) or self.ack

    def close(self) -> None:
        """Hang up."""
        self.gone = True
        self._connection.close()
