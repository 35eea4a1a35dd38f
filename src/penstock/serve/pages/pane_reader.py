"""Reads the panes of a result topic as they come."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from penstock.errors import PenstockError
from penstock.front.sql.rows import GONE, PARTITION, RECORDS, Opening
from penstock.front.sql.source import ROW_OFFSET, WINDOW_END, WINDOW_START, SqlSource
from penstock.front.sql.typed_format import is_typed
from penstock.jobs.definitions import definition_store
from penstock.jobs.store import job_store
from penstock.log.embedded.append_times import AppendTimes, append_times
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import ReadLimit
from penstock.log.record import DELETED_COLUMN, KEY_COLUMN, OFFSET_COLUMN, SYSTEM_COLUMNS
from penstock.model.progress import Instant
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.port import Decoded
from penstock.serve.pages.panes import END, START, Pane, Told, Watermarks, panes_of, told_of
from penstock.serve.platform import Platform
from penstock.serve.pull.typed_source import TypedSqlReader
from penstock.text.byte_text import json_value

_KEPT = 20_000
_FIRST = 5_000
"""How many records before the end of each partition are looked at first."""
_SYSTEM = {"ROWTIME", "ROWPARTITION", "ROWOFFSET", WINDOW_START, WINDOW_END, GONE, "_headers"}


@dataclass(frozen=True, slots=True)
class Windowed:
    """A topic whose records are results of windows; `source` where SQL wrote it."""

    name: str
    topic: str
    source: SqlSource | None = None


def windowed_topics(platform: Platform) -> list[Windowed]:
    """Give all topics whose records tell a window, by name."""
    with platform.turn:
        sources = [
            item
            for item in platform.sql.definitions().catalog
            if item.window is not None and item.topic in platform.log.topics()
        ]
    found = [Windowed(item.name, item.topic, item) for item in sources]
    known = {item.topic for item in found}
    for name in platform.log.topics():
        schema = platform.log.topic(name).schema
        if schema is not None and {START, END} <= set(schema.names) and name not in known:
            found.append(Windowed(name, name))
    return sorted(found, key=lambda item: item.name.lower())


def writer_of(platform: Platform, windowed: Windowed) -> str:
    """Give the job that writes a topic, or nothing; of several the one at work last."""
    from penstock.jobs.submit import job_program  # noqa: PLC0415  # PySpark: seconds

    with platform.turn:
        queries = platform.sql.definitions().queries
        found = [id_ for id_, query in queries.items() if query.writes.topic == windowed.topic]
    for definition in definition_store(platform.home).all():
        # One whose program cannot be read is no reason not to see what the others do.
        with contextlib.suppress(PenstockError):
            program = job_program(platform.home, definition)
            if any(output.sink.topic == windowed.topic for output in program.outputs):
                found.append(definition.name)
    return max(found, key=lambda name: _latest(platform, name), default="")


def _latest(platform: Platform, job: str) -> int:
    return max((batch.clock for batch in batches_of(platform, job)), default=0)


def batches_of(platform: Platform, job: str) -> list[Instant]:
    """Give the latest batches of a job, over its runs."""
    store = job_store(platform.home)
    found: dict[int, Instant] = {}
    for run in store.runs(job) if job else ():
        progress = store.progress(run.id)
        found |= {item.clock: item for item in (() if progress is None else progress.history)}
    return [found[clock] for clock in sorted(found)]


class PaneReader:
    """The latest results of a windowed topic; each look reads what has come since the last."""

    def __init__(self, log: EmbeddedLog, windowed: Windowed) -> None:
        self._log = log
        self._windowed = windowed
        self._next: dict[int, int] = {}
        self._results: deque[Told] = deque(maxlen=_KEPT)

    def look(self, batches: list[Instant]) -> tuple[list[Pane], Watermarks]:
        """Give the panes known now, and the watermark that they are judged by."""
        for place, bounds in sorted(self._log.snapshot([self._windowed.topic]).items()):
            at = self._next.get(place.partition, max(bounds.start, bounds.end - _FIRST))
            at = max(at, bounds.start)
            while at < bounds.end:
                chunk = self._log.read(*place, at, ReadLimit(stop=bounds.end))
                times = append_times(self._log, *place, at, chunk.next_offset)
                self._results.extend(self._told(chunk.rows, times, place.partition))
                at = max(chunk.next_offset, at + 1)
            self._next[place.partition] = max(at, bounds.end)
        marks = Watermarks(batches)
        return panes_of(list(self._results), marks), marks

    def _told(self, rows: pa.Table, times: AppendTimes, partition: int) -> Iterator[Told]:
        if self._windowed.source is not None:
            yield from _of_source(self._windowed.source, rows, times, partition)
            return
        for row in rows.to_pylist():
            own = {name: value for name, value in row.items() if name not in SYSTEM_COLUMNS}
            key = row[KEY_COLUMN]
            if row.get(DELETED_COLUMN) or own.get(START) is None:
                continue
            found = told_of(own, times.at(row[OFFSET_COLUMN]) or 0, _text(key))
            if found is not None:
                yield found


def _opened(source: SqlSource, rows: pa.Table, partition: int) -> Decoded:
    if is_typed(source):
        return Decoded(TypedSqlReader(source).read(rows, partition), {})
    places = pa.array([partition] * rows.num_rows, pa.int32())
    columns = {
        field.name: places if field.name == PARTITION else rows.column(field.name)
        for field in to_arrow(RECORDS)
    }
    return Opening(source)(pa.table(columns))


def _of_source(
    source: SqlSource, rows: pa.Table, times: AppendTimes, partition: int
) -> Iterator[Told]:
    count = rows.num_rows
    if not count:
        return
    opened = _opened(source, rows, partition)
    keys = [column.name for column in source.keys]
    for number, row in enumerate(opened.rows.to_pylist()):
        if number in opened.failures or row[WINDOW_START] is None:
            continue
        yield Told(
            key=", ".join(str(row[name]) for name in keys),
            start=row[WINDOW_START],
            end=row[WINDOW_END],
            given_at=times.at(row[ROW_OFFSET]) or 0,
            values=tuple((n, v) for n, v in row.items() if n not in _SYSTEM and n not in keys),
            taken_back=bool(row[GONE]),
        )


def _text(key: bytes | None) -> str:
    if key is None:
        return "all"
    found = json_value(key)
    return found if isinstance(found, str) else str(found)
