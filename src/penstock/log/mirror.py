"""Copying a topic to another log: each record once, in its partition and in its order.

Each batch is one transaction of the target. Its note tells which offsets of the source come next,
so that whoever goes on after a kill begins where the last transaction that stands has ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.errors import TopicError
from penstock.log.port import Appended, Bounds, Chunk, Log, ReadLimit, Transaction
from penstock.log.record import OFFSET_COLUMN, TopicPartition
from penstock.log.topic import Topic

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 8 * 1024 * 1024
_SMALLEST_SHARE = 256 * 1024
# Kafka keeps notes of 4000 bytes: a lane's positions have to fit into one.
_LANE = 100


@dataclass(frozen=True, slots=True)
class Route:
    """One topic of one log, and the topic of another log that it is copied to."""

    source: Log
    target: Log
    topic: str
    renamed: str = ""
    """What it is called at the target; empty: the same."""
    appends: bool = False
    """Whether records that others wrote may be in the target before the first copy."""

    @property
    def target_topic(self) -> str:
        """The topic's name at the target."""
        return self.renamed or self.topic


class Landing(NamedTuple):
    """Rows of a partition of the source, with their offsets, and where they landed."""

    source: TopicPartition
    source_id: str
    target_id: str
    rows: pa.Table
    landed: Appended


class Witness(Protocol):
    """Sees where records landed, and may write that down in the same transaction."""

    def saw(self, landing: Landing, transaction: Transaction) -> None:
        """Rows were appended, and the transaction is open."""
        ...


@dataclass(slots=True)
class _Lane:
    """Some partitions of a topic, which one transactional id copies."""

    transaction: Transaction
    positions: dict[int, int]
    target_id: str

    def note(self, moved: Mapping[int, int]) -> str:
        """Write down which offsets come next."""
        following = {str(number): at for number, at in {**self.positions, **moved}.items()}
        return json.dumps({"target": self.target_id, "next": following}, separators=(",", ":"))


@dataclass(slots=True)
class TopicMirror:
    """A topic on its way; `step` copies a batch, and what was copied is never copied again."""

    route: Route
    source: Topic
    target: Topic
    lanes: tuple[_Lane, ...]
    witness: Witness | None = None
    records: int = 0
    passed_over: int = 0
    """Offsets that retention took away before they could be copied."""
    _ends: dict[int, int] = field(default_factory=dict)

    @property
    def positions(self) -> dict[TopicPartition, int]:
        """The offsets of the source that come next."""
        name = self.source.name
        return {
            TopicPartition(name, number): at
            for lane in self.lanes
            for number, at in lane.positions.items()
        }

    def until(self, ends: Mapping[TopicPartition, Bounds]) -> None:
        """Copy nothing that comes after these ends."""
        name = self.source.name
        self._ends = {
            number: ends[TopicPartition(name, number)].end
            for number in range(self.source.partitions)
        }

    def step(self) -> int:
        """Copy one batch of each lane, each whole or not at all; give how many records."""
        copied = sum(self._copy(lane) for lane in self.lanes)
        self.records += copied
        return copied

    def reached(self) -> bool:
        """Whether all that was asked for is copied."""
        return all(self.positions[at] >= self._ends[at.partition] for at in self.positions)

    def _copy(self, lane: _Lane) -> int:
        chunks = self._chunks(lane)
        moved = {number: chunk.next_offset for number, chunk in chunks.items()}
        filled = {number: chunk.rows for number, chunk in chunks.items() if chunk.rows.num_rows}
        if filled:
            lane.transaction.begin()
            for number, rows in filled.items():
                self._append(lane.transaction, number, rows)
            lane.transaction.commit(lane.note(moved))
        lane.positions.update(moved)
        return sum(rows.num_rows for rows in filled.values())

    def _append(self, transaction: Transaction, number: int, rows: pa.Table) -> None:
        name = self.route.target_topic
        landed = transaction.append(name, number, rows.drop_columns([OFFSET_COLUMN]))
        if self.witness is not None:
            place = TopicPartition(self.source.name, number)
            ids = self.source.topic_id, self.target.topic_id
            self.witness.saw(Landing(place, *ids, rows, landed), transaction)

    def _chunks(self, lane: _Lane) -> dict[int, Chunk]:
        waiting = {
            number: at
            for number, at in lane.positions.items()
            if at < self._ends.get(number, at + 1)
        }
        share = max(_SMALLEST_SHARE, BATCH_BYTES // max(1, len(waiting)))
        found = {}
        for number, at in waiting.items():
            limit = ReadLimit(bytes=share, stop=self._ends.get(number))
            chunk = self.route.source.read(self.source.name, number, at, limit)
            if chunk.next_offset > at:
                found[number] = chunk
        return found


@contextmanager
def opened_mirror(route: Route, *, witness: Witness | None = None) -> Iterator[TopicMirror]:
    """Make the target's topic where there is none, and find out how far the copy has come."""
    source = route.source.topic(route.topic)
    target = _target(route, source)
    with ExitStack() as stack:
        lanes, passed_over = [], 0
        for first in range(0, source.partitions, _LANE):
            numbers = range(first, min(source.partitions, first + _LANE))
            name = f"penstock-mirror.{source.topic_id}.{route.target_topic}.{first // _LANE}"
            transaction = route.target.transaction(name)
            stack.callback(transaction.close)
            positions, gone = _positions(route, transaction.note, target, numbers)
            passed_over += gone
            lanes.append(_Lane(transaction, positions, target.topic_id))
        yield TopicMirror(
            route, source, target, tuple(lanes), witness=witness, passed_over=passed_over
        )


def _target(route: Route, source: Topic) -> Topic:
    return fitting_target(route, source) or route.target.create_topic(
        route.target_topic,
        partitions=source.partitions,
        schema=source.schema,
        config=source.config,
    )


def fitting_target(route: Route, source: Topic) -> Topic | None:
    """Give the target's topic, none where it is to be made; one that is another is refused."""
    name = route.target_topic
    if name not in route.target.topics():
        return None
    target = route.target.topic(name)
    if target.topic_id == source.topic_id:
        raise TopicError(
            "MIRROR_ITSELF",
            f'topic "{name}" would be copied to itself',
            hint="Name another log with --to, or other topics with --prefix.",
        )
    if target.partitions != source.partitions:
        raise TopicError(
            "MIRROR_PARTITIONS",
            f'topic "{name}" has {target.partitions} partitions at the target and'
            f" {source.partitions} at the source",
            hint="A record keeps its partition: delete the target's topic, so that it is made"
            " anew, or copy to another name with --prefix.",
        )
    if not _same_columns(source, target):
        raise TopicError(
            "MIRROR_SCHEMA",
            f'topic "{name}" has other columns at the target than at the source',
            hint="Delete the target's topic, so that it is made anew, or copy to another name"
            " with --prefix.",
        )
    return target


def _same_columns(source: Topic, target: Topic) -> bool:
    if source.schema is None or target.schema is None:
        return source.schema is target.schema
    return bool(source.schema.equals(target.schema))


def _positions(
    route: Route, note: str, target: Topic, numbers: range
) -> tuple[dict[int, int], int]:
    """Give where each partition goes on, and how many offsets are gone that were not copied."""
    bounds = {number: route.source.bounds(route.topic, number) for number in numbers}
    noted = json.loads(note) if note else {}
    if noted.get("target") != target.topic_id:
        # No note, or one about a topic of this name that is no more.
        _refuse_filled(route, numbers)
        return {number: bounds[number].start for number in numbers}, 0
    positions = {int(number): at for number, at in noted["next"].items()}
    for number, at in positions.items():
        if at > bounds[number].end:
            raise TopicError(
                "MIRROR_POSITION",
                f'partition "{route.topic}-{number}" ends at {bounds[number].end}, and records up'
                f" to {at} were copied from it",
                hint="The source has lost records since then: copy it to another name with"
                " --prefix.",
            )
    gone = sum(max(0, bounds[number].start - at) for number, at in positions.items())
    return {number: max(at, bounds[number].start) for number, at in positions.items()}, gone


def _refuse_filled(route: Route, numbers: range) -> None:
    if route.appends:
        return
    name = route.target_topic
    for number in numbers:
        if _has_records(route.target, name, number):
            raise TopicError(
                "MIRROR_TARGET_FILLED",
                f'topic "{name}" has records at the target that were not copied from this source',
                hint="Copy to another name with --prefix, or say --append to add to them.",
            )


def _has_records(log: Log, topic: str, partition: int) -> bool:
    """Whether anything can be read: aborted transactions leave offsets without records."""
    at, end = log.bounds(topic, partition)
    while at < end:
        chunk = log.read(topic, partition, at, ReadLimit(records=1))
        if chunk.rows.num_rows:
            return True
        if chunk.next_offset <= at:
            return False
        at = chunk.next_offset
    return False
