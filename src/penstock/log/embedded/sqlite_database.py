"""One SQLite database used by many threads, processes and forks, with failures as OSError."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BUSY_SECONDS = 60.0
# The number of a removed file is never given again, since somebody may have it open.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS node (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT UNIQUE,
    directory INTEGER NOT NULL,
    size INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0,
    removed_at REAL
);
CREATE INDEX IF NOT EXISTS removed ON node (removed_at) WHERE removed_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS chunk (
    node INTEGER NOT NULL,
    number INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (node, number)
);
CREATE TABLE IF NOT EXISTS durable (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    syncs INTEGER NOT NULL
);
INSERT OR IGNORE INTO node (path, directory) VALUES ('', 1);
INSERT OR IGNORE INTO durable (id, syncs) VALUES (1, 0);
"""
_CODES = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_AUTH: errno.EACCES,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_LOCKED: errno.EBUSY,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
}


class SqliteDatabase:
    """Gives one connection at a time; the child of a fork gets a new one."""

    __slots__ = ("_connection", "_inherited", "_owner", "_path", "_threads")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._owner = os.getpid()
        self._threads = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._inherited: list[sqlite3.Connection] = []

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection for single queries."""
        self._leave_parent()
        with self._threads, _errors_of_the_system(self._path):
            yield self._connect()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection for changes that others see all or none of."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def sync(self) -> None:
        """Return when all that was committed, by any process, would survive a power cut."""
        with self.reading() as connection:
            # A commit under FULL syncs the whole write-ahead log, earlier commits with it; but
            # only where it has something to write.
            connection.execute("PRAGMA synchronous = FULL")
            try:
                connection.execute("UPDATE durable SET syncs = syncs + 1")
            finally:
                connection.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        """Let go of the database; the next use opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None and self._owner == os.getpid():
            connection.close()

    def _leave_parent(self) -> None:
        if self._owner != os.getpid():
            # SQLite forbids any use of an inherited connection, even closing it, so it is kept
            # from the garbage collector; the parent's threads may hold the inherited lock.
            if self._connection is not None:
                self._inherited.append(self._connection)
            self._connection = None
            self._threads = threading.RLock()
            self._owner = os.getpid()

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _open(self._path)
        return self._connection


def _open(path: Path) -> sqlite3.Connection:
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _errors_of_the_system(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = _CODES.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF, errno.EIO)
        raise OSError(code, f"{os.strerror(code)} (SQLite: {error})", str(path)) from error
