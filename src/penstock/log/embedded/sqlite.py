"""The log's storage as rows of one SQLite database."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from penstock.log.embedded.lock import FlockLock
from penstock.log.embedded.sqlite_database import SqliteDatabase
from penstock.log.embedded.sqlite_rows import (
    CHUNK,
    bounds_below,
    check_parent,
    find_node,
    insert_file,
    names_below,
    os_error,
    resize,
    size_of,
    unlink,
    write,
)
from penstock.log.embedded.watch import PollingWatch
from penstock.log.storage import Bytes


class SqliteStorage:
    """A tree of files in a database that several processes may use at once.

    Locks are lock files in a directory beside the database (`<name>.locks`), since the
    kernel frees those when their holder dies, which rows would not be. What is removed
    stays readable to those who have it open for ten minutes, then its rows go.
    """

    __slots__ = ("_database", "_locks")

    def __init__(self, path: Path) -> None:
        self._database = SqliteDatabase(path)
        self._locks = path.with_name(f"{path.name}.locks")

    def open(self, path: str, *, create: bool = False, write: bool = False) -> SqliteFile:
        """Open a file; FileNotFoundError where it is absent and `create` is not given."""
        with self._database.reading() as connection:
            node = find_node(connection, path)
        if node is None and create:
            with self._database.writing() as connection:
                node = find_node(connection, path) or insert_file(connection, path)
        if node is None:
            raise os_error(errno.ENOENT, path)
        if node < 0:
            raise os_error(errno.EISDIR, path)
        return SqliteFile(self._database, node, writable=create or write)

    def read(self, path: str) -> bytes:
        """Give the whole content of a small file."""
        file = self.open(path)
        return file.read_at(0, file.size())

    def replace(self, path: str, content: bytes, *, sync: bool = False) -> None:
        """Write a small file so that any reader sees the old content or the new, never a mix."""
        with self._database.writing() as connection:
            if (find_node(connection, path) or 0) < 0:
                raise os_error(errno.EISDIR, path)
            unlink(connection, path)
            write(connection, insert_file(connection, path), 0, content)
        if sync:
            self._database.sync()

    def list(self, path: str) -> list[str]:
        """The names directly below a directory, sorted; none where it is absent."""
        skip = len(path) + 1 if path else 0
        try:
            with self._database.reading() as connection:
                below = names_below(connection, path)
        except FileNotFoundError:
            return []
        return sorted({name[skip:].partition("/")[0] for name in below})

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        try:
            with self._database.reading() as connection:
                return find_node(connection, path) is not None
        except FileNotFoundError:
            return False

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it; an existing one is left as it is."""
        self._locks.parent.mkdir(parents=True, exist_ok=True)
        parts = path.split("/")
        with self._database.writing() as connection:
            for above in ("/".join(parts[:end]) for end in range(1, len(parts) + 1)):
                node = find_node(connection, above)
                if node is None:
                    connection.execute("INSERT INTO node (path, directory) VALUES (?, 1)", (above,))
                elif node > 0:
                    raise os_error(errno.EEXIST, above)

    def rename(self, old: str, new: str) -> None:
        """Move a file (replacing) or a directory (FileExistsError where `new` is there)."""
        with self._database.writing() as connection:
            node, taken = find_node(connection, old), find_node(connection, new)
            if node is None:
                raise os_error(errno.ENOENT, old)
            check_parent(connection, new)
            if taken is not None and (node < 0 or taken < 0):
                raise os_error(errno.EEXIST if node < 0 else errno.EISDIR, new)
            if node > 0 and old != new:
                unlink(connection, new)
            connection.execute(
                "UPDATE node SET path = ? || substr(path, ?), version = version + 1"
                " WHERE path = ? OR (path > ? AND path < ?)",
                (new, len(old) + 1, old, *bounds_below(old)),
            )

    def remove(self, path: str) -> None:
        """Remove a file; an absent one is no error."""
        with self._database.writing() as connection:
            if (find_node(connection, path) or 0) < 0:
                raise os_error(errno.EISDIR, path)
            unlink(connection, path)

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all below it; an absent one is no error."""
        with self._database.writing() as connection:
            for name in filter(None, [path, *names_below(connection, path)]):
                unlink(connection, name)

    def sync_directory(self, path: str) -> None:
        """Return when the names in a directory would survive a power cut."""
        if not self.exists(path):
            raise os_error(errno.ENOENT, path)
        self._database.sync()

    def lock(self, path: str) -> SqliteLock:
        """Make a lock on a name; it is not held yet."""
        self._locks.mkdir(parents=True, exist_ok=True)
        name = hashlib.blake2b(path.encode(), digest_size=16).hexdigest()
        return SqliteLock(self, path, FlockLock(str(self._locks / name)))

    def watch(self, paths: Iterable[str]) -> PollingWatch:
        """Watch existing files for changes."""
        # The write-ahead log changes before a commit can be seen, so its file events come too
        # early: asking again is the simpler truth.
        wanted = tuple(dict.fromkeys(paths))
        return PollingWatch(lambda: self._versions(wanted))

    def close(self) -> None:
        """Let go of the database; the next use opens it again."""
        self._database.close()

    def __del__(self) -> None:
        self.close()

    def _versions(self, paths: tuple[str, ...]) -> tuple[object, ...]:
        query = "SELECT id, version FROM node WHERE path = ?"
        with self._database.reading() as connection:
            return tuple(connection.execute(query, (path,)).fetchone() for path in paths)


class SqliteFile:
    """A file in chunks of rows; each write is one transaction."""

    __slots__ = ("_database", "_node", "_writable")

    def __init__(self, database: SqliteDatabase, node: int, *, writable: bool) -> None:
        self._database = database
        self._node = node
        self._writable = writable

    def read_at(self, position: int, length: int) -> bytes:
        """Give up to `length` bytes; fewer only at the end of the file."""
        first, last = position // CHUNK, (position + length - 1) // CHUNK
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT size, number, data FROM node LEFT JOIN chunk"
                " ON node = id AND number BETWEEN ? AND ? WHERE id = ?",
                (first, last, self._opened()),
            ).fetchall()
        if not rows:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        end = min(position + length, rows[0][0])
        found = {number: data for _, number, data in rows}
        whole = b"".join(found.get(n, b"").ljust(CHUNK, b"\0") for n in range(first, last + 1))
        return whole[position - first * CHUNK : max(end - first * CHUNK, 0)]

    def write_at(self, position: int, parts: Sequence[Bytes]) -> None:
        """Write the parts one after another, all of them, or raise OSError."""
        with self._database.writing() as connection:
            write(connection, self._opened(write=True), position, b"".join(parts))

    def size(self) -> int:
        """The number of bytes in the file now."""
        with self._database.reading() as connection:
            return size_of(connection, self._opened())

    def truncate(self, size: int) -> None:
        """Cut the file, or extend it with zeros."""
        last, kept = divmod(size, CHUNK)
        node = self._opened(write=True)
        with self._database.writing() as connection:
            connection.execute("DELETE FROM chunk WHERE node = ? AND number > ?", (node, last))
            connection.execute(
                "UPDATE chunk SET data = substr(data, 1, ?) WHERE node = ? AND number = ?",
                (kept, node, last),
            )
            resize(connection, node, size)

    def sync(self) -> None:
        """Return when what was written would survive a power cut."""
        self._opened()
        self._database.sync()

    def close(self) -> None:
        """Release the file; closing twice is harmless."""
        self._node = 0

    def _opened(self, *, write: bool = False) -> int:
        if not self._node or (write and not self._writable):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._node


class SqliteLock:
    """A lock file beside the database; as on disk, the lock is seen as an empty file."""

    __slots__ = ("_lock", "_path", "_storage")

    def __init__(self, storage: SqliteStorage, path: str, lock: FlockLock) -> None:
        self._storage = storage
        self._path = path
        self._lock = lock

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the lock: for ever, or for at most `timeout` seconds (0: try once)."""
        self._storage.open(self._path, create=True)
        return self._lock.acquire(timeout)

    def release(self) -> None:
        """Free the lock; where it is not held, as in a forked child, nothing happens."""
        self._lock.release()

    def close(self) -> None:
        """Free the lock if held and let go of its file."""
        self._lock.close()
