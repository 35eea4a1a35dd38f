"""Event sourcing: the history of each thing under its key, from which its state is made.

What is stored is what happened; a state is a fold of events, at any version or time. Who decides
something on a state says which version it has seen, and is refused where another was quicker.

That is one transaction a partition, whose id belongs to who took it last. Taking it before the
version is looked at, a writer knows at its commit that nobody has written in between: whoever took
the id after it would have fenced it off.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa

from penstock.errors import PenstockError, RecordError, TransactionError
from penstock.log.murmur2 import partition_of_key
from penstock.log.port import Log, Transaction
from penstock.log.record import (
    KEY_COLUMN,
    OFFSET_COLUMN,
    SYSTEM_COLUMNS,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.log.rows import binary_array
from penstock.log.stretch import tables_between

Body: TypeAlias = Mapping[str, Any]
"""What happened: columns of the topic, or anything JSON knows where it has no schema."""
T = TypeVar("T")

_ATTEMPTS = 10
_FENCED = "WRITER_FENCED"


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a thing; its first one makes it version 1."""

    version: int
    timestamp: int
    body: Body


@dataclass(slots=True)
class _Partition:
    """What is known of one partition: how many events each key has, and up to where."""

    read_to: int = 0
    counts: Counter[bytes] = field(default_factory=Counter)
    own: dict[int, bytes] = field(default_factory=dict)
    """Keys by offset of what was written from here and not read yet."""
    writer: Transaction | None = None


class EventStore:
    """The histories in one topic; all who write it do so through an event store."""

    def __init__(self, log: Log, topic: str) -> None:
        self._log = log
        self._topic = log.topic(topic)
        self._partitions: dict[int, _Partition] = {}
        self._guard = Lock()

    def append(
        self, key: str, events: Sequence[Body], *, expected_version: int | None = None
    ) -> int:
        """Add events to the history of a key, all or none, and give the version it has then.

        Where its version is not the expected one nothing is added; None expects nothing.
        """
        with self._guard:
            for _ in range(_ATTEMPTS):
                known = self._appended(key.encode(), events, expected_version)
                if known is not None:
                    return known
        raise RecordError(
            "VERSION_BUSY",
            f'"{key}" of topic "{self._topic.name}" was written by others {_ATTEMPTS} times',
            hint="Nothing was written: try again when fewer write the same partition.",
        )

    def version(self, key: str) -> int:
        """Give how many events a key has."""
        with self._guard:
            return self._caught_up(key.encode())[1]

    def events(
        self, key: str, *, version: int | None = None, until: int | None = None
    ) -> list[Event]:
        """Give the history of a key, up to a version or a time in milliseconds.

        The whole partition is read for it; a state that is asked for often belongs into a table.
        """
        found: list[Event] = []
        partition = partition_of_key(key.encode(), self._topic.partitions)
        for row in self._rows(partition, 0):
            if row[KEY_COLUMN] == key.encode():
                found.append(Event(len(found) + 1, row[TIMESTAMP_COLUMN], self._body(row)))
        return [
            event
            for event in found
            if (version is None or event.version <= version)
            and (until is None or event.timestamp <= until)
        ]

    def fold(
        self,
        key: str,
        start: T,
        apply: Callable[[T, Body], T],
        *,
        version: int | None = None,
        until: int | None = None,
    ) -> T:
        """Give the state of a key: what its events make of a start, one after the other."""
        state = start
        for event in self.events(key, version=version, until=until):
            state = apply(state, event.body)
        return state

    def close(self) -> None:
        """Let go of the partitions that were written."""
        with self._guard:
            for known in self._partitions.values():
                if known.writer is not None:
                    known.writer.close()
                    known.writer = None

    def _appended(self, key: bytes, events: Sequence[Body], expected: int | None) -> int | None:
        """Add events; none where somebody else has begun to write the partition meanwhile."""
        partition = partition_of_key(key, self._topic.partitions)
        known = self._partitions.setdefault(partition, _Partition())
        # Before the version is looked at: from here on others cannot commit unnoticed.
        writer = known.writer or self._log.transaction(f"events-{self._topic.name}-{partition}")
        known.writer = writer
        version = self._caught_up(key)[1]
        if expected not in (None, version):
            raise RecordError(
                "VERSION_CONFLICT",
                f'"{key.decode()}" of topic "{self._topic.name}" has version {version}, and'
                f" {expected} was expected",
                hint="Read its events again, decide anew, and expect the version it has now.",
            )
        if not events:
            return version
        rows = self._table(key, events)
        try:
            writer.begin()
            done = writer.append(self._topic.name, partition, rows)
            writer.commit()
        except PenstockError as refusal:
            known.writer = None
            with contextlib.suppress(TransactionError):
                writer.close()
            if refusal.code != _FENCED:
                raise
            return None
        known.own |= dict.fromkeys(range(done.base_offset, done.last_offset + 1), key)
        return version + len(events)

    def _caught_up(self, key: bytes) -> tuple[_Partition, int]:
        """Read what is new in the partition of a key; give it and the key's version."""
        partition = partition_of_key(key, self._topic.partitions)
        known = self._partitions.setdefault(partition, _Partition())
        for row in self._rows(partition, known.read_to, columns=(OFFSET_COLUMN, KEY_COLUMN)):
            known.counts[row[KEY_COLUMN]] += 1
            known.read_to = row[OFFSET_COLUMN] + 1
            known.own.pop(row[OFFSET_COLUMN], None)
        # A transaction that others hold open may keep from readers what was written after it.
        return known, known.counts[key] + list(known.own.values()).count(key)

    def _rows(
        self, partition: int, first: int, columns: tuple[str, ...] | None = None
    ) -> Iterator[dict[str, Any]]:
        bound = self._log.bounds(self._topic.name, partition)
        place = (self._topic.name, partition)
        begin = max(first, bound.start)
        for table in tables_between(self._log, place, begin, bound.end, columns):
            yield from table.to_pylist()

    def _table(self, key: bytes, events: Sequence[Body]) -> pa.Table:
        keys = binary_array([key] * len(events))
        schema = self._topic.schema
        try:
            if schema is not None:
                rows = pa.Table.from_pylist([dict(event) for event in events], schema)
                return rows.append_column(KEY_COLUMN, keys)
            texts = [json.dumps(event, ensure_ascii=False).encode() for event in events]
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise RecordError(
                "EVENT_BODY",
                f'an event of "{key.decode()}" cannot be stored in topic "{self._topic.name}":'
                f" {error}",
                hint="Give values of the topic's columns, or what JSON knows where it has none.",
            ) from error
        return pa.table({KEY_COLUMN: keys, VALUE_COLUMN: binary_array(texts)})

    def _body(self, row: Mapping[str, Any]) -> Body:
        if self._topic.schema is None:
            body: Body = json.loads(row[VALUE_COLUMN])
            return body
        return {name: value for name, value in row.items() if name not in SYSTEM_COLUMNS}
