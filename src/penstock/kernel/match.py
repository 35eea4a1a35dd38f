"""Patterns in the rows of each key, in the order of event time.

A row waits until the watermark has passed it, since others may still come before it; rows that
come after that are late. A row that no step is like is let go at once where rows between
steps do not matter. State: `pending` rows that wait, and `live`, the rows from the first
start on that is not decided yet. Where conditions or results look at rows before a match,
`history` holds the last rows of keys without such a start.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.letter import REASON
from penstock.kernel.match_condition import GROUP
from penstock.kernel.match_find import Finder, Found
from penstock.kernel.match_measure import Measures
from penstock.kernel.match_number import numbered_matches
from penstock.kernel.match_order import Ordered, ordered
from penstock.kernel.match_rows import NUMBER, places_of
from penstock.kernel.multiset import touched
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    START_OF_TIME,
    TAKEN,
    TIME,
    WEIGHT,
    Counts,
    Frame,
    State,
    Step,
    Time,
)
from penstock.model.match import Match

PENDING = "pending"
LIVE = "live"
HISTORY = "history"
NUMBERS = "numbers"
TRIED = "_tried"
"""Boolean: whether no match that is still to be found can begin with a row."""
_LATE = "behind the watermark: the rows of its key at that time are matched, or it has no time"


class MatchOperator:
    """Gives a row for each match, or all its rows, once it is decided."""

    def __init__(self, relation: Match, keep_late_ms: int) -> None:
        self._relation = relation
        self._keep_late = keep_late_ms
        self._finder = Finder(relation)
        self._measures = Measures(relation, self._finder.steps, self._finder.within)
        columns = frame_schema(relation.source.schema)
        # Their times stand first: so what leaves a table and what comes is found in it at once.
        held = {TIME: CONTROL[TIME], **columns}
        self._empty = {
            PENDING: pl.DataFrame(schema=held),
            LIVE: pl.DataFrame(schema={**held, TRIED: pl.Boolean()}),
            HISTORY: pl.DataFrame(schema=held),
            NUMBERS: pl.DataFrame(
                schema={**{key: columns[key] for key in relation.keys}, NUMBER: pl.Int64()}
            ),
        }
        self._output = pl.DataFrame(schema={**frame_schema(relation.schema), **CONTROL})

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose rows are matched together."""
        return self._relation.keys

    def pack(self, rows: Frame, watermark: int) -> Frame:  # noqa: ARG002
        """Leave rows as they are: the order of all of them counts."""
        return rows

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take rows, then match those that the watermark has passed."""
        reached, target = self._complete(state.time), self._complete(time)
        late = (delta[TIME] < reached).fill_null(value=True)
        tables = {name: state.tables.get(name, empty) for name, empty in self._empty.items()}
        arrived = delta.filter(~late).select(tables[PENDING].columns)
        passed = arrived.height
        matters = self._finder.matters(arrived)
        if matters is not None:
            arrived = arrived.filter(matters)
        if arrived.height:
            tables[PENDING] = pl.concat([tables[PENDING], arrived])
        output = self._advance(tables, target) if target > reached else self._output
        held = {name: table for name, table in tables.items() if table.height}
        counts = Counts(
            delta.height,
            arrived.height,
            filtered=passed - arrived.height,
            late=delta.height - passed,
            given=output.height,
        )
        refused = delta.filter(late).with_columns(pl.lit(_LATE).alias(REASON))
        return Step(
            State(held, time), output, late=refused if refused.height else None, counts=counts
        )

    def _complete(self, time: Time) -> int:
        """Give the time before which no row is taken any more."""
        if time.watermark >= END_OF_TIME:
            return END_OF_TIME
        return max(START_OF_TIME, time.watermark - self._keep_late)

    def _advance(self, tables: dict[str, Frame], target: int) -> Frame:
        """Let the watermark reach a time; give the matches, and leave what stays in the tables."""
        passed = tables[PENDING][TIME] < target
        ready = tables[PENDING].filter(passed)
        if ready.height:
            tables[PENDING] = tables[PENDING].filter(~passed)
        due = self._due(tables[LIVE], target)
        if not (ready.height or due.height):
            self._forget(tables, target)
            return self._output
        keys = pl.concat([ready.select(self.keys), due.select(self.keys)])
        live, tables[LIVE] = touched(tables[LIVE], keys, self.keys)
        history, tables[HISTORY] = touched(tables[HISTORY], keys, self.keys)
        tried = pl.lit(value=True).alias(TRIED)
        fresh = pl.lit(value=False).alias(TRIED)
        parts = [history.with_columns(tried), live, ready.with_columns(fresh)]
        rows = ordered(pl.concat(parts), self.keys)
        found = self._finder.find(rows, ~rows.rows[TRIED].to_numpy(), target)
        self._keep(tables, rows, found, target)
        return self._given(tables, rows, found) if found.matches else self._output

    def _due(self, live: Frame, target: int) -> Frame:
        """Give the starts whose time is over, so that nothing can be added to their match."""
        if target >= END_OF_TIME:
            return live
        if self._finder.within is None or live.is_empty():
            return live.clear()
        return live.filter(~pl.col(TRIED) & (pl.col(TIME) + self._finder.within <= target))

    def _forget(self, tables: dict[str, Frame], target: int) -> None:
        """Drop rows that are too old to be looked back to."""
        history, within = tables[HISTORY], self._finder.within
        if target >= END_OF_TIME:
            tables[HISTORY] = history.clear()
        elif within is not None and history.height:
            recent = history[TIME] + within > target
            tables[HISTORY] = history if recent.all() else history.filter(recent)

    def _keep(self, tables: dict[str, Frame], rows: Ordered, found: Found, target: int) -> None:
        """Keep the rows from the first open start of each key on, and those before it in reach."""
        reach = self._finder.reach
        if not found.open and not reach:
            return
        places = np.arange(rows.rows.height)
        begins = rows.stops.copy()
        opened = np.array(found.open, dtype=np.int64)
        groups, first = np.unique(rows.groups[opened], return_index=True)
        begins[groups] = opened[first]
        begin = begins[rows.groups]
        is_open = (begins < rows.stops)[rows.groups]
        tried = places < begin
        if not self._finder.in_order:
            tried = np.ones(rows.rows.height, dtype=np.bool_)
            tried[opened] = False
        kept = rows.rows.drop(GROUP).with_columns(pl.Series(TRIED, tried))
        near = places >= begin - reach
        tables[LIVE] = pl.concat([tables[LIVE], kept.filter(pl.Series(near & is_open))])
        if reach:
            before = kept.filter(pl.Series(near & ~is_open)).drop(TRIED)
            tables[HISTORY] = pl.concat([tables[HISTORY], before])
            self._forget(tables, target)

    def _given(self, tables: dict[str, Frame], rows: Ordered, found: Found) -> Frame:
        matched = places_of(found, self._finder.automaton.places)
        if self._finder.numbered:
            matched, tables[NUMBERS] = numbered_matches(matched, rows, tables[NUMBERS], self.keys)
        results = self._measures.of(rows.rows, matched)
        weight = pl.lit(1, CONTROL[WEIGHT]).alias(WEIGHT)
        results = results.with_columns(weight, pl.col(TIME).alias(TAKEN))
        simple = [key for key in self.keys if not results.schema[key].is_nested()]
        # By time and key, so that the order depends on the matches alone.
        return results.select(self._output.columns).sort([TIME, *simple], maintain_order=True)
