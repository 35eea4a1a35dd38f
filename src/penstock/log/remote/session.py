"""One connection of a log's server, in a thread of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from penstock.errors import LogError
from penstock.log.port import Log, Membership
from penstock.log.remote.clerk import Clerk
from penstock.log.remote.failure import encode_failure
from penstock.log.remote.wire import (
    Message,
    hung_up,
    receive_hello,
    receive_message,
    send_message,
)

_HELLO_SECONDS = 5.0


class Session:
    """Reads questions and sends answers; a faulty client loses only this connection."""

    def __init__(
        self, connection: socket.socket, token: bytes, log: Log, seats: dict[str, Membership]
    ) -> None:
        self._connection = connection
        self._token = token
        self._clerk = Clerk(log, seats, lambda: hung_up(connection))
        self._stopping = False
        self._thread: threading.Thread | None = None

    def start(self, on_end: Callable[[Session], None]) -> None:
        """Serve until the client hangs up or `stop`."""
        self._thread = threading.Thread(
            target=self._run, args=(on_end,), name="penstock-session", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Take no more questions; the one under way is still answered."""
        self._stopping = True
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RD)

    def join(self, timeout: float) -> None:
        """Wait for the answer under way, for some time; then hang up."""
        if self._thread is None:
            return
        self._thread.join(timeout)
        if self._thread.is_alive():
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)

    def abandon(self) -> None:
        """Let go of the socket in a forked child, without a word: it is the parent's."""
        self._connection.close()

    def _run(self, on_end: Callable[[Session], None]) -> None:
        try:
            self._greet()
            while not self._stopping:
                question = receive_message(self._connection)
                if question is None:
                    break
                send_message(self._connection, self._clerk.answer(question))
        except (OSError, LogError):
            # Lost, or no client of ours: either way there is nobody to tell.
            pass
        finally:
            self._clerk.close()
            self._connection.close()
            on_end(self)

    def _greet(self) -> None:
        self._connection.settimeout(_HELLO_SECONDS)
        try:
            receive_hello(self._connection, self._token)
        except LogError as refusal:
            refuse(self._connection, refusal)
            raise
        send_message(self._connection, Message({"result": None}))
        self._connection.settimeout(None)


def refuse(connection: socket.socket, refusal: LogError) -> None:
    """Tell a client why it is not served, where it still listens."""
    with suppress(OSError):
        send_message(connection, Message({"error": encode_failure(refusal)}))
