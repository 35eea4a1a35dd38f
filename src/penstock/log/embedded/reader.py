"""Reading one partition: by offset, by time, all rows or only the committed ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock.errors import OffsetError
from penstock.log.embedded.decisions import TransactionDecisions
from penstock.log.embedded.frame import HEADER_SIZE, Frame
from penstock.log.embedded.gathered import Gathered
from penstock.log.embedded.head import Head
from penstock.log.embedded.index import (
    IndexEntry,
    decode_index,
    position_before_offset,
    position_before_time,
)
from penstock.log.embedded.manifest import segment_name
from penstock.log.embedded.payload import decode_payload, offsets_of
from penstock.log.embedded.segment import PIECE, StoredFrame, read_frames, read_headers
from penstock.log.embedded.view import View, ViewReader
from penstock.log.port import Bounds, Chunk, Isolation, ReadLimit, SegmentInfo
from penstock.log.record import TIMESTAMP_COLUMN
from penstock.log.rows import numbers, row_schema, value_schema
from penstock.log.storage import File, Storage
from penstock.log.topic import Topic

_OPEN_FILES = 64
_CURSORS = 256
_LIKELY_RECORD = 512
_SMALLEST_PIECE = 128 * 1024


class Horizon(NamedTuple):
    """How far a reader may go, which transactions it must not see, which lack only a marker."""

    end: int
    hidden: frozenset[tuple[int, int, int]]
    decided: frozenset[tuple[int, int, int]] = frozenset()


class _Place(NamedTuple):
    """A segment's file and the part of it that holds published frames."""

    name: str
    base_offset: int
    end: int
    max_timestamp: int


class _Cursor(NamedTuple):
    """Where an offset lies; the length of the frame there is 0 where it is not known."""

    name: str
    position: int
    length: int


class PartitionReader:
    """Gives rows of one partition; any number of readers, in any process, at any time."""

    def __init__(
        self, storage: Storage, directory: str, topic: Topic, decisions: TransactionDecisions
    ) -> None:
        self._storage = storage
        self._directory = directory
        self._values = value_schema(topic)
        self._schema = row_schema(topic)
        self._name = directory.removeprefix("topics/")
        self._decisions = decisions
        self._views = ViewReader(storage, directory)
        self._generation = 0
        self._files: OrderedDict[str, File] = OrderedDict()
        self._indexes: OrderedDict[str, list[IndexEntry]] = OrderedDict()
        self._cursors: OrderedDict[tuple[int, int], _Cursor] = OrderedDict()

    def head(self) -> Head:
        """The newest head of the partition."""
        return self._views.head()

    def view(self) -> View:
        """The newest consistent view of the partition."""
        return self._views.view()

    def bounds(self, isolation: Isolation) -> Bounds:
        """The offsets a reader can have."""
        view, horizon = self.look(isolation)
        return Bounds(view.head.start_offset, horizon.end)

    def look_for_snapshot(self) -> tuple[Bounds, object]:
        """The committed bounds, and a stamp that changes whenever a transaction is decided."""
        view, horizon = self.look("committed")
        bounds = Bounds(view.head.start_offset, horizon.end)
        return bounds, (view.head.marker_count, horizon.decided)

    def look(self, isolation: Isolation) -> tuple[View, Horizon]:
        """The newest view, and how far a reader of it may go."""
        while True:
            view = self._views.view()
            if isolation == "uncommitted":
                return view, Horizon(view.head.end_offset, frozenset())
            horizon = self._horizon(view)
            if not view.head.open or self._still_open(view, horizon):
                return view, horizon

    def _still_open(self, view: View, horizon: Horizon) -> bool:
        """Whether transactions taken for aborted still lack their marker.

        The outcome of a transaction is kept until its markers are written. One that has got
        its marker since the view may have been committed and forgotten: look again.
        """
        doubtful = horizon.hidden - view.hidden
        return not doubtful or doubtful <= {item.key for item in self._views.head().open}

    def _horizon(self, view: View) -> Horizon:
        """Ask what became of open transactions: a decided one counts before its marker."""
        if not view.head.open:
            return Horizon(view.head.end_offset, view.hidden)
        end, hidden, decided = view.head.end_offset, set(view.hidden), set()
        for item in view.head.open:
            outcome = self._decisions.outcome(*item.key)
            if outcome == "open":
                end = min(end, item.first_offset)
                continue
            decided.add(item.key)
            if outcome == "aborted":
                hidden.add(item.key)
        return Horizon(end, frozenset(hidden), frozenset(decided))

    def read(self, offset: int, limit: ReadLimit) -> Chunk:
        """Give the rows from an offset on, up to a limit, without waiting."""
        while True:
            view, horizon = self.look(limit.isolation)
            try:
                return self._read(view, horizon, offset, limit)
            except FileNotFoundError:
                # Retention or compaction took the segment away: look again, unless nothing changed.
                if self._views.head().change == view.head.change:
                    raise

    def offset_at_time(self, timestamp: int) -> int | None:
        """The first committed offset whose timestamp is at or after a time."""
        while True:
            view, horizon = self.look("committed")
            try:
                return self._offset_at_time(view, horizon, timestamp)
            except FileNotFoundError:
                if self._views.head().change == view.head.change:
                    raise

    def segments(self) -> list[SegmentInfo]:
        """The segments of the partition, oldest first."""
        view = self._views.view()
        head = view.head
        sealed = [
            SegmentInfo(
                item.base_offset,
                item.next_offset,
                item.size,
                item.records,
                item.min_timestamp,
                item.max_timestamp,
                f"{self._directory}/{item.name}.seg",
                active=False,
            )
            for item in view.manifest.segments
        ]
        active = SegmentInfo(
            head.active_base,
            head.end_offset,
            head.end_position,
            head.active_records,
            head.active_min_timestamp,
            head.active_max_timestamp,
            f"{self._directory}/{segment_name(head.active_base)}.seg",
            active=True,
        )
        return [*sealed, active]

    def frames(
        self,
        view: View,
        offset: int,
        piece: int = PIECE,
        *,
        wanted: Callable[[Frame], bool] = lambda _: True,
    ) -> Iterator[StoredFrame]:
        """Give the stored frames of a view, from the one that holds an offset on."""
        first = max(view.manifest.position_of(offset), 0)
        if offset >= view.head.active_base:
            first = len(view.manifest.segments)
        for number, place in enumerate(self._places(view, first)):
            begin = self._position_of(view, place, offset) if number == 0 else 0
            path = f"{self._directory}/{place.name}.seg"
            file = self._file(place.name)
            yield from read_frames(file, path, begin, place.end, piece, wanted=wanted)

    def _let_go(self, view: View) -> None:
        """Drop the files of segments that were cleaned away, so that their disk space is free."""
        if view.manifest.generation == self._generation:
            return
        self._generation = view.manifest.generation
        present = {item.name for item in view.manifest.segments}
        for name in list(self._files):
            if name not in present and name != segment_name(view.head.active_base):
                self._files.pop(name, None)

    def _read(self, view: View, horizon: Horizon, offset: int, limit: ReadLimit) -> Chunk:
        self._check_offset(view.head, offset)
        self._let_go(view)
        stop = horizon.end if limit.stop is None else min(horizon.end, limit.stop)
        schema = self._columns(limit.columns)
        gathered = Gathered(limit, offset)
        last: StoredFrame | None = None
        reach = Horizon(stop, horizon.hidden)
        if offset < stop:
            for stored in self.frames(
                view, offset, self._piece(view, offset, limit), wanted=gathered.fits
            ):
                frame = stored.frame
                if frame.base_offset >= stop:
                    break
                if not gathered.fits(frame):
                    self._remember(view, gathered.next_offset, stored)
                    return gathered.chunk(schema)
                if frame.last_offset >= offset:
                    self._gather(stored, gathered, reach)
                if gathered.full:
                    self._remember(view, gathered.next_offset, stored)
                    return gathered.chunk(schema)
                last = stored
            if last is not None:
                self._remember(view, stop, last)
        return gathered.chunk(schema, max(offset, stop))

    def _gather(self, stored: StoredFrame, gathered: Gathered, horizon: Horizon) -> None:
        frame = stored.frame
        if frame.is_marker or not frame.records or frame.transaction_key in horizon.hidden:
            gathered.next_offset = min(frame.next_offset, horizon.end)
            return
        rows = decode_payload(frame, stored.buffer, stored.start, self._values)
        keep = _rows_between(frame, rows, gathered.next_offset, horizon.end)
        kept = gathered.room(keep.stop - keep.start)
        keep = slice(keep.start, keep.start + kept)
        gathered.add(frame, rows, keep)
        gathered.next_offset = min(frame.next_offset, horizon.end)
        if gathered.full and keep.stop < rows.num_rows:
            following = int(offsets_of(frame, rows)[keep.stop])
            gathered.next_offset = min(following, horizon.end)

    def _offset_at_time(self, view: View, horizon: Horizon, timestamp: int) -> int | None:
        for place in self._places(view, 0):
            if place.max_timestamp >= timestamp:
                found = self._first_at_time(place, timestamp, view.head.start_offset, horizon)
                if found is not None:
                    return found
        return None

    def _check_offset(self, head: Head, offset: int) -> None:
        if not head.start_offset <= offset <= head.end_offset:
            raise OffsetError(
                "OFFSET_RANGE",
                f'offset {offset} of partition "{self._name}" is outside'
                f" {head.start_offset} to {head.end_offset}",
                hint="Read from the earliest or the latest offset instead.",
            )

    def _columns(self, names: tuple[str, ...] | None) -> pa.Schema:
        if names is None:
            return self._schema
        return pa.schema([self._schema.field(name) for name in names])

    def _places(self, view: View, first: int) -> Iterator[_Place]:
        for item in view.manifest.segments[first:]:
            yield _Place(item.name, item.base_offset, item.size, item.max_timestamp)
        head = view.head
        yield _Place(
            segment_name(head.active_base),
            head.active_base,
            head.end_position,
            head.active_max_timestamp,
        )

    def _position_of(self, view: View, place: _Place, offset: int) -> int:
        cursor = self._cursors.get((view.manifest.generation, offset))
        if cursor is not None and cursor.name == place.name:
            return cursor.position
        is_active = place.base_offset == view.head.active_base
        entries = self._index(place.name, changing=is_active)
        position = position_before_offset(entries, offset)
        path = f"{self._directory}/{place.name}.seg"
        for frame, at in read_headers(self._file(place.name), path, position, place.end):
            position = at
            if frame.last_offset >= offset:
                break
        return position

    def _first_at_time(
        self, place: _Place, timestamp: int, start_offset: int, horizon: Horizon
    ) -> int | None:
        path = f"{self._directory}/{place.name}.seg"
        file = self._file(place.name)
        begin = position_before_time(self._index(place.name, changing=True), timestamp)
        for frame, at in read_headers(file, path, begin, place.end):
            if frame.base_offset >= horizon.end:
                return None
            readable = frame.records and not frame.is_marker
            if not readable or frame.max_timestamp < timestamp:
                continue
            if frame.transaction_key in horizon.hidden:
                continue
            stored = next(read_frames(file, path, at, at + frame.length, frame.length))
            rows = decode_payload(frame, stored.buffer, stored.start, self._values)
            times = numbers(rows.column(TIMESTAMP_COLUMN), np.int64)
            offsets = offsets_of(frame, rows)
            matching = offsets[(times >= timestamp) & (offsets >= start_offset)]
            if len(matching):
                return int(matching[0]) if matching[0] < horizon.end else None
        return None

    def _piece(self, view: View, offset: int, limit: ReadLimit) -> int:
        """How much to read from disk at a time: no more than the answer is likely to need."""
        likely = limit.bytes
        if limit.records is not None:
            likely = min(likely, limit.records * _LIKELY_RECORD)
        piece = min(max(likely, _SMALLEST_PIECE), PIECE)
        cursor = self._cursors.get((view.manifest.generation, offset))
        return piece if cursor is None else max(piece, cursor.length + HEADER_SIZE)

    def _remember(self, view: View, offset: int, stored: StoredFrame) -> None:
        """Keep where an offset lies, and how large the frame there is, if it is known."""
        position, length = stored.position, stored.frame.length
        if stored.frame.next_offset <= offset:
            position, length = position + length, 0
        name = self._name_at(view, stored.frame.base_offset)
        self._cursors[view.manifest.generation, offset] = _Cursor(name, position, length)
        if len(self._cursors) > _CURSORS:
            self._cursors.popitem(last=False)

    def _name_at(self, view: View, offset: int) -> str:
        if offset >= view.head.active_base:
            return segment_name(view.head.active_base)
        return view.manifest.segments[view.manifest.position_of(offset)].name

    def _file(self, name: str) -> File:
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = self._storage.open(f"{self._directory}/{name}.seg")
            if len(self._files) > _OPEN_FILES:
                # Dropped, not closed: another thread may be reading it; the last one closes it.
                self._files.popitem(last=False)
        return file

    def _index(self, name: str, *, changing: bool) -> list[IndexEntry]:
        entries = None if changing else self._indexes.get(name)
        if entries is None:
            try:
                entries = decode_index(self._storage.read(f"{self._directory}/{name}.idx"))
            except FileNotFoundError:
                entries = []
            if not changing:
                self._indexes[name] = entries
                if len(self._indexes) > _OPEN_FILES:
                    self._indexes.popitem(last=False)
        return entries


def _rows_between(frame: Frame, rows: pa.RecordBatch, first: int, stop: int) -> slice:
    if first <= frame.base_offset and frame.last_offset < stop:
        return slice(0, rows.num_rows)
    offsets = offsets_of(frame, rows)
    return slice(int(np.searchsorted(offsets, first)), int(np.searchsorted(offsets, stop)))
