"""The topic that the catalog of a home is kept in.

As the registry of schemas does: a writer takes the transactional id, reads what is new, decides,
and commits. Whoever takes the id in between fences it off, and it decides anew, so that no two
processes give one name twice.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from penstock.errors import PenstockError, SqlError, TopicError, TransactionError
from penstock.log.port import Log, ReadLimit, Transaction
from penstock.log.record import KEY_COLUMN, VALUE_COLUMN
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.sql.catalog_entry import CatalogEntry, entry_of

CATALOG_TOPIC = "_catalog"

_ATTEMPTS = 60
_LONGEST_PAUSE = 0.05
_FENCED = "WRITER_FENCED"

Answer = TypeVar("Answer")
Change: TypeAlias = CatalogEntry | str
"""An entry to be written, or the key of one that is gone."""


class CatalogStore:
    """All entries of a home's catalog; every answer includes what any process wrote before it."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._entries: dict[str, CatalogEntry] = {}
        self._topic_id = ""
        self._read_to = 0
        self._writer: Transaction | None = None

    def entries(self) -> tuple[CatalogEntry, ...]:
        """Give all entries in the order in which they were made."""
        self._catch_up()
        return tuple(sorted(self._entries.values(), key=lambda entry: entry.number))

    @property
    def reached(self) -> int:
        """How many records were read: it never gets less, whatever is deleted."""
        return self._read_to

    def change(
        self, decide: Callable[[tuple[CatalogEntry, ...]], tuple[Answer, Sequence[Change]]]
    ) -> Answer:
        """Decide on the entries as they are, and write what was decided, all or nothing."""
        for attempt in range(_ATTEMPTS):
            answer, changes = decide(self.entries())
            if not changes:
                return answer
            if self._writer is None:
                # What others wrote before this id was taken must be known to who decides.
                self._writer = self._log.transaction(f"sql-{CATALOG_TOPIC}")
                answer, changes = decide(self.entries())
            if self._written(self._writer, changes):
                return answer
            time.sleep(random.random() * _LONGEST_PAUSE * (attempt > 0))
        raise SqlError(
            "SQL_CATALOG_BUSY",
            f"others were quicker to change the catalog {_ATTEMPTS} times",
            hint="Nothing was changed: try again when fewer do so at once.",
        )

    def close(self) -> None:
        """Let go of the transactional id."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(TransactionError):
                writer.close()

    def _written(self, writer: Transaction, changes: Sequence[Change]) -> bool:
        """Write records; False where somebody else has taken the id meanwhile."""
        if not self._topic_id:
            with contextlib.suppress(TopicError):
                self._log.create_topic(CATALOG_TOPIC, config=TopicConfig(cleanup="compact"))
        keys = [item if isinstance(item, str) else item.key for item in changes]
        values = [None if isinstance(item, str) else item.encoded() for item in changes]
        try:
            writer.begin()
            rows = rows_of_bytes(values, keys=[key.encode() for key in keys])
            writer.append(CATALOG_TOPIC, 0, rows)
            writer.commit()
        except PenstockError as refusal:
            self.close()
            if refusal.code != _FENCED:
                raise
            return False
        return True

    def _catch_up(self) -> None:
        """Read what is new; a topic that is not there yet, or is no longer, holds nothing."""
        found = self._log.topic(CATALOG_TOPIC) if CATALOG_TOPIC in self._log.topics() else None
        topic_id = "" if found is None else found.topic_id
        if topic_id != self._topic_id:
            self._topic_id, self._read_to, self._entries = topic_id, 0, {}
        if found is None:
            return
        bounds = self._log.bounds(CATALOG_TOPIC, 0)
        self._read_to = max(self._read_to, bounds.start)
        while self._read_to < bounds.end:
            limit = ReadLimit(stop=bounds.end, columns=(KEY_COLUMN, VALUE_COLUMN))
            chunk = self._log.read(CATALOG_TOPIC, 0, self._read_to, limit)
            for row in chunk.rows.to_pylist():
                self._apply(row[KEY_COLUMN], row[VALUE_COLUMN])
            self._read_to = chunk.next_offset

    def _apply(self, key: bytes, value: bytes | None) -> None:
        if value is None:
            self._entries.pop(key.decode(), None)
        else:
            self._entries[key.decode()] = entry_of(key, value)
