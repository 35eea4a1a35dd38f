"""A bell that ends another thread's wait on sockets."""

from __future__ import annotations

import socket
from contextlib import suppress

from penstock.errors import ChannelError


class Waker:
    """Makes a selector return at once; many rings before an answer cost one."""

    __slots__ = ("_inner", "_outer", "_rung")

    def __init__(self) -> None:
        self._inner, self._outer = socket.socketpair()
        self._inner.setblocking(False)  # noqa: FBT003  # the socket module's own signature
        self._outer.setblocking(False)  # noqa: FBT003
        self._rung = False

    def fileno(self) -> int:
        """The descriptor to wait on for reading."""
        return self._inner.fileno()

    def ring(self) -> None:
        """Wake the waiting thread, now or when it next waits."""
        if not self._rung:
            self._rung = True
            with suppress(OSError):
                self._outer.send(b"\0")

    def answer(self) -> None:
        """Take note of the rings; whatever they announced must be looked at after this call."""
        with suppress(BlockingIOError):
            self._inner.recv(16)
        # Only now: a ring in between leaves no byte, and its news is read after this line.
        self._rung = False

    def close(self) -> None:
        """Let go of both ends."""
        self._inner.close()
        self._outer.close()


def no_sockets(channel: str, failure: OSError) -> ChannelError:
    """The error of a machine that gives no more sockets."""
    return ChannelError(
        "CHANNEL_SOCKET",
        f'channel "{channel}" cannot open its sockets: {failure.strerror}',
        hint="Raise the limit of open files (ulimit -n), or close channels that are not used.",
    )
