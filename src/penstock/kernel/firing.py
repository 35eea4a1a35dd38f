"""Buffers that are given out, and the results they become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.fold.fold import Fold
from penstock.kernel.port import CONTROL, TAKEN, TIME, Frame
from penstock.model.aggregate import PANE_FIELDS, WINDOW_END, WINDOW_START, Aggregate

AT = "_at"
"""Int64: the time of a row that its buffer goes by."""
FIRST = "_first_at"
LAST = "_last_at"
"""Int64: the first and the last millisecond of what a result is about."""
_FIRING = "_firing"
_ROWS_AT_ONCE = 2_000_000
_PANE_TYPES = {
    "_pane_index": pl.Int32(),
    "_pane_nonspeculative": pl.Int32(),
    "_pane_timing": pl.String(),
    "_pane_first": pl.Boolean(),
    "_pane_last": pl.Boolean(),
}

Whole: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Members:
    """The rows of several buffers: of `places` in a frame, `sizes` says how many each has."""

    sizes: Whole
    places: Whole

    def parts(self) -> Iterator[Members]:
        """Give the buffers in parts whose rows fit into memory at once."""
        ends = np.cumsum(self.sizes)
        start = 0
        while start < len(self.sizes):
            before = int(ends[start] - self.sizes[start])
            stop = max(start + 1, int(np.searchsorted(ends, before + _ROWS_AT_ONCE, "right")))
            yield Members(self.sizes[start:stop], self.places[before : int(ends[stop - 1])])
            start = stop


@dataclass(frozen=True, slots=True)
class Firings:
    """Buffers given out: whose each is, its number, its rows, and the row that made it fire."""

    groups: Whole
    numbers: Whole
    by: Whole
    members: Members


class Results:
    """Makes results of buffers that were given out."""

    def __init__(self, relation: Aggregate, *, retracts: bool = False) -> None:
        self._relation = relation
        self._fold = Fold(relation.measures, relation.source.schema, retracts=retracts)
        columns = frame_schema(relation.schema)
        self.empty = pl.DataFrame(schema={**columns, **CONTROL, **_PANE_TYPES})

    def of(self, firings: Firings, rows: Frame, groups: Frame) -> Frame:
        """Give one row for each firing, in the order of the rows that made them fire."""
        if not len(firings.groups):
            return self.empty
        keys = groups[pl.Series(firings.groups.astype(np.uint32))].select(self._relation.keys)
        index = pl.Series("_pane_index", firings.numbers.astype(np.int32))
        fired = self.measured(firings.members, rows).with_columns(
            *keys.get_columns(),
            pl.lit(1).alias("_weight"),
            index,
            index.alias("_pane_nonspeculative"),
            pl.lit("on-time").alias("_pane_timing"),
            pl.lit(value=False).alias("_pane_last"),
        )
        order = pl.Series(np.argsort(firings.by, kind="stable").astype(np.uint32))
        return self.dressed(fired[order])

    def measured(self, members: Members, rows: Frame) -> Frame:
        """Give for each buffer its measures, and the times of its first and last row."""
        return pl.concat([self._measured(part, rows) for part in members.parts()])

    def dressed(self, fired: Frame) -> Frame:
        """Give results, of which all but the bounds and times is known, all their columns."""
        moment = pl.Datetime("ms", "UTC")
        dressed = fired.with_columns(
            pl.col(FIRST).cast(moment).alias(WINDOW_START),
            (pl.col(LAST) + 1).cast(moment).alias(WINDOW_END),
            pl.col(LAST).alias(TIME),
            pl.col(LAST).alias(TAKEN),
            (pl.col("_pane_index") == 0).alias("_pane_first"),
        )
        if self._relation.panes:
            dressed = dressed.with_columns(
                pl.col(f"_{field.name}").alias(field.name) for field in PANE_FIELDS
            )
        return dressed.select(self.empty.columns).cast(self.empty.schema)

    def _measured(self, members: Members, rows: Frame) -> Frame:
        numbers = pl.int_range(len(members.sizes), dtype=pl.Int64, eager=True).alias(_FIRING)
        chosen = rows[pl.Series(members.places.astype(np.uint32))].with_columns(
            pl.Series(_FIRING, np.repeat(numbers.to_numpy(), members.sizes))
        )
        results = self._fold.result(self._fold.fold(chosen, [_FIRING]), [_FIRING])
        spans = chosen.group_by(_FIRING).agg(
            pl.col(AT).min().alias(FIRST), pl.col(AT).max().alias(LAST)
        )
        fired = numbers.to_frame()
        for part in (spans, results):
            fired = fired.join(part, on=_FIRING, how="left", maintain_order="left")
        return fired.drop(_FIRING)


def firings_of(noted: Sequence[tuple[int, int, int, list[int]]]) -> Firings:
    """Make firings of what a machine noted: group, number, place of the row, places held."""
    return Firings(
        np.array([group for group, *_ in noted], dtype=np.int64),
        np.array([number for _, number, _, _ in noted], dtype=np.int64),
        np.array([by for _, _, by, _ in noted], dtype=np.int64),
        Members(
            np.array([len(places) for *_, places in noted], dtype=np.int64),
            np.array([place for *_, places in noted for place in places], dtype=np.int64),
        ),
    )
