"""File events of macOS and the BSDs."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable
from typing import Any

# Linux has no kqueue, and a type checker running there would refuse its names.
_system: Any = select


class KqueueWatch:
    """Wakes within a fraction of a millisecond of a change, at no cost while nothing happens.

    The queue watches open files; one that is removed or replaced by a rename is another
    file to the kernel, so it is opened anew by its name.
    """

    __slots__ = ("_files", "_owner", "_paths", "_queue")

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._files: dict[str, int] = {}
        self._queue: Any = None
        self._open()

    def wait(self, timeout: float) -> bool:
        """Return True when a file changed since the last call, False after `timeout` seconds."""
        if self._owner != os.getpid():
            # A queue does not survive a fork.
            self.close()
            self._open()
            return True
        if len(self._files) < len(self._paths) and self._watch_again():
            return True
        deadline = time.monotonic() + timeout
        events = self._queue.control(None, len(self._paths) + 1, max(timeout, 0))
        while not events and (left := deadline - time.monotonic()) > 0:
            events = self._queue.control(None, len(self._paths) + 1, left)
        for event in events:
            if event.fflags & (_system.KQ_NOTE_DELETE | _system.KQ_NOTE_RENAME):
                self._forget(event.ident)
        return bool(events)

    def close(self) -> None:
        """Stop watching."""
        for descriptor in list(self._files.values()):
            self._forget(descriptor)
        if self._queue is not None:
            self._queue.close()
            self._queue = None

    def _open(self) -> None:
        self._owner = os.getpid()
        self._queue = _system.kqueue()
        try:
            for path in self._paths:
                self._add(path)
        except OSError:
            self.close()
            raise

    def _add(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._files[path] = descriptor
        changes = (
            _system.KQ_NOTE_WRITE
            | _system.KQ_NOTE_EXTEND
            | _system.KQ_NOTE_ATTRIB
            | _system.KQ_NOTE_DELETE
            | _system.KQ_NOTE_RENAME
        )
        event = _system.kevent(
            descriptor,
            filter=_system.KQ_FILTER_VNODE,
            flags=_system.KQ_EV_ADD | _system.KQ_EV_CLEAR,
            fflags=changes,
        )
        self._queue.control([event], 0, 0)

    def _forget(self, descriptor: int) -> None:
        for path, known in list(self._files.items()):
            if known == descriptor:
                del self._files[path]
                os.close(descriptor)

    def _watch_again(self) -> bool:
        """Open the files that had been replaced; True where one is back."""
        before = len(self._files)
        for path in self._paths:
            if path not in self._files:
                try:
                    self._add(path)
                except FileNotFoundError:
                    continue
        return len(self._files) > before
