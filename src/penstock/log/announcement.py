"""A file that says something for as long as the process that wrote it lives.

It is readable by its owner only, so it may hold a secret, and its writer keeps it locked: a
file that can be locked belongs to a process that died.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

_UNFINISHED = "."
_LONGEST = 64 * 1024


class Announcement:
    """Keeps a file visible to its readers from construction until `withdraw`."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: Path, content: bytes) -> None:
        self._path = path
        self._descriptor = -1
        unfinished = path.with_name(f"{_UNFINISHED}{path.name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._descriptor = _create_locked(unfinished)
            os.write(self._descriptor, content)
            # Readers see the name only with the content complete and the lock held.
            unfinished.rename(path)
        except OSError:
            self.withdraw()
            raise

    def withdraw(self) -> None:
        """Remove the file; withdrawing twice is harmless."""
        if self._descriptor < 0:
            return
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self.abandon()

    def abandon(self) -> None:
        """Let go of the lock and leave the file, as a process does that dies."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def announced(directory: Path) -> list[str]:
    """The names of the files in a directory, those of dead processes included."""
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(_UNFINISHED)]
    except OSError:
        return []


def read_announcement(path: Path) -> bytes | None:
    """Give a file's content; None where its writer is gone, whose file is removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
        if _is_stale(descriptor):
            _remove(path)
            return None
        return os.read(descriptor, _LONGEST)
    finally:
        os.close(descriptor)


def remove_stale(directory: Path) -> int:
    """Remove what processes that died left behind; give the number of files."""
    with suppress(OSError):
        return sum(_remove_if_stale(path) for path in directory.iterdir())
    return 0


def _create_locked(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            os.close(descriptor)
            raise
        if os.fstat(descriptor).st_nlink:
            return descriptor
        # Another process tidying up took the file for a dead one between our two calls.
        os.close(descriptor)


def _remove_if_stale(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _is_stale(descriptor) and _remove(path)
    finally:
        os.close(descriptor)


def _is_stale(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _remove(path: Path) -> bool:
    with suppress(OSError):
        path.unlink()
        return True
    return False
