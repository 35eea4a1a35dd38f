"""Answers that are kept by the key of their request, on disk: `<home>/server/answers.db`."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import StorageError

_LIFE = 24 * 3600 * 1000
_MOST = 10_000
_SCHEMA = """
create table if not exists answers (
    key text primary key, request text not null, server text not null, at integer not null,
    status integer, media_type text, body blob
) without rowid;
create index if not exists answers_at on answers (at);
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered; without a body it was too large to keep."""

    status: int
    media_type: str
    body: bytes | None


Found: TypeAlias = Answer | Literal["new", "other request", "under way", "undecided"]
"""Undecided: the server that carried it out has ended before it could say how that went."""


class AnswerStore:
    """Keeps answers for a day, and no more than a number of them."""

    def __init__(self, path: Path, *, clock: Clock = SYSTEM_CLOCK, most: int = _MOST) -> None:
        self._path = path
        self._clock = clock
        self._most = most
        self._server = secrets.token_hex(8)
        self._guard = threading.Lock()
        self._database: sqlite3.Connection | None = None

    def begin(self, key: str, request: str) -> Found:
        """Give what is known of a key; a new one is under way from now on."""
        try:
            with self._guard, self._opened() as database:
                return self._begin(database, key, request)
        except sqlite3.Error as error:
            raise self._coded(error) from error

    def end(self, key: str, answer: Answer | None) -> None:
        """Keep the answer of a key; without one the key is free again."""
        try:
            with self._guard, self._opened() as database:
                if answer is None:
                    database.execute("delete from answers where key = ?", (key,))
                    return
                database.execute(
                    "update answers set status = ?, media_type = ?, body = ? where key = ?",
                    (answer.status, answer.media_type, answer.body, key),
                )
        except sqlite3.Error as error:
            raise self._coded(error) from error

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _begin(self, database: sqlite3.Connection, key: str, request: str) -> Found:
        now = self._clock.now()
        database.execute("delete from answers where at < ?", (now - _LIFE,))
        row = database.execute(
            "select request, server, status, media_type, body from answers where key = ?", (key,)
        ).fetchone()
        if row is None:
            self._make_room(database)
            database.execute(
                "insert into answers (key, request, server, at) values (?, ?, ?, ?)",
                (key, request, self._server, now),
            )
            return "new"
        before, server, status, media_type, body = row
        if before != request:
            return "other request"
        if status is not None:
            return Answer(status, media_type, body)
        return "under way" if server == self._server else "undecided"

    def _make_room(self, database: sqlite3.Connection) -> None:
        database.execute(
            "delete from answers where key in (select key from answers where status is not null"
            " order by at desc limit -1 offset ?)",
            (self._most - 1,),
        )

    def _opened(self) -> sqlite3.Connection:
        """Give the database, as a context that commits."""
        if self._database is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            self._database = sqlite3.connect(self._path, check_same_thread=False, timeout=5)
            self._database.executescript(_SCHEMA)
        return self._database

    def _coded(self, error: sqlite3.Error) -> StorageError:
        return StorageError(
            "ANSWERS_UNREADABLE",
            f'answers cannot be kept in "{self._path}": {error}',
            hint="Check the disk; if the file is damaged, remove it.",
        )
