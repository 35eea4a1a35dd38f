"""What happened during a run, line by line: when, how grave, and in which words.

`<run>.log` holds a JSON object a line; one that has grown large becomes `<run>.log.1`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Storage

Level: TypeAlias = Literal["info", "warning", "error"]

_SUFFIX = ".log"
_OLDER = ".log.1"
_LARGEST = 1_000_000
"""Bytes after which a log begins anew; one that is full is kept beside it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a log; `at` is milliseconds since 1970."""

    at: int
    level: Level
    text: str


class JobLog:
    """The log of one run, written by its runner and read by anyone."""

    def __init__(self, storage: Storage, run: str, *, largest: int = _LARGEST) -> None:
        self._storage = storage
        self._path = f"{run}{_SUFFIX}"
        self._older = f"{run}{_OLDER}"
        self._largest = largest

    def write(self, at: int, level: Level, text: str) -> None:
        """Add a line."""
        line = json.dumps(asdict(Entry(at, level, text)), ensure_ascii=False) + "\n"
        with coded_storage_errors("writing the log of a job"):
            file = self._storage.open(self._path, create=True, write=True)
            try:
                size = file.size()
                file.write_at(size, [line.encode()])
            finally:
                file.close()
            if size + len(line) > self._largest:
                self._storage.rename(self._path, self._older)

    def entries(self) -> Iterator[Entry]:
        """Give the lines that are kept, oldest first; a torn one is left out."""
        for path in (self._older, self._path):
            with coded_storage_errors("reading the log of a job"):
                data = self._storage.read(path) if self._storage.exists(path) else b""
            for line in data.decode(errors="replace").splitlines():
                entry = _entry(line)
                if entry is not None:
                    yield entry

    def remove(self) -> None:
        """Forget all lines."""
        with coded_storage_errors("forgetting the log of a job"):
            self._storage.remove(self._path)
            self._storage.remove(self._older)


def _entry(line: str) -> Entry | None:
    try:
        told = json.loads(line)
        return Entry(int(told["at"]), told["level"], str(told["text"]))
    except (ValueError, TypeError, KeyError):
        return None
