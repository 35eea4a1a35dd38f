"""The first row of each key.

Without `within` a key is remembered for ever. With it, a row is a copy of one that was given
when their event times are less than `within` apart; what was given at `t` is forgotten once
the watermark reaches `t + within`, and a row behind the watermark is late, since what it
might be a copy of may be forgotten (as Spark's `dropDuplicatesWithinWatermark` has it).
Over a changelog all rows are held, and a key's result is the first of those that remain.
"""

from __future__ import annotations

from datetime import timedelta

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.fold.grouping import join
from penstock.kernel.letter import REASON
from penstock.kernel.multiset import (
    ORDER,
    changed,
    difference,
    firsts,
    numbered,
    packed_rows,
    touched,
)
from penstock.kernel.port import CONTROL, TIME, Counts, Frame, State, Step, Time
from penstock.kernel.ranks import Ranks
from penstock.model.dedup import Dedup

_TABLE = "seen"
_GIVEN_AT = "_given_at"
_LATE = "behind the watermark: what it may be a copy of is forgotten"


class DedupOperator:
    """Gives the first row of each key."""

    def __init__(self, relation: Dedup) -> None:
        self._keys = relation.keys or relation.schema.names
        self._columns = relation.schema.names
        self._retracts = relation.source.retracts
        self._within = (
            None if relation.within is None else relation.within // timedelta(milliseconds=1)
        )
        types = frame_schema(relation.schema)
        seen: dict[str, pl.DataType] = {key: types[key] for key in self._keys}
        if self._retracts:
            seen = {**types, **CONTROL, ORDER: pl.Int64()}
        elif self._within is not None:
            seen[_GIVEN_AT] = pl.Int64()
        self._empty = pl.DataFrame(schema=seen)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that make two rows copies of one another; none named means all."""
        return self._keys

    def pack(self, rows: Frame, watermark: int) -> Frame:
        """Keep the first row of each key, or of each key and time, in the batch."""
        if self._retracts or rows.is_empty():
            return rows
        if self._within is None:
            return firsts(rows, self._keys)
        late = pl.col(TIME) < watermark
        timely = firsts(rows.filter(~late), [*self._keys, TIME])
        return pl.concat([timely, rows.filter(late)], how="diagonal")

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take the rows of a batch, then forget what the watermark has passed."""
        seen = state.tables.get(_TABLE, self._empty)
        if self._retracts:
            return self._changelog_step(seen, delta, time)
        late = delta.clear()
        if self._within is not None:
            behind = pl.col(TIME) < state.time.watermark
            late, delta = delta.filter(behind), delta.filter(~behind)
        output, seen = self._first_rows(seen, delta)
        if self._within is not None:
            seen = seen.filter(pl.col(_GIVEN_AT) + self._within > time.watermark)
        taken = packed_rows(delta)
        counts = Counts(
            taken=taken + late.height,
            passed=output.height,
            filtered=taken - output.height,
            late=late.height,
            given=output.height,
        )
        refused = late.select(*self._columns, *CONTROL, pl.lit(_LATE).alias(REASON))
        return Step(
            _state(seen, time), output, late=refused if late.height else None, counts=counts
        )

    def _first_rows(self, seen: Frame, delta: Frame) -> tuple[Frame, Frame]:
        if delta.is_empty():
            return delta.select(*self._columns, *CONTROL), seen
        keys = list(self._keys)
        known, _ = touched(seen, delta, keys)
        if self._within is None:
            given = firsts(delta, keys).join(
                known, on=keys, how="anti", nulls_equal=True, maintain_order="left"
            )
        else:
            given = self._apart(known, numbered(delta, self._empty_order()), self._within)
        names = {} if self._within is None else {TIME: _GIVEN_AT}
        fresh = given.rename(names).select(seen.columns)
        return given.select(*self._columns, *CONTROL), pl.concat([seen, fresh])

    def _apart(self, known: Frame, pending: Frame, within: int) -> Frame:
        """Give the rows that lie `within` or more apart from any given before them.

        One round decides the first open row of every key, so there are as many rounds as
        rows given of one key.
        """
        keys = list(self._keys)
        given: list[Frame] = [pending.clear()]
        while pending.height:
            near = (pl.col(TIME) - pl.col(_GIVEN_AT)).abs() < within
            copies = join(pending.select(*keys, TIME, ORDER), known, keys, "inner").filter(near)
            pending = pending.join(copies, on=ORDER, how="anti", maintain_order="left")
            first = pending.unique(subset=keys, keep="first", maintain_order=True)
            given.append(first)
            pending = pending.join(first, on=ORDER, how="anti", maintain_order="left")
            known = first.select(*keys, pl.col(TIME).alias(_GIVEN_AT))
        return pl.concat(given).sort(ORDER)

    def _changelog_step(self, held: Frame, delta: Frame, time: Time) -> Step:
        mine, others = touched(held, delta, self._keys)
        after = changed(mine, numbered(delta, held), self._columns)
        first = Ranks(self._keys, (), 1)
        output = difference(first.of(mine), first.of(after))
        output = output.select(*self._columns, *CONTROL)
        counts = Counts(taken=delta.height, passed=delta.height, given=output.height)
        return Step(_state(pl.concat([others, after]), time), output, counts=counts)

    def _empty_order(self) -> Frame:
        return pl.DataFrame(schema={ORDER: pl.Int64()})


def _state(seen: Frame, time: Time) -> State:
    return State({_TABLE: seen} if seen.height else {}, time)
