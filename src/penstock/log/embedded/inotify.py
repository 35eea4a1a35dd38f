"""File events of Linux, which the standard library does not offer."""

from __future__ import annotations

import ctypes
import functools
import os
import select
import struct
import time
from collections.abc import Iterable

_MODIFY = 0x2
_MOVED_FROM, _MOVED_TO = 0x40, 0x80
_CREATE, _DELETE = 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_DIRECTORY = 0x1000000

_WANTED = (
    _MODIFY | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
) | _ONLY_DIRECTORY
_ABOUT_THE_DIRECTORY = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED
_HEADER = struct.Struct("iIII")
_BUFFER = 64 * 1024


class InotifyWatch:
    """Wakes within a fraction of a millisecond of a change, at no cost while nothing happens.

    It watches the directories, not the files, so that a file replaced by a rename (which
    is another file to the kernel) is still noticed. A directory that vanishes counts as a
    change and is watched again when it is back.
    """

    __slots__ = ("_descriptor", "_names", "_owner", "_poll", "_watched")

    def __init__(self, paths: Iterable[str]) -> None:
        self._names: dict[str, set[bytes]] = {}
        for path in paths:
            directory, name = os.path.split(path)
            self._names.setdefault(directory or ".", set()).add(os.fsencode(name))
        self._descriptor = -1
        self._open()

    def wait(self, timeout: float) -> bool:
        """Return True when a file changed since the last call, False after `timeout` seconds."""
        if self._owner != os.getpid():
            # Parent and child of a fork would take the events from one another.
            self._open()
            return True
        if len(self._watched) < len(self._names) and self._watch_again():
            return True
        deadline = time.monotonic() + timeout
        while True:
            if self._poll.poll(max(timeout, 0) * 1000) and self._drain():
                return True
            timeout = deadline - time.monotonic()
            if timeout <= 0:
                return False

    def close(self) -> None:
        """Stop watching."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()

    def _open(self) -> None:
        self.close()
        self._owner = os.getpid()
        self._watched: dict[int, set[bytes]] = {}
        self._descriptor = _call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)
        for directory in self._names:
            self._add(directory)

    def _add(self, directory: str) -> None:
        watch = _call("inotify_add_watch", self._descriptor, os.fsencode(directory), _WANTED)
        # Two spellings of one directory share a watch.
        self._watched[watch] = self._watched.get(watch, set()) | self._names[directory]

    def _watch_again(self) -> bool:
        """Take up the directories that had vanished; True where one is back."""
        before = len(self._watched)
        for directory in self._names:
            try:
                self._add(directory)
            except (FileNotFoundError, NotADirectoryError):
                continue
        return len(self._watched) > before

    def _drain(self) -> bool:
        """Take every event that is there; True where one is about a watched file."""
        changed = False
        while data := self._read():
            position = 0
            while position < len(data):
                watch, mask, _, length = _HEADER.unpack_from(data, position)
                position += _HEADER.size + length
                name = data[position - length : position].rstrip(b"\0")
                changed |= self._concerns(watch, mask, name)
        return changed

    def _concerns(self, watch: int, mask: int, name: bytes) -> bool:
        if mask & _OVERFLOW:
            return True
        names = self._watched.get(watch)
        if names is None:
            return False
        if mask & _IGNORED:
            del self._watched[watch]
        return bool(mask & _ABOUT_THE_DIRECTORY) or name in names

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _BUFFER)
        except BlockingIOError:
            return b""


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(function: str, *arguments: int | bytes) -> int:
    result = int(getattr(_library(), function)(*arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), *[a for a in arguments if isinstance(a, bytes)])
    return result
