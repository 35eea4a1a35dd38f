"""One connection of a client to a log's server: a question at a time, each with its answer."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from penstock.log.remote.address import LOOPBACK
from penstock.log.remote.failure import decode_failure
from penstock.log.remote.wire import (
    Message,
    encode_hello,
    hung_up,
    receive_message,
    send_message,
)

_CONNECT_SECONDS = 5.0


class Connection:
    """A socket whose server knows this client; after any failure it is closed.

    Failures of the connection are OSErrors, refusals of the server our own errors.
    """

    def __init__(self, port: int, token: bytes) -> None:
        self._busy = threading.Lock()
        self._closed = False
        self._socket = socket.create_connection((LOOPBACK, port), timeout=_CONNECT_SECONDS)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.sendall(encode_hello(token))
            _check(self._receive())
        except BaseException:
            self.close()
            raise

    @property
    def is_usable(self) -> bool:
        """Whether a question may be asked: not closed here, nor, as far as is known, there."""
        return not self._closed and not hung_up(self._socket)

    def ask(self, question: Message, *, timeout: float) -> Message:
        """Send a question and give its answer; raise what the server refused."""
        with self._busy:
            try:
                self._socket.settimeout(timeout)
                send_message(self._socket, question)
                answer = self._receive()
            except BaseException:
                # Also where an interrupt came: the answer would be taken for that of the next.
                self._closed = True
                self._socket.close()
                raise
        return _check(answer)

    def close(self) -> None:
        """Hang up, ending what another thread waits for; the server ends what was open."""
        self._closed = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with self._busy:
            self._socket.close()

    def abandon(self) -> None:
        """Let go of the socket in a forked child, without a word: it is the parent's."""
        self._closed = True
        self._busy = threading.Lock()
        self._socket.close()

    def _receive(self) -> Message:
        answer = receive_message(self._socket)
        if answer is None:
            raise ConnectionError("the server hung up")
        return answer


def _check(answer: Message) -> Message:
    if "error" in answer.header:
        raise decode_failure(answer.header["error"])
    return answer
