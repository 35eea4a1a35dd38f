"""The one server of a home: who it is and where it answers, in `<home>/server/server.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import SetupError
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Lock
from penstock.serve.access.token_file import FOLDER

_NAME = "server.json"
_LOCK = "server.lock"
_PATIENCE = 0.05


class ServerFile:
    """Where the server of a home is written down; the system frees its lock when it dies."""

    def __init__(self, home: Path) -> None:
        self._storage = DiskStorage(home / FOLDER)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Be the server of a home for the length of a with block; a second one is refused."""
        with coded_storage_errors("starting a server"):
            self._storage.make_directory("")
            lock = self._storage.lock(_LOCK)
        try:
            self._take(lock)
            yield
        finally:
            lock.close()

    def write(self, url: str) -> None:
        """Write down where this process answers."""
        told = json.dumps({"pid": os.getpid(), "url": url}).encode()
        with coded_storage_errors("writing down a server"):
            self._storage.replace(_NAME, told)

    def _take(self, lock: Lock) -> None:
        with coded_storage_errors("starting a server"):
            if lock.acquire(_PATIENCE):
                return
        raise SetupError(
            "SERVER_RUNNING",
            f"{self._other()} serves this home",
            hint="Use that one, or end it first; --home names another home.",
        )

    def _other(self) -> str:
        try:
            told = json.loads(self._storage.read(_NAME))
            return f"process {told['pid']} at {told['url']}"
        except (OSError, ValueError, TypeError, KeyError):
            return "another process"
