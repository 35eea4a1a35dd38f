"""Waiting for files to change, through whatever this system has for it."""

from __future__ import annotations

import errno
import select
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from penstock.log.embedded.inotify import InotifyWatch
from penstock.log.embedded.kqueue import KqueueWatch
from penstock.log.storage import Watch

_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02
# After a long silence: 200 that look every 20 ms take a third of a processor.
_LAZIEST_PAUSE = 0.5
_LAZINESS = 0.02
_NO_EVENTS_LEFT = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.ENOMEM, errno.ENOSYS, errno.EPERM}
)


def watch_files(paths: Iterable[str]) -> Watch:
    """Watch files by kernel events, or by looking at them where events are not to be had."""
    wanted = tuple(dict.fromkeys(paths))
    try:
        if sys.platform == "linux":
            return InotifyWatch(wanted)
        if hasattr(select, "kqueue"):
            return KqueueWatch(wanted)
    except OSError as error:
        # A user has few inotify instances and watches (often 128 of the former); a log must
        # not stop when a browser or an editor has taken them.
        if error.errno not in _NO_EVENTS_LEFT:
            raise
    # The last resort: two writes of the same size within one tick of the file system's clock
    # look like one. A caller that looks again after its timeout loses time, never data.
    return PollingWatch(lambda: [_signature(path) for path in wanted])


class PollingWatch:
    """Looks for itself, ever less often while nothing happens.

    Looks are at most 20 ms apart in the first second, and half a second after a long silence.
    """

    __slots__ = ("_look", "_pause", "_seen", "_since")

    def __init__(self, look: Callable[[], object]) -> None:
        self._look = look
        self._pause: float
        self._changed(look())

    def wait(self, timeout: float) -> bool:
        """Return True when a file changed since the last call, False after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while (found := self._look()) == self._seen:
            now = time.monotonic()
            if now >= deadline:
                return False
            time.sleep(min(self._pause, deadline - now))
            longest = max(_LONGEST_PAUSE, min(_LAZIEST_PAUSE, _LAZINESS * (now - self._since)))
            self._pause = min(self._pause * 1.5, longest)
        self._changed(found)
        return True

    def _changed(self, found: object) -> None:
        self._seen = found
        self._since = time.monotonic()
        self._pause = _FIRST_PAUSE

    def close(self) -> None:
        """Stop watching."""


def _signature(path: str) -> tuple[int, int, int] | None:
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
