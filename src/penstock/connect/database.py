"""One transaction of a database: SQLite through the standard library, PostgreSQL with psycopg.

Every use opens its own connection and closes it: nobody has to look after one, and a server that
was restarted in between is no matter.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from penstock.errors import SetupError, StoreError
from penstock.model.store import Store

Row: TypeAlias = Sequence[Any]

_BUSY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Session:
    """What can be done within a transaction. Statements have `?` for values and nothing else."""

    cursor: Any
    store: Store

    def run(self, statement: str, values: Row = ()) -> list[Row]:
        """Run a statement and give its rows."""
        self.cursor.execute(self._spelled(statement), values)
        return list(self.cursor.fetchall()) if self.cursor.description else []

    def run_many(self, statement: str, rows: Iterable[Row]) -> None:
        """Run a statement once for each row of values."""
        self.cursor.executemany(self._spelled(statement), rows)

    def columns(self, table: str) -> list[str] | None:
        """Give the names of a table's columns; none where it is not there."""
        known = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?"
            if self.store.kind == "sqlite"
            else "SELECT 1 WHERE to_regclass(?) IS NOT NULL"
        )
        named = table if self.store.kind == "sqlite" else quoted(table)
        if not self.run(known, (named,)):
            return None
        statement = f"SELECT * FROM {quoted(table)} LIMIT 0"  # noqa: S608  # a quoted name
        self.cursor.execute(self._spelled(statement), ())
        return [item[0] for item in self.cursor.description]

    def _spelled(self, statement: str) -> str:
        if self.store.kind == "sqlite":
            return statement
        parts = statement.split('"')
        # What stands between quotes is a name, in which a question mark is just that.
        parts[::2] = [part.replace("?", "%s") for part in parts[::2]]
        parts[1::2] = [part.replace("%", "%%") for part in parts[1::2]]
        return '"'.join(parts)


def quoted(name: str) -> str:
    """Give a name as SQL takes it, whatever its letters."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def transaction(store: Store) -> Iterator[Session]:
    """Do several things of which all or none are seen; when it ends they are safe."""
    with _told(store), closing(_connected(store)) as connection:
        if store.kind == "sqlite":
            # At once: two that read first and write then would both wait for the other.
            connection.execute("BEGIN IMMEDIATE")
        try:
            yield Session(connection.cursor(), store)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise


def _connected(store: Store) -> Any:  # noqa: ANN401  # of either library
    if store.kind == "sqlite":
        Path(store.place).parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(store.place, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            # Readers do not wait for the writer, and a commit is on disk when it returns.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection
    return _psycopg().connect(store.place)


def _psycopg() -> Any:  # noqa: ANN401  # a library that need not be there
    try:
        import psycopg  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415
    except ImportError as error:
        raise SetupError(
            "STORE_DRIVER",
            "a PostgreSQL store is asked for, and psycopg is not installed",
            hint='Install it with: pip install "penstock[postgres]"',
        ) from error
    return psycopg


@contextmanager
def _told(store: Store) -> Iterator[None]:
    """Turn what either library raises into one error."""
    kinds: tuple[type[BaseException], ...] = (sqlite3.Error, OSError)
    if store.kind == "postgres":
        kinds = (_psycopg().Error,)
    try:
        yield
    except kinds as error:
        raise StoreError(
            "STORE_FAILED",
            f"{store} refused: {error}",
            hint="See that it is there and may be written; what was begun is undone.",
        ) from error
