"""The topic a registry is kept in: read before each answer, written by one decision at a time.

A writer takes the transactional id, reads what is new, decides, and commits. Whoever takes the id
in between fences it off, and it decides anew: no two processes give one id or version twice.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import pyarrow as pa

from penstock.errors import PenstockError, RegistryError, TopicError, TransactionError
from penstock.log.port import Log, ReadLimit, Transaction
from penstock.log.record import KEY_COLUMN, VALUE_COLUMN
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.schema.registry.contents import Contents
from penstock.schema.registry.entry import Entry, entry_of
from penstock.schema.registry.level import DEFAULT_LEVEL, Level

SCHEMAS_TOPIC = "_schemas"

_ATTEMPTS = 60
_LONGEST_PAUSE = 0.05
_FENCED = "WRITER_FENCED"

Answer = TypeVar("Answer")


class SchemaTopic:
    """The contents of a registry as its topic has them; safe to use from several threads."""

    def __init__(
        self, log: Log, topic: str = SCHEMAS_TOPIC, default_level: Level = DEFAULT_LEVEL
    ) -> None:
        self._log = log
        self._topic = topic
        self._default_level = default_level
        self._lock = threading.RLock()
        self._contents = Contents(default_level)
        self._topic_id = ""
        self._read_to = 0
        self._writer: Transaction | None = None

    def ask(self, question: Callable[[Contents], Answer]) -> Answer:
        """Answer from all that was written before the question."""
        with self._lock:
            self._catch_up()
            return question(self._contents)

    def change(self, decide: Callable[[Contents], tuple[Answer, Sequence[Entry]]]) -> Answer:
        """Decide on the contents as they are, and write what was decided, all or nothing."""
        with self._lock:
            for attempt in range(_ATTEMPTS):
                if self._writer is None:
                    self._writer = self._log.transaction(f"registry-{self._topic}")
                self._catch_up()
                if not self._topic_id:
                    self._create_topic()
                answer, entries = decide(self._contents)
                if not entries or self._written(self._writer, entries):
                    return answer
                time.sleep(random.random() * _LONGEST_PAUSE * (attempt > 0))  # a pause
        raise RegistryError(
            "REGISTRY_BUSY",
            f"others were quicker to write the registry {_ATTEMPTS} times",
            hint="Nothing was written: try again when fewer register at once.",
        )

    def close(self) -> None:
        """Let go of the transactional id."""
        with self._lock:
            self._drop_writer()

    def _create_topic(self) -> None:
        """Make the topic, unless somebody else just did."""
        with contextlib.suppress(TopicError):
            self._log.create_topic(self._topic, config=TopicConfig(cleanup="compact"))
        self._catch_up()

    def _written(self, writer: Transaction, entries: Sequence[Entry]) -> bool:
        """Write records; False where somebody else has taken the id meanwhile."""
        try:
            writer.begin()
            writer.append(self._topic, 0, _rows(entries))
            writer.commit()
        except PenstockError as refusal:
            self._drop_writer()
            if refusal.code != _FENCED:
                raise
            return False
        return True

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(TransactionError):
                writer.close()

    def _catch_up(self) -> None:
        """Read what is new; a topic that is not there yet, or is no longer, holds nothing."""
        try:
            known = self._log.topic(self._topic)
        except TopicError as error:
            if error.code != "TOPIC_MISSING":
                raise
            self._start_anew("")
            return
        if known.topic_id != self._topic_id:
            self._start_anew(known.topic_id)
        bounds = self._log.bounds(self._topic, 0)
        self._read_to = max(self._read_to, bounds.start)
        while self._read_to < bounds.end:
            limit = ReadLimit(stop=bounds.end, columns=(KEY_COLUMN, VALUE_COLUMN))
            chunk = self._log.read(self._topic, 0, self._read_to, limit)
            for row in chunk.rows.to_pylist():
                self._contents.apply(entry_of(row[KEY_COLUMN], row[VALUE_COLUMN]))
            self._read_to = chunk.next_offset

    def _start_anew(self, topic_id: str) -> None:
        self._topic_id = topic_id
        self._read_to = 0
        self._contents = Contents(self._default_level)


def _rows(entries: Sequence[Entry]) -> pa.Table:
    encoded = [entry.encoded() for entry in entries]
    return rows_of_bytes([value for _, value in encoded], keys=[key for key, _ in encoded])
