"""The logs that must keep the port's promises: a new adapter joins by one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from penstock.clock import Clock
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.embedded.sqlite import SqliteStorage
from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.log.remote.client import RemoteLog
from penstock.log.remote.server import LogServer
from penstock.log.storage import Storage
from penstock.serve.access.guard import Guard
from penstock.serve.access.policy import Policy
from penstock.serve.access.token_file import TokenFile
from penstock.serve.api.log import log_routes
from penstock.serve.server import HttpServer

OpenLog = Callable[[], Log]
Opener = Callable[[Path, Clock], AbstractContextManager[OpenLog]]


@dataclass(frozen=True, slots=True)
class LogAdapter:
    """A kind of log: within `opener` a function opens the same log again and again."""

    name: str
    opener: Opener


def _embedded(make: Callable[[Path], Storage]) -> Opener:
    @contextmanager
    def opener(root: Path, clock: Clock) -> Iterator[OpenLog]:
        storage = make(root)
        yield lambda: EmbeddedLog(storage, clock)

    return opener


@contextmanager
def _served(root: Path, clock: Clock) -> Iterator[OpenLog]:
    home = root.parent
    with EmbeddedLog(DiskStorage(root), clock) as log, LogServer(log, home) as server:
        yield lambda: RemoteLog(server.info.address, home=home)


class WebDoor:
    """A server for many logs, one after the other: to begin and end one takes longest."""

    def __init__(self) -> None:
        self._app = FastAPI()
        self._server = HttpServer(self)

    @contextmanager
    def opener(self, root: Path, clock: Clock) -> Iterator[OpenLog]:
        """Serve a log as `penstock serve` does."""
        self._app = FastAPI()
        with EmbeddedLog(DiskStorage(root), clock) as log:
            self._app.include_router(log_routes(log), prefix="/api/v1")
            self._app.add_middleware(Guard, Policy(TokenFile(root.parent)))
            yield lambda: open_log(self._server.url)

    def close(self) -> None:
        """Let nobody in any more."""
        self._server.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the log of the moment answer."""
        await self._app(scope, receive, send)


KAFKA = "kafka"
WEB = "web"
LOG_ADAPTERS = {
    adapter.name: adapter
    for adapter in (
        LogAdapter("disk", _embedded(DiskStorage)),
        LogAdapter("memory", _embedded(lambda _: MemoryStorage())),
        LogAdapter("sqlite", _embedded(lambda root: SqliteStorage(root / "log.db"))),
        LogAdapter("socket", _served),
    )
}
