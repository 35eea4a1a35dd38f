"""Questions asked on pages: what is known now, and what comes from now on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import PenstockError, RunError
from penstock.front.sql import tree_statement as tree
from penstock.serve.access.role import Role
from penstock.serve.access.statement_role import statement_role
from penstock.serve.platform import Platform
from penstock.sql.answer import Answer, Followed, Listed, Told
from penstock.sql.plain_value import plain
from penstock.sql.script import pieces_of, read_piece

MOST_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows under names, as JSON has them; `as_of` says which offsets they reflect."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    as_of: str = ""


def asked_now(platform: Platform, query: str, most: int = MOST_ROWS) -> Rows:
    """Answer any SELECT over topics and tables as they are now."""
    found = platform.tables.query(query, limit=most)
    rows = tuple(tuple(plain(list(row))) for row in found.rows)
    return Rows(tuple(found.columns), rows, offsets_text(found.offsets))


@dataclass(slots=True)
class Session:
    """What one page has set and defined; nobody else's statements see it."""

    settings: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


def statements(
    platform: Platform, text: str, role: Role, session: Session | None = None
) -> Iterator[Answer]:
    """Carry out the statements of a text as somebody who has a role."""
    own = session or Session()
    for piece in pieces_of(text):
        with platform.turn:
            platform.sql.settings, platform.sql.variables = own.settings, own.variables
            statement = read_piece(piece, platform.sql.variables)
            require_for(statement, role)
            answers = list(platform.sql.execute(statement))
            platform.sql.follow_queries()
        yield from answers


def require_for(statement: tree.Statement, role: Role) -> None:
    """Refuse a statement that is not for a role."""
    needed = statement_role(statement)
    if role < needed:
        raise RunError(
            "ROLE_NEEDED",
            f"this statement needs the role {needed.name.lower()}; you are {role.name.lower()}",
            hint="An admin makes tokens with `penstock serve token create --role`.",
        )


def listed_rows(answer: Listed) -> Rows:
    """Give the rows of an answer as JSON has them."""
    rows = tuple(tuple(plain(list(row))) for row in answer.rows)
    return Rows(answer.columns, rows[:MOST_ROWS], offsets_text(answer.offsets))


def offsets_text(offsets: Any) -> str:  # noqa: ANN401  # by partition, or by its name
    """Write which offsets an answer reflects."""
    pairs = offsets.items() if hasattr(offsets, "items") else offsets
    return ", ".join(f"{at}@{offset}" for at, offset in pairs if offset)


class Following:
    """Follows a push query in a thread of its own; whoever shows it takes what has come."""

    def __init__(self, answer: Followed, most: int = 500) -> None:
        self.columns = answer.columns
        self.failure: PenstockError | None = None
        self.over = False
        self.count = 0
        self._keys = answer.keys
        self._kept: deque[tuple[Any, ...]] = deque(maxlen=most)
        self._latest: dict[str, tuple[Any, ...]] = {}
        self._most = most
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(
            target=self._run, args=(answer.rows,), name="page-query", daemon=True
        )
        self._thread.start()

    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """Give the rows that are kept; of a table the last one of each key."""
        with self._lock:
            if self._keys:
                return tuple(self._latest.values())[-self._most :]
            return tuple(self._kept)

    def stop(self) -> None:
        """Let it end."""
        self._stopped.set()

    def _run(self, rows: Iterator[Sequence[Any] | None]) -> None:
        try:
            for row in rows:
                if self._stopped.is_set():
                    break
                if row is not None:
                    self._take(tuple(plain(list(row))))
        except PenstockError as error:
            self.failure = error
        finally:
            self.over = True

    def _take(self, row: tuple[Any, ...]) -> None:
        with self._lock:
            self.count += 1
            if not self._keys:
                self._kept.append(row)
                return
            key = repr([row[place] for place in self._keys])
            others = [cell for place, cell in enumerate(row) if place not in self._keys]
            if others and all(cell is None for cell in others):
                self._latest.pop(key, None)
            else:
                self._latest[key] = row


def followed(platform: Platform, query: str, role: Role, most: int = 500) -> Following | Rows:
    """Follow a SELECT; one that is answered at once gives its rows."""
    for answer in statements(platform, query, role):
        match answer:
            case Followed():
                return Following(answer, most)
            case Listed():
                return listed_rows(answer)
            case Told():
                continue
    return Rows((), ())
