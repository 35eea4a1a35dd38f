"""The dead letters of a log: which topics hold them, why they are there, which were replayed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from penstock.errors import TopicError
from penstock.log.port import Log
from penstock.log.record import OFFSET_COLUMN, PARTITION_COLUMN, Headers
from penstock.log.stretch import tables_now

REPLAYED = ".replayed"
"""What the topic is called after a dead-letter topic that says which of its letters were sent."""
REPLAYED_SCHEMA = pa.schema(
    [
        ("letters_id", pa.string()),
        ("topic_id", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("topic", pa.string()),
        ("from_partition", pa.int32()),
        ("from_offset", pa.int64()),
        ("to_partition", pa.int32()),
        ("to_offset", pa.int64()),
    ]
)
"""Where in its topic a letter is, which record it is about, and where that is now.

The ids are those of both topics: a topic that was made anew has nothing to do with the old one.
"""

_SHAPE = ("step", "site", "error", "traceback", "row", "time")
_CODE = re.compile(r"\[([A-Z0-9_]+)\]")
_KIND = re.compile(r"([\w.]+)(?::|$)")


class Source(NamedTuple):
    """The record that a letter is about; the offset is none where it is not known."""

    topic: str | None
    partition: int | None
    offset: int | None


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter, and where in its topic it is.

    Where the value of the record could not be read, `raw`, `key`, `headers` and `timestamp` are
    the record's own.
    """

    partition: int
    offset: int
    step: str
    site: str
    error: str
    traceback: str | None
    row: str | None
    time: int | None
    source: Source
    timestamp: int | None = None
    key: bytes | None = None
    headers: Headers = ()
    raw: bytes | None = None
    replayed: bool = False

    @property
    def reason(self) -> str:
        """The code of the error, or the name of what was raised."""
        return reason_of(self.error)


@dataclass(frozen=True, slots=True)
class Pile:
    """Letters of one topic with the same reason, from the same step and source."""

    topic: str
    reason: str
    step: str
    source: str
    letters: int
    replayed: int


class Seat(NamedTuple):
    """Where a letter is in its topic."""

    partition: int
    offset: int


def reason_of(error: str) -> str:
    """Give the code that an error begins with, or the name of the exception."""
    found = _CODE.match(error) or _KIND.match(error)
    return found[1] if found else error.split(maxsplit=1)[0] if error.strip() else "unknown"


def dead_topics(log: Log) -> tuple[str, ...]:
    """Give the topics that hold dead letters."""
    return tuple(name for name in log.topics() if _is_dead(log, name))


def require_dead_topic(log: Log, name: str) -> str:
    """Give the dead-letter topic of a name, or of the results beside it."""
    for found in (name, f"{name}.dead"):
        if found in log.topics() and _is_dead(log, found):
            return found
    known = dead_topics(log)
    raise TopicError(
        "DEAD_TOPIC",
        f'topic "{name}" holds no dead letters',
        hint=f"These do: {', '.join(known)}." if known else "No topic of this log does.",
    )


def letters(log: Log, topic: str) -> Iterator[Letter]:
    """Give the dead letters of a topic, partition by partition in their order."""
    done = replayed(log, topic)
    for row in _rows(log, topic):
        seat = Seat(row[PARTITION_COLUMN], row[OFFSET_COLUMN])
        source = Source(row.get("topic"), row.get("partition"), row.get("offset"))
        yield Letter(
            seat.partition,
            seat.offset,
            **{name: row[name] for name in _SHAPE},
            source=source,
            timestamp=row.get("timestamp"),
            key=row.get("key"),
            headers=tuple((item["key"], item["value"]) for item in row.get("headers") or ()),
            raw=row.get("raw"),
            replayed=done.has(seat, source),
        )


def piles(log: Log, topics: Sequence[str] | None = None) -> list[Pile]:
    """Count the letters of topics by reason, the largest pile of each first."""
    found: list[Pile] = []
    for topic in dead_topics(log) if topics is None else topics:
        counts: Counter[tuple[str, str, str]] = Counter()
        sent: Counter[tuple[str, str, str]] = Counter()
        done = replayed(log, topic)
        for row in _rows(log, topic, ("error", "step", "topic", "partition", "offset")):
            kind = (reason_of(row["error"]), row["step"], row.get("topic") or "")
            source = Source(row.get("topic"), row.get("partition"), row.get("offset"))
            counts[kind] += 1
            sent[kind] += done.has(Seat(row[PARTITION_COLUMN], row[OFFSET_COLUMN]), source)
        found += [Pile(topic, *kind, number, sent[kind]) for kind, number in counts.most_common()]
    return found


@dataclass(frozen=True, slots=True)
class Sent:
    """The letters of a topic that were sent again, and the records they were."""

    seats: frozenset[Seat] = frozenset()
    sources: frozenset[Source] = frozenset()

    def has(self, seat: Seat, source: Source) -> bool:
        """Say whether a letter was sent, or another one that is about the same record."""
        return seat in self.seats or source in self.sources


def replayed(log: Log, topic: str) -> Sent:
    """Give what was sent again of a topic's letters."""
    name = f"{topic}{REPLAYED}"
    if name not in log.topics():
        return Sent()
    known = {found: log.topic(found).topic_id for found in log.topics()}
    rows = list(_rows(log, name))
    return Sent(
        frozenset(
            Seat(row["partition"], row["offset"])
            for row in rows
            if row["letters_id"] == known[topic]
        ),
        frozenset(
            Source(row["topic"], row["from_partition"], row["from_offset"])
            for row in rows
            if row["topic_id"] == known.get(row["topic"])
        ),
    )


def _is_dead(log: Log, name: str) -> bool:
    schema = log.topic(name).schema
    return schema is not None and set(_SHAPE) <= set(schema.names)


def _rows(log: Log, topic: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Give all rows of a topic with columns."""
    described = log.topic(topic)
    assert described.schema is not None
    own = described.schema.names
    wanted = [name for name in own if columns is None or name in columns]
    for partition in range(described.partitions):
        for table in tables_now(log, topic, partition, (OFFSET_COLUMN, *wanted)):
            for row in table.to_pylist():
                yield {PARTITION_COLUMN: partition, **row}
