"""The rows of a tree of files: nodes with a path, and the chunks of their content."""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator

CHUNK = 16 * 1024
_KEEP_REMOVED = 600.0


def names_below(connection: sqlite3.Connection, path: str) -> list[str]:
    """All paths below a directory, at any depth."""
    query = "SELECT path FROM node WHERE path > ? AND path < ?"
    return [name for (name,) in connection.execute(query, bounds_below(path))]


def bounds_below(path: str) -> tuple[str, str]:
    """The bounds of all paths below a directory, by which the index finds them."""
    return (f"{path}/", f"{path}0") if path else ("", "\U0010ffff")


def find_node(connection: sqlite3.Connection, path: str) -> int | None:
    """The number of a file, negative for a directory."""
    query = "SELECT CASE WHEN directory THEN -id ELSE id END FROM node WHERE path = ?"
    found = connection.execute(query, (path,)).fetchone()
    return None if found is None else int(found[0])


def check_parent(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a path whose directory is not there."""
    parent = find_node(connection, path.rpartition("/")[0])
    if parent is None or parent > 0:
        raise os_error(errno.ENOENT if parent is None else errno.ENOTDIR, path)


def insert_file(connection: sqlite3.Connection, path: str) -> int:
    """Add an empty file and give its number."""
    check_parent(connection, path)
    done = connection.execute("INSERT INTO node (path, directory) VALUES (?, 0)", (path,))
    return int(done.lastrowid or 0)


def unlink(connection: sqlite3.Connection, path: str) -> None:
    """Take the name from a file or directory; the rows go when nobody can be reading them."""
    now = time.time()
    connection.execute("UPDATE node SET path = NULL, removed_at = ? WHERE path = ?", (now, path))
    old = (now - _KEEP_REMOVED,)
    connection.execute(
        "DELETE FROM chunk WHERE node IN (SELECT id FROM node WHERE removed_at < ?)", old
    )
    connection.execute("DELETE FROM node WHERE removed_at < ?", old)


def size_of(connection: sqlite3.Connection, node: int) -> int:
    """The number of bytes in a file; ESTALE where its rows are gone."""
    found = connection.execute("SELECT size FROM node WHERE id = ?", (node,)).fetchone()
    if found is None:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
    return int(found[0])


def resize(connection: sqlite3.Connection, node: int, size: int) -> None:
    """Set the size and count the change."""
    connection.execute("UPDATE node SET size = ?, version = version + 1 WHERE id = ?", (size, node))


def write(connection: sqlite3.Connection, node: int, position: int, data: bytes) -> None:
    """Patch the chunks that a write touches, and extend the file where it goes beyond the end."""
    for number, start, piece in _pieces(position, data):
        found = connection.execute(
            "SELECT data FROM chunk WHERE node = ? AND number = ?", (node, number)
        ).fetchone()
        old = found[0] if found else b""
        new = old[:start].ljust(start, b"\0") + piece + old[start + len(piece) :]
        connection.execute("INSERT OR REPLACE INTO chunk VALUES (?, ?, ?)", (node, number, new))
    resize(connection, node, max(size_of(connection, node), position + len(data)))


def _pieces(position: int, data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Cut a write at the borders of the chunks: number, where within it, and the bytes."""
    done = 0
    while done < len(data):
        number, start = divmod(position + done, CHUNK)
        piece = data[done : done + CHUNK - start]
        yield number, start, piece
        done += len(piece)


def os_error(code: int, path: str) -> OSError:
    """The system's error about a path."""
    return OSError(code, os.strerror(code), path)
