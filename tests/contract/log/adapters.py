"""The logs that must keep the port's promises: a new adapter joins by one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.clock import Clock
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.embedded.sqlite import SqliteStorage
from penstock.log.port import Log
from penstock.log.storage import Storage

OpenLog = Callable[[], Log]


@dataclass(frozen=True, slots=True)
class LogAdapter:
    """A kind of log: `opener` gives a function that opens the same log again and again."""

    name: str
    opener: Callable[[Path, Clock], OpenLog]


def _embedded(make: Callable[[Path], Storage]) -> Callable[[Path, Clock], OpenLog]:
    def opener(root: Path, clock: Clock) -> OpenLog:
        storage = make(root)
        return lambda: EmbeddedLog(storage, clock)

    return opener


LOG_ADAPTERS = {
    adapter.name: adapter
    for adapter in (
        LogAdapter("disk", _embedded(DiskStorage)),
        LogAdapter("memory", _embedded(lambda _: MemoryStorage())),
        LogAdapter("sqlite", _embedded(lambda root: SqliteStorage(root / "log.db"))),
    )
}
