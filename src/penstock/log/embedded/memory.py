"""The log's storage inside one process: for tests and for logs that may be forgotten."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterable, Sequence

from penstock.log.storage import Bytes


class MemoryStorage:
    """A tree of files that threads share and that ends with the process.

    A file removed or replaced while open stays readable through the open file, as on disk.
    """

    __slots__ = ("_changed", "_directories", "_files", "_locks")

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._files: dict[str, _Content] = {}
        self._directories = {""}
        self._locks: dict[str, threading.Lock] = {}

    def open(self, path: str, *, create: bool = False, write: bool = False) -> MemoryFile:
        """Open a file; FileNotFoundError where it is absent and `create` is not given."""
        with self._changed:
            if create and path not in self._files:
                self._put(path, _Content())
            return MemoryFile(self._find(path), self._changed, writable=create or write)

    def read(self, path: str) -> bytes:
        """Give the whole content of a small file."""
        with self._changed:
            return bytes(self._find(path).data)

    def replace(self, path: str, content: bytes, *, sync: bool = False) -> None:  # noqa: ARG002
        """Write a small file so that any reader sees the old content or the new, never a mix."""
        with self._changed:
            self._put(path, _Content(content))

    def list(self, path: str) -> list[str]:
        """The names directly below a directory, sorted; none where it is absent."""
        prefix = f"{path}/" if path else ""
        with self._changed:
            known = [name for name in (*self._files, *self._directories) if name]
        return sorted({n[len(prefix) :].partition("/")[0] for n in known if n.startswith(prefix)})

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        with self._changed:
            return path in self._files or path in self._directories

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it; an existing one is left as it is."""
        with self._changed:
            parts = path.split("/")
            for end in range(1, len(parts) + 1):
                above = "/".join(parts[:end])
                if above in self._files:
                    raise _error(errno.EEXIST, above)
                self._directories.add(above)

    def rename(self, old: str, new: str) -> None:
        """Move a file (replacing) or a directory (FileExistsError where `new` is there)."""
        with self._changed:
            self._check_parent(new)
            if old in self._directories:
                self._rename_directory(old, new)
            else:
                self._put(new, self._find(old))
                if old != new:
                    del self._files[old]
            self._changed.notify_all()

    def remove(self, path: str) -> None:
        """Remove a file; an absent one is no error."""
        with self._changed:
            if path in self._directories:
                raise _error(errno.EISDIR, path)
            if self._files.pop(path, None) is not None:
                self._changed.notify_all()

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all below it; an absent one is no error."""
        with self._changed:
            for name in [n for n in self._files if _is_below(n, path)]:
                del self._files[name]
            self._directories = {n for n in self._directories if not n or not _is_below(n, path)}
            self._changed.notify_all()

    def sync_directory(self, path: str) -> None:
        """Return at once: nothing here survives a power cut."""
        with self._changed:
            if path not in self._directories:
                raise _error(errno.ENOENT, path)

    def lock(self, path: str) -> MemoryLock:
        """Make a lock on a name; it is not held yet."""
        with self._changed:
            return MemoryLock(self, path, self._locks.setdefault(path, threading.Lock()))

    def watch(self, paths: Iterable[str]) -> MemoryWatch:
        """Watch existing files for changes."""
        return MemoryWatch(self._changed, self._files, tuple(paths))

    def _find(self, path: str) -> _Content:
        if path in self._files:
            return self._files[path]
        raise _error(errno.EISDIR if path in self._directories else errno.ENOENT, path)

    def _put(self, path: str, content: _Content) -> None:
        self._check_parent(path)
        if path in self._directories:
            raise _error(errno.EISDIR, path)
        self._files[path] = content
        self._changed.notify_all()

    def _check_parent(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        if parent not in self._directories:
            raise _error(errno.ENOTDIR if parent in self._files else errno.ENOENT, path)

    def _rename_directory(self, old: str, new: str) -> None:
        if new in self._files or new in self._directories:
            raise _error(errno.EEXIST, new)
        for name in [n for n in self._files if _is_below(n, old)]:
            self._files[new + name[len(old) :]] = self._files.pop(name)
        below = {n for n in self._directories if _is_below(n, old)}
        self._directories -= below
        self._directories |= {new + n[len(old) :] for n in below}


class MemoryFile:
    """A file in memory; each call is whole, as if it were alone."""

    __slots__ = ("_changed", "_content", "_writable")

    def __init__(self, content: _Content, changed: threading.Condition, *, writable: bool) -> None:
        self._content: _Content | None = content
        self._changed = changed
        self._writable = writable

    def read_at(self, position: int, length: int) -> bytes:
        """Give up to `length` bytes; fewer only at the end of the file."""
        with self._changed:
            return bytes(memoryview(self._opened().data)[position : position + length])

    def write_at(self, position: int, parts: Sequence[Bytes]) -> None:
        """Write the parts one after another, all of them, or raise OSError."""
        data = b"".join(parts)
        with self._changed:
            content = self._opened(write=True)
            content.extend_to(position)
            content.data[position : position + len(data)] = data
            content.version += 1
            self._changed.notify_all()

    def size(self) -> int:
        """The number of bytes in the file now."""
        with self._changed:
            return len(self._opened().data)

    def truncate(self, size: int) -> None:
        """Cut the file, or extend it with zeros."""
        with self._changed:
            content = self._opened(write=True)
            del content.data[size:]
            content.extend_to(size)
            content.version += 1
            self._changed.notify_all()

    def sync(self) -> None:
        """Return at once: nothing here survives a power cut."""
        with self._changed:
            self._opened()

    def close(self) -> None:
        """Release the file; closing twice is harmless."""
        self._content = None

    def _opened(self, *, write: bool = False) -> _Content:
        if self._content is None or (write and not self._writable):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._content


class MemoryLock:
    """A lock on a name, exclusive among threads; as on disk, it is seen as an empty file."""

    __slots__ = ("_held", "_lock", "_path", "_storage")

    def __init__(self, storage: MemoryStorage, path: str, lock: threading.Lock) -> None:
        self._storage = storage
        self._path = path
        self._lock = lock
        self._held = False

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the lock: for ever, or for at most `timeout` seconds (0: try once)."""
        self._storage.open(self._path, create=True)
        if not self._lock.acquire(timeout=-1 if timeout is None else max(timeout, 0)):
            return False
        self._held = True
        return True

    def release(self) -> None:
        """Free the lock; where it is not held, nothing happens."""
        if self._held:
            self._held = False
            self._lock.release()

    def close(self) -> None:
        """Free the lock if held."""
        self.release()


class MemoryWatch:
    """Tells when one of a set of files was changed, by any thread."""

    __slots__ = ("_changed", "_files", "_paths", "_seen")

    def __init__(
        self, changed: threading.Condition, files: dict[str, _Content], paths: tuple[str, ...]
    ) -> None:
        self._changed = changed
        self._files = files
        self._paths = paths
        with changed:
            self._seen = self._look()

    def wait(self, timeout: float) -> bool:
        """Return True when a file changed since the last call, False after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while (found := self._look()) == self._seen:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            self._seen = found
            return True

    def close(self) -> None:
        """Stop watching."""

    def _look(self) -> list[tuple[_Content, int] | None]:
        found = [self._files.get(path) for path in self._paths]
        return [(content, content.version) if content else None for content in found]


class _Content:
    """The bytes of a file and how often they were changed."""

    __slots__ = ("data", "version")

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.version = 0

    def extend_to(self, size: int) -> None:
        if len(self.data) < size:
            self.data += bytes(size - len(self.data))


def _is_below(path: str, directory: str) -> bool:
    return path == directory or not directory or path.startswith(f"{directory}/")


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)
