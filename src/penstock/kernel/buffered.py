"""Aggregates over buffers by count, delta, punctuation or time, tumbling and sliding.

State: `buffer`, the rows that each key's buffer holds, in the order of their arrival, and
`keys`, what its policies count from. Neither lateness nor refinement has a meaning here: a
buffer goes by the order in which rows come, and what was given out stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from penstock.kernel.assign import millis
from penstock.kernel.buffer_machine import BufferMachine, Columns, Memory
from penstock.kernel.columns import frame_schema
from penstock.kernel.count_buffer import Grouped, is_plain, run_counts
from penstock.kernel.expression import lower
from penstock.kernel.firing import AT, Results, firings_of
from penstock.kernel.fold.grouping import join
from penstock.kernel.multiset import touched
from penstock.kernel.port import CONTROL, TAKEN, TIME, Counts, Frame, State, Step, Time
from penstock.model.aggregate import Aggregate
from penstock.model.window import Buffered, ByDelta, ByPunctuation, ByTime, Policy

BUFFER = "buffer"
KEYS = "keys"
_ALL = "_all"
_PLACES = "_places"
_HELD = "_held"
_COUNTERS: Mapping[str, pl.DataType] = {
    "_seen": pl.Int64(),
    "_fired": pl.Int64(),
    "_reference": pl.Float64(),
    "_deadline": pl.Int64(),
    "_full": pl.Boolean(),
    "_fresh": pl.Boolean(),
}


@dataclass(frozen=True, slots=True)
class _Tables:
    buffer: Frame
    keys: Frame


@dataclass(frozen=True, slots=True)
class _Work:
    """Rows to be looked at: those held of some keys, then new ones, and the keys themselves."""

    rows: Frame
    groups: Frame
    """The keys with `_places`, the places of their rows, `_held`, how many were there, counters."""
    others: _Tables


class BufferedAggregate:
    """Folds what a buffer holds whenever its policies give it out."""

    def __init__(self, relation: Aggregate) -> None:
        assert isinstance(relation.window, Buffered)
        self._relation = relation
        self._window = relation.window
        self._by = relation.keys or (_ALL,)
        self._results = Results(relation)
        columns = frame_schema(relation.source.schema)
        self._columns = {**columns, **CONTROL, AT: pl.Int64()}
        if not relation.keys:
            self._columns[_ALL] = pl.Int8()
        keys = {key: self._columns[key] for key in self._by}
        self._empty = _Tables(
            pl.DataFrame(schema=self._columns), pl.DataFrame(schema={**keys, **_COUNTERS})
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values share a buffer."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Leave rows as they are: their order decides."""
        return rows

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Let the clock go on, take rows, then let the watermark go on."""
        tables = _Tables(
            state.tables.get(BUFFER, self._empty.buffer), state.tables.get(KEYS, self._empty.keys)
        )
        output: list[Frame] = []
        by_clock = self._window.domain != "event"
        if by_clock:
            tables = self._advance(tables, time.clock, output)
        if delta.height:
            work = self._gathered(tables, self._arrived(delta, time.clock))
            tables = (
                self._counted(work, output)
                if is_plain(self._window)
                else self._by_row(work, output)
            )
        if not by_clock:
            tables = self._advance(tables, time.watermark, output)
        result = pl.concat([self._results.empty, *output])
        counts = Counts(taken=delta.height, passed=delta.height, given=result.height)
        stored = {BUFFER: tables.buffer, KEYS: tables.keys} if tables.keys.height else {}
        return Step(
            State(stored, time),
            result,
            counts=counts,
            wake_at=self._wake_at(tables) if by_clock else None,
        )

    def _arrived(self, delta: Frame, clock: int) -> Frame:
        times = {"event": pl.col(TIME), "ingestion": pl.col(TAKEN)}
        at = times.get(self._window.domain, pl.lit(clock, pl.Int64)).alias(AT)
        return delta.with_columns(at, pl.lit(0, pl.Int8).alias(_ALL)).select(*self._columns)

    def _gathered(self, tables: _Tables, rows: Frame) -> _Work:
        mine, others = touched(tables.buffer, rows, self._by)
        _, other_keys = touched(tables.keys, rows, self._by)
        whole = pl.concat([mine, rows])
        return _Work(
            whole, self._groups(whole, mine.height, tables.keys), _Tables(others, other_keys)
        )

    def _groups(self, rows: Frame, held: int, keys: Frame) -> Frame:
        groups = (
            rows.select(self._by)
            .with_row_index(_PLACES)
            .group_by(self._by, maintain_order=True)
            .agg(_PLACES, (pl.col(_PLACES) < held).sum().cast(pl.Int64).alias(_HELD))
        )
        return join(groups, keys, self._by, "left").with_columns(
            pl.col("_seen", "_fired").fill_null(0), pl.col("_full", "_fresh").fill_null(value=False)
        )

    def _counted(self, work: _Work, output: list[Frame]) -> _Tables:
        groups = work.groups
        done = run_counts(
            self._window,
            Grouped(
                groups[_PLACES].explode().cast(pl.Int64).to_numpy(),
                groups[_PLACES].list.len().cast(pl.Int64).to_numpy(),
                groups[_HELD].to_numpy(),
                groups["_seen"].to_numpy(),
                groups["_fired"].to_numpy(),
            ),
        )
        output.append(self._results.of(done.firings, work.rows, groups))
        changed = groups.with_columns(
            pl.Series("_seen", done.seen), pl.Series("_fired", done.fired)
        )
        return self._kept(work, done.kept, changed)

    def _by_row(self, work: _Work, output: list[Frame], now: int | None = None) -> _Tables:
        columns = self._watched(work.rows)
        fired: list[tuple[int, int, int, list[int]]] = []
        memories: list[Memory] = []
        for group, row in enumerate(work.groups.iter_rows(named=True)):
            places, held = row[_PLACES], row[_HELD]
            memory = _memory_of(row, places[:held])
            machine = BufferMachine(self._window, columns, memory)
            for place in places[held:]:
                machine.take(place)
            if now is not None:
                machine.advance(now, group)
            fired += [(group, *firing) for firing in machine.firings]
            memories.append(memory)
        output.append(self._results.of(firings_of(fired), work.rows, work.groups))
        kept = np.array(sorted(p for memory in memories for p in memory.held), dtype=np.int64)
        changed = work.groups.select(self._by).with_columns(
            pl.Series(name, [getattr(memory, name[1:]) for memory in memories], dtype)
            for name, dtype in _COUNTERS.items()
        )
        if isinstance(self._window.evict, ByTime):
            # A key without rows in its time is forgotten, so that state does not grow for ever.
            changed = changed.filter(pl.Series([bool(memory.held) for memory in memories]))
        return self._kept(work, kept, changed)

    def _kept(self, work: _Work, places: Any, keys: Frame) -> _Tables:  # noqa: ANN401
        rows = work.rows[pl.Series(np.sort(places).astype(np.uint32))]
        return _Tables(
            pl.concat([work.others.buffer, rows]),
            pl.concat([work.others.keys, keys.select(work.others.keys.columns)]),
        )

    def _watched(self, rows: Frame) -> Columns:
        """Read what the policies look at."""
        at = rows[AT].to_list()
        evict = self._looked_at(self._window.evict, rows)
        return Columns(at, evict, self._looked_at(self._window.fire, rows))

    def _looked_at(self, policy: Policy | None, rows: Frame) -> list[Any]:
        match policy:
            case ByDelta(column=column):
                value = pl.col(column)
                if isinstance(rows.schema[column], pl.Datetime):
                    value = value.dt.epoch("ms")
                return rows.select(value.cast(pl.Float64)).to_series().to_list()
            case ByPunctuation(condition=condition):
                mark = lower(condition, self._relation.source.schema).fill_null(value=False)
                marks = rows.select(mark).to_series()
                return marks.to_list() if marks.len() == rows.height else [marks[0]] * rows.height
            case _:
                return []

    def _advance(self, tables: _Tables, now: int, output: list[Frame]) -> _Tables:
        """Let time reach `now` for the keys whose buffers wait for it."""
        due = self._due(tables).filter(pl.col(AT) <= now)
        if due.is_empty():
            return tables
        mine, others = touched(tables.buffer, due, self._by)
        _, other_keys = touched(tables.keys, due, self._by)
        groups = self._groups(mine, mine.height, tables.keys)
        return self._by_row(_Work(mine, groups, _Tables(others, other_keys)), output, now)

    def _due(self, tables: _Tables) -> Frame:
        """Give the keys that wait for a time, and for which."""
        waits: list[Frame] = []
        evict, fire = self._window.evict, self._window.fire
        oldest = pl.col(AT).first() if self._window.kind == "tumbling" else pl.col(AT).min()
        if isinstance(evict, ByTime):
            first = tables.buffer.group_by(self._by, maintain_order=True).agg(oldest)
            waits.append(first.with_columns(pl.col(AT) + millis(evict.span)))
        if isinstance(fire, ByTime):
            deadline = tables.keys.filter(pl.col("_fresh")).select(
                *self._by, pl.col("_deadline").alias(AT)
            )
            waits.append(deadline)
        if not waits:
            return self._empty.buffer.select(*self._by, AT)
        return pl.concat(waits).group_by(self._by, maintain_order=True).agg(pl.col(AT).min())

    def _wake_at(self, tables: _Tables) -> int | None:
        earliest = self._due(tables)[AT].min()
        return earliest if isinstance(earliest, int) else None


def _memory_of(row: Mapping[str, Any], held: list[int]) -> Memory:
    return Memory(held, **{name[1:]: row[name] for name in _COUNTERS})
