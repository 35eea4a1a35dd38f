"""The port through which the embedded log touches the outside world.

Any store that can hold named byte ranges, lock a name and announce a change can
persist a log: `embedded.disk` keeps files, `embedded.memory` a dictionary,
`embedded.sqlite` rows of a database; `testing.faults` wraps any of them to make it
fail. Paths are relative, with `/` between parts. Every failure is an `OSError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from typing_extensions import Buffer

Bytes: TypeAlias = bytes | bytearray | memoryview | Buffer


class File(Protocol):
    """A random-access file, open for reading and, where asked, for writing."""

    def read_at(self, position: int, length: int) -> bytes:
        """Give up to `length` bytes; fewer only at the end of the file."""
        ...

    def write_at(self, position: int, parts: Sequence[Bytes]) -> None:
        """Write the parts one after another, all of them, or raise OSError."""
        ...

    def size(self) -> int:
        """The number of bytes in the file now."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file, or extend it with zeros."""
        ...

    def sync(self) -> None:
        """Return when what was written would survive a power cut."""
        ...

    def close(self) -> None:
        """Release the file; closing twice is harmless."""
        ...


class Lock(Protocol):
    """A lock on a name, exclusive among threads and processes, freed when its holder dies."""

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the lock: for ever, or for at most `timeout` seconds (0: try once)."""
        ...

    def release(self) -> None:
        """Free the lock."""
        ...

    def close(self) -> None:
        """Free the lock if held and let go of its file."""
        ...


class Watch(Protocol):
    """Tells when one of a set of files was changed, by any process."""

    def wait(self, timeout: float) -> bool:
        """Return True when a file changed since the last call, False after `timeout` seconds."""
        ...

    def close(self) -> None:
        """Stop watching."""
        ...


class Storage(Protocol):
    """A tree of named files."""

    def open(self, path: str, *, create: bool = False, write: bool = False) -> File:
        """Open a file; FileNotFoundError where it is absent and `create` is not given."""
        ...

    def read(self, path: str) -> bytes:
        """Give the whole content of a small file."""
        ...

    def replace(self, path: str, content: bytes, *, sync: bool = False) -> None:
        """Write a small file so that any reader sees the old content or the new, never a mix."""
        ...

    def list(self, path: str) -> list[str]:
        """The names directly below a directory, sorted; none where it is absent."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        ...

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it; an existing one is left as it is."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Move a file (replacing) or a directory (FileExistsError where `new` is there)."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file; an absent one is no error."""
        ...

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all below it; an absent one is no error."""
        ...

    def sync_directory(self, path: str) -> None:
        """Return when the names in a directory would survive a power cut."""
        ...

    def lock(self, path: str) -> Lock:
        """Make a lock on a name; it is not held yet."""
        ...

    def watch(self, paths: Iterable[str]) -> Watch:
        """Watch existing files for changes."""
        ...


def held(lock: Lock) -> AbstractContextManager[None]:
    """Hold a lock for the length of a with block."""
    return _Held(lock)


class _Held:
    __slots__ = ("_lock",)

    def __init__(self, lock: Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
