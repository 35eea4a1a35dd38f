"""The state stores by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from penstock.errors import UsageError, did_you_mean
from penstock.inline.changelog_store import ChangelogStore
from penstock.inline.external_store import ExternalStore
from penstock.inline.local_store import LocalStore
from penstock.inline.memory_store import MemoryStore
from penstock.inline.state_store import StateStore
from penstock.log.port import Log
from penstock.model.store import store_of


def choose_store(kind: str, checkpoint: Path, log: Log, program: str, database: str) -> StateStore:
    """Open the store of a name for a program; a name that none has is refused."""
    kinds: Mapping[str, Callable[[], StateStore]] = {
        "memory": MemoryStore,
        "local": lambda: LocalStore(checkpoint),
        "changelog": lambda: ChangelogStore(LocalStore(checkpoint), log, program),
        "external": lambda: ExternalStore(store_of(database), program),
    }
    if kind not in kinds:
        raise UsageError(
            "STATE_STORE",
            f'there is no state store "{kind}"',
            hint=did_you_mean(kind, kinds) or f"Choose one of: {', '.join(kinds)}.",
        )
    return kinds[kind]()
