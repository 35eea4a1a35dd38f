"""Dead letters go back to the topics they came from, each once.

The records and the note of which letters they were become visible in one transaction: what is
noted is not sent again, and what is not noted was not sent. Who replays a topic takes its
transaction over, so that two who do so at once do not both send.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import pyarrow as pa

from penstock.jobs.dead_letters import REPLAYED, REPLAYED_SCHEMA, Letter, Source, letters
from penstock.log.port import Log, ReadLimit, Transaction
from penstock.log.record import HEADERS_COLUMN, OFFSET_COLUMN, TopicPartition
from penstock.log.rows import headers_array, rows_of_bytes

ORIGIN_HEADER = "penstock.origin"
"""The record that a replayed one is again: `topic/partition/offset`."""
LETTER_HEADER = "penstock.dead-letter"
"""The letter that it was replayed from, said in the same way."""

_AT_ONCE = 10_000
_READ_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Selection:
    """Which letters are meant; what is left out selects all."""

    topic: str | None = None
    """The topic that the records came from."""
    reason: str | None = None
    offsets: Callable[[int], bool] = field(default=lambda _: True)
    """Which offsets of the dead-letter topic."""

    def takes(self, letter: Letter) -> bool:
        """Say whether a letter is meant."""
        return (
            self.topic in (None, letter.source.topic)
            and self.reason in (None, letter.reason)
            and self.offsets(letter.offset)
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many letters were sent again, and why others of the selection were not."""

    sent: Mapping[TopicPartition, int] = field(default_factory=dict)
    before: int = 0
    """Those that had been sent before."""
    rowless: int = 0
    """Those that do not know their record: they failed after rows had been brought together."""
    gone: int = 0
    """Those whose record the log no longer has."""

    @property
    def records(self) -> int:
        """How many records were sent."""
        return sum(self.sent.values())


def replay(log: Log, topic: str, selection: Selection | None = None) -> Replayed:
    """Send the records of dead letters back to their topics, those that have not been."""
    chosen = selection or Selection()
    _ensure_notes(log, topic)
    transaction = log.transaction(f"replay-{topic}")
    try:
        # Only now: what others have sent up to here is noted.
        meant = (letter for letter in letters(log, topic) if chosen.takes(letter))
        return _Sending(log, topic, transaction).all_of(meant)
    finally:
        transaction.close()


@dataclass(slots=True)
class _Sending:
    """Letters of one topic on their way, some thousand at a time."""

    log: Log
    topic: str
    transaction: Transaction
    sent: dict[TopicPartition, int] = field(default_factory=dict)
    seen: set[Source] = field(default_factory=set)
    before: int = 0
    rowless: int = 0
    gone: int = 0

    def all_of(self, meant: Iterator[Letter]) -> Replayed:
        while some := list(islice(meant, _AT_ONCE)):
            self._send(some)
        return Replayed(self.sent, self.before, self.rowless, self.gone)

    def _send(self, some: Sequence[Letter]) -> None:
        waiting: dict[TopicPartition, list[Letter]] = defaultdict(list)
        for letter in some:
            source = letter.source
            if letter.replayed or source in self.seen:
                # One record may have failed in several steps: it goes back once.
                self.before += 1
            elif source.topic is None or source.partition is None or source.offset is None:
                self.rowless += 1
            else:
                self.seen.add(source)
                waiting[TopicPartition(source.topic, source.partition)].append(letter)
        parts = [part for place, found in waiting.items() for part in self._parts(place, found)]
        if not parts:
            return
        self.transaction.begin()
        notes = [self._append(*part) for part in parts]
        self.transaction.append(f"{self.topic}{REPLAYED}", 0, pa.concat_tables(notes))
        self.transaction.commit()
        for place, found, _ in parts:
            self.sent[place] = self.sent.get(place, 0) + len(found)

    def _parts(
        self, place: TopicPartition, found: Sequence[Letter]
    ) -> Iterator[tuple[TopicPartition, Sequence[Letter], pa.Table]]:
        """Give letters and their records: as they hold them, or as the log still does."""
        whole = [letter for letter in found if letter.raw is not None]
        if whole:
            yield place, whole, self._held(place, whole)
        others = [letter for letter in found if letter.raw is None]
        if others:
            kept, rows = self._read(place, others)
            self.gone += len(others) - len(kept)
            if kept:
                yield place, kept, rows

    def _held(self, place: TopicPartition, found: Sequence[Letter]) -> pa.Table:
        return rows_of_bytes(
            [letter.raw for letter in found],
            keys=[letter.key for letter in found],
            timestamps=[letter.timestamp or 0 for letter in found],
            headers=[letter.headers + self._origin(place, letter) for letter in found],
        )

    def _read(
        self, place: TopicPartition, found: Sequence[Letter]
    ) -> tuple[Sequence[Letter], pa.Table]:
        """Read the records of letters again; those that are gone are left out."""
        by_offset = {letter.source.offset or 0: letter for letter in found}
        kept: list[Letter] = []
        rows: list[pa.Table] = []
        for offset, row in _records(self.log, place, sorted(by_offset)):
            letter = by_offset[offset]
            held = row.column(HEADERS_COLUMN).to_pylist()[0] or []
            own = tuple((item["key"], item["value"]) for item in held)
            told = headers_array([own + self._origin(place, letter)])
            at = row.column_names.index(HEADERS_COLUMN)
            rows.append(row.set_column(at, HEADERS_COLUMN, told).drop_columns([OFFSET_COLUMN]))
            kept.append(letter)
        return kept, pa.concat_tables(rows) if rows else None

    def _origin(self, place: TopicPartition, letter: Letter) -> tuple[tuple[str, bytes], ...]:
        origin = f"{place.topic}/{place.partition}/{letter.source.offset}"
        own = f"{self.topic}/{letter.partition}/{letter.offset}"
        return (ORIGIN_HEADER, origin.encode()), (LETTER_HEADER, own.encode())

    def _append(self, place: TopicPartition, found: Sequence[Letter], rows: pa.Table) -> pa.Table:
        appended = self.transaction.append(place.topic, place.partition, rows)
        return pa.table(
            {
                "letters_id": [self.log.topic(self.topic).topic_id] * len(found),
                "topic_id": [self.log.topic(place.topic).topic_id] * len(found),
                "partition": [letter.partition for letter in found],
                "offset": [letter.offset for letter in found],
                "topic": [place.topic] * len(found),
                "from_partition": [place.partition] * len(found),
                "from_offset": [letter.source.offset for letter in found],
                "to_partition": [place.partition] * len(found),
                "to_offset": [appended.base_offset + number for number in range(len(found))],
            },
            schema=REPLAYED_SCHEMA,
        )


def _ensure_notes(log: Log, topic: str) -> None:
    name = f"{topic}{REPLAYED}"
    if name not in log.topics():
        log.create_topic(name, schema=REPLAYED_SCHEMA)


def _records(
    log: Log, place: TopicPartition, offsets: Iterable[int]
) -> Iterator[tuple[int, pa.Table]]:
    """Give the records at some offsets, in order; one that is gone is left out."""
    bounds = log.bounds(place.topic, place.partition)
    limit = ReadLimit(records=_READ_ROWS, stop=bounds.end)
    held: dict[int, int] = {}
    rows: pa.Table = None
    read_to = -1
    for offset in offsets:
        if offset >= read_to and bounds.start <= offset < bounds.end:
            chunk = log.read(place.topic, place.partition, offset, limit)
            rows, read_to = chunk.rows, chunk.next_offset
            found = rows.column(OFFSET_COLUMN).to_pylist()
            held = {at: number for number, at in enumerate(found)}
        if offset in held:
            yield offset, rows.slice(held[offset], 1)
