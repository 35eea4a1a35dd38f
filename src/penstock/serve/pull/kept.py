"""The rows of one relation, kept at hand: read once, and from then on as far as they came."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.front.sql.rows import GONE
from penstock.front.sql.source import ROW_OFFSET, ROW_PARTITION
from penstock.log.port import Bounds, Log, ReadLimit
from penstock.log.record import TopicPartition
from penstock.serve.pull.chunks import Chunks
from penstock.serve.pull.key_index import KeyIndex, Rows, hashes_of
from penstock.serve.pull.source import Source

Check: TypeAlias = Callable[[int], None]
"""Told how many bytes more are about to be kept; raises where that is too much, or too late."""
_MANY_GONE = 10_000


class Kept:
    """All rows of a stream or a history, or of a table the last one of each key.

    Whoever advances or looks up holds the `lock`; what `rows` gives stays as it is.
    """

    def __init__(self, source: Source, log: Log) -> None:
        self.source = source
        self.lock = threading.RLock()
        self.offsets: dict[TopicPartition, int] = {}
        self.used_at = 0
        self._log = log
        self._starts: dict[TopicPartition, int] = {}
        self._chunks = Chunks(source.reader.schema)
        self._index = KeyIndex()
        self._seed = secrets.randbits(63)
        self._over: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._gone = 0
        self._seen: pa.Table | None = None
        self._version = 0

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        seen = 0 if self._seen is None or not self._gone else self._seen.nbytes
        return self._chunks.nbytes + self._index.nbytes + self._over.nbytes + seen

    @property
    def height(self) -> int:
        """How many rows it has."""
        return self._chunks.height - self._gone

    def advance(self, bounds: Mapping[TopicPartition, Bounds], check: Check) -> None:
        """Read what came up to some ends; forget what the log no longer has."""
        for at, bound in bounds.items():
            position = max(self.offsets.get(at, bound.start), bound.start)
            while position < bound.end:
                position = self._step(at, position, bound.end, check)
            self.offsets[at] = max(position, self.offsets.get(at, 0))
        starts = {at: bound.start for at, bound in bounds.items()}
        if self._starts and starts != self._starts:
            self._forget(starts)
        self._starts = starts

    def captured(self) -> Callable[[], pa.Table]:
        """Give what will give the rows that there are now, hidden columns included.

        It takes its time after the lock is let go, so that others need not wait for it.
        """
        if self._seen is None and not self._gone:
            self._seen = self._chunks.whole()
        seen = self._seen
        if seen is not None:
            return lambda: seen
        whole, there = self._chunks.whole(), ~self._over[: self._chunks.height]
        version = self._version

        def rows() -> pa.Table:
            found = whole.filter(pa.array(there))
            with self.lock:
                if self._version == version:
                    self._seen = found
            return found

        return rows

    def look_up(self, key: pa.Table) -> pa.Table:
        """Give the row of a whole key, or none."""
        keys = self._keys
        (wanted,) = hashes_of(key, keys, self._seed).tolist()
        place = self._index.get(wanted)
        if place is None or (place < len(self._over) and self._over[place]):
            return self._chunks.schema.empty_table()
        row = self._chunks.row(place)
        same = all(row.column(name)[0].as_py() == key.column(name)[0].as_py() for name in keys)
        return row if same else self._chunks.schema.empty_table()

    @property
    def _keys(self) -> tuple[str, ...]:
        return (*self.source.keys, *self.source.bounds)

    def _step(self, at: TopicPartition, position: int, end: int, check: Check) -> int:
        chunk = self._log.read(at.topic, at.partition, position, ReadLimit(stop=end))
        if chunk.rows.num_rows:
            rows = self.source.reader.read(chunk.rows, at.partition)
            check(rows.nbytes)
            self._add(rows)
        # Nothing to read before the end: what was there is compacted or was aborted.
        self.offsets[at] = max(chunk.next_offset, position + 1)
        return self.offsets[at]

    def _add(self, rows: pa.Table) -> None:
        self._seen, self._version = None, self._version + 1
        if self.source.kind != "table" and not self.source.history:
            rows = rows.filter(pc.invert(rows.column(GONE)))
        first = self._chunks.height
        self._chunks.append(rows.cast(self._chunks.schema))
        if not self.source.is_table or not rows.num_rows:
            return
        self._mark(self._index.put(hashes_of(rows, self._keys, self._seed), first))
        gone = np.flatnonzero(rows.column(GONE).to_numpy()).astype(np.int64)
        self._mark(gone + first)
        if self._gone > max(_MANY_GONE, self._chunks.height // 2):
            self._compact()

    def _mark(self, places: Rows) -> None:
        """Let rows count no longer."""
        if len(self._over) < self._chunks.height:
            wider = np.zeros(2 * self._chunks.height, np.bool_)
            wider[: len(self._over)] = self._over
            self._over = wider
        self._gone += int(np.count_nonzero(~self._over[places]))
        self._over[places] = True

    def _forget(self, starts: Mapping[TopicPartition, int]) -> None:
        whole = self._chunks.whole()
        partition = whole.column(ROW_PARTITION).to_numpy()
        offset = whole.column(ROW_OFFSET).to_numpy()
        old = np.zeros(len(offset), np.bool_)
        for at, start in starts.items():
            old |= (partition == at.partition) & (offset < start)
        self._mark(np.flatnonzero(old).astype(np.int64))
        if self._gone:
            self._compact()

    def _compact(self) -> None:
        """Let go of the rows that no longer count."""
        there = ~self._over[: self._chunks.height]
        places = np.where(there, np.cumsum(there) - 1, -1).astype(np.int64)
        rows = self._chunks.whole().filter(pa.array(there))
        self._chunks = Chunks(self._chunks.schema)
        self._chunks.append(rows)
        if self.source.is_table:
            self._index.keep(places)
        self._over = np.zeros(self._chunks.height, np.bool_)
        self._gone, self._seen, self._version = 0, None, self._version + 1
