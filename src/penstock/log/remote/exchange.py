"""A client's connections to a log's server, shared by all its threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from penstock.errors import LogError, StorageError
from penstock.log.channel.fork import abandon_in_child
from penstock.log.embedded.nodes import token_of
from penstock.log.remote.address import port_of, server_address
from penstock.log.remote.connection import Connection
from penstock.log.remote.wire import Message

UNREACHABLE = "LOG_UNREACHABLE"
_ADVICE = "Start one (penstock log serve) or see where they are (penstock log nodes)"


class Line(Protocol):
    """A connection: a question at a time, each with its answer.

    Failures of the connection are OSErrors, refusals of the server our own errors.
    """

    @property
    def is_usable(self) -> bool:
        """Whether a question may be asked."""
        ...

    def ask(self, question: Message, *, timeout: float) -> Message:
        """Send a question and give its answer."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...

    def abandon(self) -> None:
        """Let go of it in a forked child."""
        ...


Connect: TypeAlias = Callable[[], Line]
"""Opens a connection; an OSError says that nobody answers."""


def socket_connect(address: str, home: Path) -> Connect:
    """Give what connects to a server of a home on this machine."""
    port = port_of(address)

    def connect() -> Line:
        # Looked up each time: a server that was started anew has a new token.
        token = token_of(home, server_address(port))
        if token is None:
            message = f'none of "{home}" listens there'
            raise ConnectionError(message)
        return Connection(port, token)

    return connect


class Exchange:
    """Asks a server on whichever connection is free, and opens one where none is."""

    def __init__(
        self, address: str, connect: Connect, patience: timedelta, *, advice: str = _ADVICE
    ) -> None:
        self.address = address
        """Where the server listens."""
        self._connect_to = connect
        self._advice = advice
        self._patience = patience.total_seconds()
        self._guard = threading.Lock()
        self._idle: list[Line] = []
        self._open: set[Line] = set()
        self._closed = False
        abandon_in_child(self, Exchange._abandon)

    def ask(
        self,
        method: str,
        arguments: dict[str, Any],
        rows: pa.Buffer | None = None,
        *,
        repeatable: bool,
        waiting: float = 0.0,
    ) -> Message:
        """Ask on any connection; one that breaks is replaced once where asking twice is harmless.

        `waiting` is how long the server may take on purpose before it answers.
        """
        question = Message({"method": method, "arguments": arguments}, rows)
        try:
            return self._ask_once(question, waiting)
        except StorageError as failure:
            if failure.code != UNREACHABLE or not repeatable:
                raise
        return self._ask_once(question, waiting)

    def ask_on(self, connection: Line, question: Message, *, waiting: float = 0) -> Message:
        """Ask on a connection that was taken."""
        try:
            return connection.ask(question, timeout=self._patience + waiting)
        except OSError as failure:
            raise self._unreachable(str(failure)) from failure

    def take(self) -> Line:
        """Give a connection for the caller alone, until `give_back`."""
        while True:
            with self._guard:
                if self._closed:
                    raise LogError(
                        "LOG_CLOSED",
                        f'the log at "{self.address}" was closed by this client',
                        hint="Open it anew.",
                    )
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect()
            if connection.is_usable:
                return connection
            self.discard(connection)

    def give_back(self, connection: Line) -> None:
        """Keep a connection for the next question, unless it is broken."""
        with self._guard:
            if connection in self._open and not self._closed and connection.is_usable:
                self._idle.append(connection)
                return
        self.discard(connection)

    def discard(self, connection: Line) -> None:
        """Hang up a connection that was taken; the server ends what was opened on it."""
        with self._guard:
            self._open.discard(connection)
        connection.close()

    def close(self) -> None:
        """Hang up everywhere; closing twice is harmless."""
        with self._guard:
            self._closed = True
            connections, self._open = self._open, set()
            self._idle.clear()
        for connection in connections:
            connection.close()

    def _ask_once(self, question: Message, waiting: float) -> Message:
        connection = self.take()
        try:
            return self.ask_on(connection, question, waiting=waiting)
        finally:
            self.give_back(connection)

    def _connect(self) -> Line:
        try:
            connection = self._connect_to()
        except OSError as failure:
            raise self._unreachable(str(failure)) from failure
        with self._guard:
            if not self._closed:
                self._open.add(connection)
                return connection
        connection.close()
        raise self._unreachable("this client is closed")

    def _unreachable(self, why: str) -> StorageError:
        return StorageError(
            "LOG_UNREACHABLE",
            f'the log\'s server at "{self.address}" does not answer: {why}',
            hint=f"{self._advice}; a write that was under way may have been done.",
        )

    def _abandon(self) -> None:
        self._guard = threading.Lock()
        for connection in self._open:
            connection.abandon()
        self._open = set()
        self._idle = []
