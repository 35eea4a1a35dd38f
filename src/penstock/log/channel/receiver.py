"""Takes the records that senders push to a channel while it is open."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from penstock.errors import ChannelError, UsageError
from penstock.log.announcement import remove_stale
from penstock.log.channel.address import (
    LOOPBACK,
    Address,
    Registration,
    Window,
    channel_directory,
)
from penstock.log.channel.fork import abandon_in_child
from penstock.log.channel.frame import TOKEN_BYTES
from penstock.log.channel.inbox import Inbox
from penstock.log.channel.intake import Intake
from penstock.log.channel.waker import no_sockets
from penstock.log.record import Record

_BACKLOG = 128


class ReceiverStats(NamedTuple):
    """What a receiver has had: all counts are of records, since it was opened.

    `dropped` and `spilled` are what senders did not push here for want of room, as far as
    they have told: with the next record they push, when they flush, when they close.
    `refused` counts connections closed for what they sent.
    """

    received: int
    buffered: int
    dropped: int
    spilled: int
    senders: int
    refused: int


class ChannelReceiver:
    """Takes the records of one channel, from all its senders, from now until it is closed.

    The offset of a record is its number in the order of arrival here, from 0; the records
    of one sender arrive in the order it sent them. `buffer_records` and `buffer_bytes` bound
    what each sender may have waiting here; beyond that the sender's policy decides.
    """

    def __init__(
        self,
        home: Path,
        name: str,
        *,
        buffer_records: int = 10_000,
        buffer_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        directory = channel_directory(home, name)
        if buffer_records < 1 or buffer_bytes < 1:
            raise UsageError(
                "CHANNEL_BUFFER",
                f"a buffer of {buffer_records} records and {buffer_bytes} bytes holds nothing",
                hint="Give buffer_records and buffer_bytes above 0.",
            )
        self.name = name
        self._inbox = Inbox()
        self._intake = _listen(name, Window(buffer_records, buffer_bytes), self._inbox)
        try:
            remove_stale(directory)
            self._registration = Registration(directory, self._intake.address)
        except ChannelError:
            self._intake.close()
            raise
        abandon_in_child(self, ChannelReceiver._abandon)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def poll(self, timeout: float | None = 1.0, *, limit: int | None = None) -> list[Record]:
        """Give what has arrived, waiting up to `timeout` seconds for the first record.

        None waits for ever. After `close` what had arrived can still be had; then it is an error.
        """
        arrivals = self._inbox.take(limit, timeout)
        if arrivals:
            self._intake.taken(arrivals)
        elif self._inbox.finished:
            raise ChannelError(
                "CHANNEL_CLOSED",
                f'the receiver of channel "{self.name}" is closed',
                hint="Open a new receiver; a forked child needs one of its own, too.",
            )
        return [arrival.record for arrival in arrivals]

    def __iter__(self) -> Iterator[Record]:
        """Give the records one by one as they arrive, until the receiver is closed."""
        while arrivals := self._inbox.take(1, None):
            self._intake.taken(arrivals)
            yield arrivals[0].record

    async def __aiter__(self) -> AsyncIterator[Record]:
        """Give the records one by one without holding up the event loop."""
        while not self._inbox.finished:
            if arrivals := self._inbox.take(1, 0):
                self._intake.taken(arrivals)
                yield arrivals[0].record
            else:
                await self._arrival()

    async def _arrival(self) -> None:
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()

        def announce() -> None:
            # The loop may have ended while its last wait was still registered here.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(arrived.set)

        self._inbox.call_when_ready(announce)
        await arrived.wait()

    @property
    def stats(self) -> ReceiverStats:
        """What has come so far and what waits to be polled."""
        intake = self._intake
        return ReceiverStats(
            received=intake.received,
            buffered=len(self._inbox),
            dropped=intake.gap.dropped,
            spilled=intake.gap.spilled,
            senders=intake.senders,
            refused=intake.refused,
        )

    @property
    def faults(self) -> tuple[ChannelError, ...]:
        """Why connections were closed by this end; the latest few, oldest first."""
        return tuple(self._intake.faults)

    def close(self) -> None:
        """Go offline: senders see this receiver no more; closing twice is harmless."""
        self._registration.withdraw()
        self._intake.close()

    def _abandon(self) -> None:
        self._registration.abandon()
        self._intake.abandon()
        # Another thread may have held the lock of the old one when the process forked.
        self._inbox = Inbox()
        self._inbox.close()


def _listen(name: str, window: Window, inbox: Inbox) -> Intake:
    with ExitStack() as undo:
        try:
            listener = undo.enter_context(socket.create_server((LOOPBACK, 0), backlog=_BACKLOG))
            listener.setblocking(False)  # noqa: FBT003  # the socket module's own signature
            receiver_id, token = secrets.token_hex(8), secrets.token_bytes(TOKEN_BYTES)
            address = Address(receiver_id, listener.getsockname()[1], token, window)
            intake = Intake(listener, name, address, inbox)
        except OSError as failure:
            raise no_sockets(name, failure) from failure
        undo.pop_all()
    return intake
