"""Waiting for records without asking again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

from penstock.log.embedded.partition import Partition
from penstock.log.storage import Storage, Watch


class Watches:
    """Keeps a thread's watch from one wait to the next: to end one takes milliseconds."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._mine = threading.local()
        # A watch goes with its thread: a system has few of them for a user.
        self._all: WeakKeyDictionary[threading.Thread, Watch] = WeakKeyDictionary()

    def on(self, paths: Iterable[str]) -> Watch:
        """The calling thread's watch on exactly these files."""
        wanted = tuple(sorted(paths))
        if getattr(self._mine, "paths", None) != wanted:
            self._mine.watch = self._storage.watch(wanted)
            self._mine.paths = wanted
            self._all[threading.current_thread()] = self._mine.watch
        watch: Watch = self._mine.watch
        return watch

    def close(self) -> None:
        """End all watches."""
        for watch in list(self._all.values()):
            watch.close()
        self._all.clear()
        self._mine = threading.local()


def something_new(positions: Mapping[Partition, int]) -> bool:
    """Whether any partition has a committed record at or after a position."""
    return any(part.reader.bounds("committed").end > offset for part, offset in positions.items())


def wait_for_news(positions: Mapping[Partition, int], watches: Watches, timeout: float) -> bool:
    """Sleep until a head changes to something readable, or the time is over."""
    deadline = time.monotonic() + timeout
    if something_new(positions):
        return True
    watch = watches.on(part.head_path for part in positions)
    while not something_new(positions):
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        watch.wait(left)
    return True
