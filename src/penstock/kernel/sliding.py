"""Aggregates of sliding windows: for every row the rows of its key that are at most so old.

The window of a row at `t` holds the times (t - size, t]; rows of one key and time share it.
It is given out when the watermark passes `t`. A row that comes later, but not by more than
the lateness that is kept, gives its own window and corrects those it belongs to.
State: `rows`, and of windows that may still be corrected, `given`: what was given out last.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from penstock.kernel.assign import millis
from penstock.kernel.columns import frame_schema
from penstock.kernel.firing import AT, FIRST, LAST, Results, Whole
from penstock.kernel.fold.grouping import join
from penstock.kernel.interval import members_within
from penstock.kernel.letter import REASON
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    TAKEN,
    TIME,
    WEIGHT,
    Counts,
    Frame,
    State,
    Step,
    Time,
)
from penstock.model.aggregate import Aggregate
from penstock.model.window import Sliding

_ROWS = "rows"
_GIVEN = "given"
_ALL = "_all"
_GROUP = "_group"
_TURN = "_turn"
_LATE = "its window has left, or it has no time"


@dataclass(frozen=True, slots=True)
class _Tables:
    rows: Frame
    given: Frame


class SlidingAggregate:
    """Gives one result for each key and time at which there are rows."""

    def __init__(self, relation: Aggregate, keep_late_ms: int) -> None:
        assert isinstance(relation.window, Sliding)
        self._relation = relation
        self._size = millis(relation.window.size)
        self._domain = relation.window.domain
        self._keep_late = 0 if self._domain == "processing" else keep_late_ms
        self._mode = relation.refinement.mode
        self._by = relation.keys or (_ALL,)
        self._results = Results(relation, retracts=relation.source.retracts)
        types: dict[str, pl.DataType] = {**frame_schema(relation.source.schema), **CONTROL}
        types |= {AT: pl.Int64(), _ALL: pl.Int8()}
        measures = frame_schema(relation.schema)
        given: dict[str, pl.DataType] = {key: types[key] for key in self._by}
        given |= {LAST: pl.Int64(), "_pane_index": pl.Int32()}
        if self._mode == "retracting":
            given |= {measure.name: measures[measure.name] for measure in relation.measures}
        self._empty = _Tables(pl.DataFrame(schema=types), pl.DataFrame(schema=given))

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values share windows."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Leave rows as they are: each has a window of its own."""
        return rows

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take rows, correct what they change, and give out what has become complete."""
        tables = _Tables(
            state.tables.get(_ROWS, self._empty.rows), state.tables.get(_GIVEN, self._empty.given)
        )
        output: list[Frame] = []
        by_clock = self._domain == "processing"
        reached = state.time.watermark
        if by_clock:
            tables = self._advance(tables, state.time.clock, time.clock, output)
            reached = time.clock
        late = self._late(delta, reached)
        rows = self._arrived(delta.filter(~late), time.clock)
        tables = self._take(tables, rows, reached, output)
        if not by_clock or time.watermark >= END_OF_TIME:
            tables = self._advance(tables, reached, time.watermark, output)
        return self._step(tables, delta.filter(late), rows.height, output, time)

    def _step(
        self, tables: _Tables, late: Frame, taken: int, output: list[Frame], time: Time
    ) -> Step:
        result = pl.concat([self._results.empty, *output])
        counts = Counts(taken + late.height, taken, late=late.height, given=result.height)
        refused = late.with_columns(pl.lit(_LATE).alias(REASON)) if late.height else None
        held = {_ROWS: tables.rows, _GIVEN: tables.given}
        stored = {name: table for name, table in held.items() if table.height}
        wake_at = None
        if self._domain == "processing":
            # Every row that is held has been given out, but those of this very clock reading.
            newest = tables.rows.filter(pl.col(AT) >= time.clock)[AT].max()
            wake_at = newest + 1 if isinstance(newest, int) else None
        return Step(State(stored, time), result, late=refused, counts=counts, wake_at=wake_at)

    def _late(self, delta: Frame, reached: int) -> pl.Series:
        if self._domain == "processing":
            return pl.repeat(value=False, n=delta.height, dtype=pl.Boolean, eager=True)
        at = delta[TAKEN if self._domain == "ingestion" else TIME]
        return (at + 1 + self._keep_late <= reached).fill_null(value=True)

    def _arrived(self, delta: Frame, clock: int) -> Frame:
        times = {"event": pl.col(TIME), "ingestion": pl.col(TAKEN)}
        at = times.get(self._domain, pl.lit(clock, pl.Int64)).alias(AT)
        columns = self._empty.rows.columns
        return delta.with_columns(at, pl.lit(0, pl.Int8).alias(_ALL)).select(columns)

    def _take(self, tables: _Tables, new: Frame, reached: int, output: list[Frame]) -> _Tables:
        """Add rows, and correct the windows they belong to that were complete before."""
        if new.is_empty():
            return tables
        rows = pl.concat([tables.rows, new])
        tables = _Tables(rows, tables.given)
        behind = new.filter(pl.col(AT) < reached)
        if behind.is_empty():
            return tables
        changed = self._changed(rows, tables.given, behind, reached)
        source = behind if self._mode == "discarding" else rows
        return self._give(tables, changed, source, "late", output)

    def _changed(self, rows: Frame, given: Frame, behind: Frame, reached: int) -> Frame:
        """Give the windows, complete and not left, that rows behind the watermark are part of."""
        kept = pl.col(LAST) + 1 + self._keep_late > reached
        ends = pl.concat([self._ends(rows), given.select(*self._by, LAST)]).unique(
            maintain_order=True
        )
        ends = ends.filter((pl.col(LAST) < reached) & kept)
        found = self._numbered(behind, ends)
        if found is None:
            return ends.clear()
        (group, at), (end_group, last) = found
        touching = members_within((group, at), (end_group, last), self._size).sizes > 0
        return ends.filter(pl.Series(touching))

    def _advance(self, tables: _Tables, reached: int, now: int, output: list[Frame]) -> _Tables:
        """Give out windows that are complete now, then let go of what is no longer needed."""
        if now <= reached:
            return tables
        ends = self._ends(tables.rows).filter(pl.col(LAST).is_between(reached, now - 1))
        tables = self._give(tables, ends, tables.rows, "on-time", output)
        if now >= END_OF_TIME:
            return self._empty
        left = now - self._keep_late
        return _Tables(
            tables.rows.filter(pl.col(AT) + self._size > left),
            tables.given.filter(pl.col(LAST) + 1 > left),
        )

    def _ends(self, rows: Frame) -> Frame:
        """Give the windows there are: keys and times at which rows stand."""
        return (
            rows.filter(pl.col(AT).is_not_null())
            .group_by(*self._by, pl.col(AT).alias(LAST), maintain_order=True)
            .agg(pl.col(WEIGHT).sum())
            .filter(pl.col(WEIGHT) > 0)
            .select(*self._by, LAST)
        )

    def _give(
        self, tables: _Tables, ends: Frame, rows: Frame, timing: str, output: list[Frame]
    ) -> _Tables:
        """Give out the windows with these ends, measured of `rows`."""
        ends = ends.sort(LAST, maintain_order=True)
        found = self._numbered(rows, ends)
        if found is None:
            return tables
        window = [*self._by, LAST]
        before = ends.join(
            tables.given, on=window, how="left", nulls_equal=True, maintain_order="left"
        )
        measured = self._results.measured(members_within(*found, self._size), rows)
        index = (before["_pane_index"].fill_null(-1) + 1).alias("_pane_index")
        fired = measured.with_columns(
            *ends.get_columns(),
            pl.int_range(pl.len(), dtype=pl.Int64).alias(_TURN),
            index,
            index.alias("_pane_nonspeculative"),
            (ends[LAST] - self._size + 1).alias(FIRST),
            pl.lit(timing).alias("_pane_timing"),
            pl.lit(self._keep_late == 0).alias("_pane_last"),
            pl.lit(1, CONTROL[WEIGHT]).alias(WEIGHT),
        )
        rest = _without(tables.given, ends, window)
        if self._mode == "retracting":
            back, fired = self._taken_back(fired, before), self._standing(fired, tables.rows)
            both = pl.concat([back, fired.select(back.columns)]).sort(_TURN, WEIGHT)
            output.append(self._results.dressed(both))
        else:
            output.append(self._results.dressed(fired))
        return _Tables(tables.rows, pl.concat([rest, fired.select(rest.columns)]))

    def _taken_back(self, fired: Frame, before: Frame) -> Frame:
        """Give what stood before, in the columns of the results that replace it."""
        known = [name for name in before.columns if name not in self._by]
        return fired.with_columns(
            *before.select(known).get_columns(), pl.lit(-1, CONTROL[WEIGHT]).alias(WEIGHT)
        ).filter(pl.col("_pane_index").is_not_null())

    def _standing(self, fired: Frame, rows: Frame) -> Frame:
        """Leave out windows that ended with the last row of their time."""
        return fired.join(
            self._ends(rows),
            on=[*self._by, LAST],
            how="semi",
            nulls_equal=True,
            maintain_order="left",
        )

    def _numbered(
        self, rows: Frame, ends: Frame
    ) -> tuple[tuple[Whole, Whole], tuple[Whole, Whole]] | None:
        """Give rows and ends as numbers of their groups, and times."""
        if ends.is_empty():
            return None
        groups = ends.select(self._by).unique(maintain_order=True).with_row_index(_GROUP)
        counted: list[tuple[Whole, Whole]] = []
        for frame, time in ((rows, AT), (ends, LAST)):
            joined = join(frame.select(*self._by, time), groups, self._by, "left")
            number = joined[_GROUP].cast(pl.Int64).fill_null(groups.height)
            counted.append((number.to_numpy(), joined[time].to_numpy()))
        return counted[0], counted[1]


def _without(given: Frame, ends: Frame, window: list[str]) -> Frame:
    return given.join(ends, on=window, how="anti", nulls_equal=True, maintain_order="left")
