"""The logs that must keep the port's promises: a new adapter joins by one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from penstock.clock import Clock
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.embedded.sqlite import SqliteStorage
from penstock.log.port import Log
from penstock.log.remote.client import RemoteLog
from penstock.log.remote.server import LogServer
from penstock.log.storage import Storage

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


LOG_ADAPTERS = {
    adapter.name: adapter
    for adapter in (
        LogAdapter("disk", _embedded(DiskStorage)),
        LogAdapter("memory", _embedded(lambda _: MemoryStorage())),
        LogAdapter("sqlite", _embedded(lambda root: SqliteStorage(root / "log.db"))),
        LogAdapter("socket", _served),
    )
}
