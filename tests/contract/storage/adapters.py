"""The storages that must keep the port's promises: a new one joins by one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.embedded.sqlite import SqliteStorage
from penstock.log.storage import Storage
from penstock.testing.faults import FaultPlan, FaultyStorage, PowerCutStorage


@dataclass(frozen=True, slots=True)
class Adapter:
    name: str
    make: Callable[[Path], Storage]
    other_processes: bool = True


ADAPTERS = {
    adapter.name: adapter
    for adapter in (
        Adapter("disk", lambda root: DiskStorage(root / "files")),
        Adapter("memory", lambda _: MemoryStorage(), other_processes=False),
        Adapter("sqlite", lambda root: SqliteStorage(root / "files.db")),
        Adapter("faulty", lambda root: FaultyStorage(DiskStorage(root / "files"), FaultPlan())),
        Adapter("power cut", lambda _: PowerCutStorage(), other_processes=False),
    )
}
