"""A statement that is followed: SELECT with EMIT CHANGES, worked through once for all.

One that remembers nothing is read again from any offset, so its tokens are offsets. One that
remembers (groups, joins, LIMIT) is not: its tokens count its answers while it runs, and whoever
comes later or was away for too long is given its rows as they are.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator

import orjson
import polars as pl
from typing_extensions import override

from penstock.front.sql.asking import Asked
from penstock.kernel.port import WEIGHT, Frame
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical, Settings
from penstock.plan.planner import plan
from penstock.serve.push.arrival import Event, Piece
from penstock.serve.push.log_source import LogSource
from penstock.serve.push.losing import made_anew, restarted
from penstock.serve.push.source import Begin, Begun, Source
from penstock.serve.push.token import Positions, Token, identity_of
from penstock.serve.record_rows import plain
from penstock.spark.program_start import start_offsets
from penstock.sql.answer import Cells, Followed
from penstock.sql.evaluation import Evaluation
from penstock.sql.question import push

_SETTINGS = Settings(buckets=1, parallelism=1)
_OFFSETS_AT_ONCE = 2_000
_ROWS_AT_ONCE = 500
_MOST_KEPT = 10_000
"""Rows of a table that are kept for whoever comes later; the keys that came last."""


def statement_source(asked: Asked, log: Log, text: str) -> Source:
    """Give what follows a statement."""
    physical = plan(asked.plan, _SETTINGS)
    files = any(scan.stream.files is not None for scan in physical.scans)
    if physical.operators or files or asked.limit is not None:
        return RememberingSource(asked, log, text)
    return PlainSource(asked, physical, log, text)


class PlainSource(LogSource):
    """The rows of a statement without a memory: each place is worked through by itself."""

    def __init__(self, asked: Asked, physical: Physical, log: Log, text: str) -> None:
        push(asked, log)  # Refuses what cannot be followed, such as a topic that is not there.
        self._starts = start_offsets(physical, log)
        super().__init__(log, list(self._starts), text)
        self._columns = tuple(column.name for column in asked.columns)
        self._physical = physical
        self._mine = threading.local()
        self.about: dict[str, object] = {"sql": text, "columns": self._columns, "resume": "exact"}

    def ends(self) -> Positions:
        """Give where the tail begins: where the statement says, the end if nothing is said."""
        return tuple(self._starts.values())

    def begin(self, begin: Begin) -> Begun:
        """Find where a subscriber begins; without a token that is as the statement says."""
        if not isinstance(begin, Token):
            return Begun(tuple(start_offsets(self._physical, self._log).values()))
        return self._resumed(begin) or Begun(self.ends(), (made_anew("statement"),))

    @override
    def _read(self, place: TopicPartition, offset: int, stop: int) -> Piece:
        end = min(stop, offset + _OFFSETS_AT_ONCE)
        evaluation = self._evaluation()
        evaluation.offsets[place] = offset
        rows = [row for frame in evaluation.read({place: end}) for row in self._rows(frame)]
        events = (Event(end, _told(rows)),) if rows else ()
        return Piece(events, end)

    def _rows(self, frame: Frame) -> list[bytes]:
        if WEIGHT in frame.columns:
            frame = frame.filter(pl.col(WEIGHT) > 0)
        return [_row(self._columns, cells) for cells in frame.select(self._columns).rows()]

    def _evaluation(self) -> Evaluation:
        """Give the evaluation of this thread."""
        found: Evaluation | None = getattr(self._mine, "evaluation", None)
        if found is None:
            found = Evaluation(self._physical, self._log, dict.fromkeys(self._places, 0))
            self._mine.evaluation = found
        return found


class RememberingSource:
    """The rows of a statement with a memory, counted as they come."""

    def __init__(self, asked: Asked, log: Log, text: str) -> None:
        self._followed: Followed = push(asked, log)
        self._kept: dict[tuple[bytes, ...], bytes] = {}
        self._next = 0
        self._lock = threading.Lock()
        self.identity = identity_of(text, secrets.token_hex(8))
        self._keyed = bool(self._followed.keys)
        self.about: dict[str, object] = {
            "sql": text,
            "columns": self._followed.columns,
            "keys": [self._followed.columns[place] for place in self._followed.keys],
            "resume": "snapshot" if self._keyed else "none",
        }

    def ends(self) -> Positions:
        """Give the number of the next answer."""
        return (self._next,)

    def begin(self, begin: Begin) -> Begun:
        """Go on while the answers after a token are still there, else with the rows there are."""
        with self._lock:
            kept = tuple(self._kept.values()) if self._keyed else None
            if not isinstance(begin, Token):
                return Begun((self._next,), snapshot=kept)
            if begin.identity == self.identity and begin.positions <= (self._next,):
                return Begun(begin.positions, resumed=True)
            return Begun((self._next,), (restarted(),), kept)

    def tail(
        self, positions: Positions, wanted: Callable[[], bool]
    ) -> Iterator[tuple[int, Piece] | None]:
        """Give rows as they come, those of one moment together."""
        del positions
        rows: list[Cells] = []
        for row in self._followed.rows:
            if row is not None:
                rows.append(row)
            if rows and (row is None or len(rows) >= _ROWS_AT_ONCE):
                yield 0, self._taken(rows)
                rows = []
            if row is None:
                if not wanted():
                    return
                yield None
        if rows:
            yield 0, self._taken(rows)

    def read(self, place: int, offset: int, stop: int) -> Piece:
        """Say that what went by is gone; of a table the rows that there are take its place."""
        del place, offset
        if not self._keyed:
            return Piece((), stop, restarted())
        with self._lock:
            rows = b",".join(self._kept.values())
            told = b'{"snapshot":true,"rows":[%b]}' % rows
            return Piece((Event(self._next, told),), self._next, restarted())

    def _taken(self, rows: Iterable[Cells]) -> Piece:
        columns, keys = self._followed.columns, self._followed.keys
        told = [_row(columns, cells) for cells in rows]
        with self._lock:
            for cells, text in zip(rows, told, strict=True):
                if keys:
                    self._keep(cells, text)
            self._next += 1
        return Piece((Event(self._next, _told(told)),), self._next)

    def _keep(self, cells: Cells, text: bytes) -> None:
        keys = self._followed.keys
        key = tuple(orjson.dumps(plain(cells[place])) for place in keys)
        others = [cell for place, cell in enumerate(cells) if place not in keys]
        self._kept.pop(key, None)
        # A row of nothing but its key is gone.
        if not others or any(cell is not None for cell in others):
            self._kept[key] = text
        if len(self._kept) > _MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))


def _row(columns: tuple[str, ...], cells: Cells) -> bytes:
    return orjson.dumps({name: plain(cell) for name, cell in zip(columns, cells, strict=True)})


def _told(rows: list[bytes]) -> bytes:
    return b'{"rows":[%b]}' % b",".join(rows)
