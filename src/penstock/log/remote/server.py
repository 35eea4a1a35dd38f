"""Offers a log to clients on this machine: over TCP on loopback, for those who know the token."""

from __future__ import annotations

import secrets
import selectors
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import LogError, PenstockError
from penstock.log.channel.fork import abandon_in_child
from penstock.log.channel.waker import Waker
from penstock.log.embedded.home import open_home
from penstock.log.embedded.nodes import NodeAnnouncement, NodeInfo
from penstock.log.port import Log, Membership
from penstock.log.remote.address import LOOPBACK, server_address
from penstock.log.remote.session import Session, refuse
from penstock.log.remote.wire import TOKEN_BYTES

_BACKLOG = 128
_LAST_PORT = 65535
_ACCEPT_PAUSE_SECONDS = 0.25
_STOP_SECONDS = 5.0


class LogServer:
    """Serves a log from construction until `close`; it is in the view of its home's nodes."""

    def __init__(
        self,
        log: Log,
        home: Path,
        *,
        port: int = 0,
        most_connections: int = 1024,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._log = log
        self._most_connections = most_connections
        self._token = secrets.token_bytes(TOKEN_BYTES)
        self._seats: dict[str, Membership] = {}
        self._sessions: set[Session] = set()
        self._guard = threading.Lock()
        self._closed = False
        self._listener = _listen(port)
        self._waker = Waker()
        try:
            address = server_address(self._listener.getsockname()[1])
            self._announcement = NodeAnnouncement(home, address, self._token, clock=clock)
        except PenstockError:
            self._release()
            raise
        self._thread = threading.Thread(target=self._run, name="penstock-server", daemon=True)
        self._thread.start()
        abandon_in_child(self, LogServer._abandon)

    @property
    def info(self) -> NodeInfo:
        """What the view of nodes shows of this server."""
        return self._announcement.info

    def close(self) -> None:
        """Answer what is under way, then hang up everywhere; closing twice is harmless."""
        self._announcement.withdraw()
        if self._closed:
            return
        self._closed = True
        self._waker.ring()
        self._thread.join()
        self._release()
        with self._guard:
            sessions = list(self._sessions)
        for session in sessions:
            session.stop()
        deadline = time.monotonic() + _STOP_SECONDS
        for session in sessions:
            session.join(max(0.0, deadline - time.monotonic()))

    def __enter__(self) -> Self:
        """Serve for the length of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._waker, selectors.EVENT_READ)
            selector.register(self._listener, selectors.EVENT_READ)
            while not self._closed:
                for key, _ in selector.select():
                    if key.fileobj is self._listener:
                        self._accept()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        except OSError:
            # Out of descriptors: the listener stays ready, so leave it alone for a while.
            time.sleep(_ACCEPT_PAUSE_SECONDS)
            return
        connection.setblocking(True)  # noqa: FBT003  # the socket module's own signature
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self._serve(connection):
            with connection:
                refuse(connection, self._busy())

    def _serve(self, connection: socket.socket) -> bool:
        """Give a connection its thread; False where there are as many as there may be."""
        session = Session(connection, self._token, self._log, self._seats)
        with self._guard:
            if len(self._sessions) >= self._most_connections:
                return False
            self._sessions.add(session)
        try:
            session.start(self._forget)
        except RuntimeError:
            # The system gives no more threads.
            self._forget(session)
            return False
        return True

    def _forget(self, session: Session) -> None:
        with self._guard:
            self._sessions.discard(session)

    def _busy(self) -> LogError:
        return LogError(
            "LOG_BUSY",
            f"the log's server has {len(self._sessions)} connections and takes no more",
            hint="Close logs that are not used, or start another server for the same home.",
        )

    def _release(self) -> None:
        self._listener.close()
        self._waker.close()

    def _abandon(self) -> None:
        self._closed = True
        self._announcement.abandon()
        self._release()
        for session in self._sessions:
            session.abandon()
        self._sessions = set()


def serve_log(home: Path, *, port: int, on_ready: Callable[[NodeInfo], None]) -> None:
    """Offer a home's log until the process is interrupted; say where when it can be used."""
    with open_home(home) as log, LogServer(log, home, port=port) as server:
        on_ready(server.info)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= _LAST_PORT:
        raise _no_port(port, f"ports are 0 to {_LAST_PORT}")
    try:
        listener = socket.create_server((LOOPBACK, port), backlog=_BACKLOG)
    except OSError as failure:
        raise _no_port(port, str(failure.strerror)) from failure
    listener.setblocking(False)  # noqa: FBT003  # the socket module's own signature
    return listener


def _no_port(port: int, why: str) -> LogError:
    return LogError(
        "LOG_PORT",
        f"the log's server cannot listen on port {port}: {why}",
        hint="Choose another port, or 0 for any that is free.",
    )
