"""One side of a join: which rows it takes, and what a batch changes in those it holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
import polars as pl

from penstock.kernel.assign import END, START, Whole, assign
from penstock.kernel.columns import dtype_of, frame_schema
from penstock.kernel.fold.grouping import group, join
from penstock.kernel.join_reach import reach_of
from penstock.kernel.letter import REASON
from penstock.kernel.port import CONTROL, TAKEN, TIME, WEIGHT, Frame
from penstock.kernel.trigger.node import Mask
from penstock.model.join import Join
from penstock.model.join_bound import Interval, SameWindow
from penstock.schema.types import Kind

MATCHES = "_matches"
"""Int64: how many partners a held row has, where that decides whether it comes out."""
_PLACE = "_place"
_LATE = "behind the watermark: its partners may be forgotten"
_CLOSED = "its window is closed"
# In more pieces than these a frame is slow to pick rows from.
_PIECES = 16


@dataclass(frozen=True, slots=True)
class Intake:
    """The rows of a batch: those that may find partners, those that cannot, the late ones."""

    rows: Frame
    alone: Frame
    late: Frame
    dropped_pairs: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """The rows of a side before and after a batch; those that are new stand last."""

    rows: Frame
    before: Whole
    after: Whole
    held: int

    @property
    def moved(self) -> Whole:
        """The places of the rows whose weight changed."""
        return np.flatnonzero(self.before != self.after)

    @property
    def difference(self) -> Whole:
        """By how much the weight of each row changed."""
        return self.after - self.before


class Side:
    """One input of a join."""

    def __init__(self, relation: Join, port: int) -> None:
        source = relation.inputs[port]
        bound = relation.bound
        self.port = port
        self.columns = source.schema.names
        self.keys = relation.left_keys if port == 0 else relation.right_keys
        self.kept = relation.keeps_left if port == 0 else relation.keeps_right
        self.counted = self.kept or (port == 0 and relation.how == "semi")
        self._schema = source.schema
        self._nets = source.retracts or not isinstance(bound, Interval | SameWindow)
        self._window = bound.window if isinstance(bound, SameWindow) else None
        self._reach = reach_of(bound) if isinstance(bound, Interval) else None
        self._key_exprs = [
            pl.col(key).cast(_wider(relation, number)).alias(f"_key_{number}")
            for number, key in enumerate(self.keys)
        ]
        bounds = {START: pl.Int64(), END: pl.Int64()} if self._window is not None else {}
        matches = {MATCHES: pl.Int64()} if self.counted else {}
        control = {TIME: pl.Int64(), TAKEN: pl.Int64(), WEIGHT: pl.Int32()}
        # A number stands first: by it the store finds the rows that are gone.
        self.empty = pl.DataFrame(
            schema={**control, **bounds, **frame_schema(self._schema), **matches}
        )
        timed = () if self._window is None and self._reach is None else (TIME,)
        self._identity = [*self.columns, *timed, *bounds]

    def admit(self, delta: Frame, limit: int, clock: int) -> Intake:
        """Part the rows of a batch; `limit` is the time that all rows are to have reached."""
        if delta.is_empty():
            return Intake(self.empty, delta, delta)
        delta = delta.select(*self.columns, *CONTROL)
        missing = reduce(or_, (pl.col(key).is_null() for key in self.keys))
        if self._reach is not None:
            missing = missing | pl.col(TIME).is_null()
        alone, rows = _parted(delta, missing)
        late, dropped = rows.clear(), 0
        if self._reach is not None:
            late, rows = _parted(rows, pl.col(TIME) < limit)
            late = late.with_columns(pl.lit(_LATE).alias(REASON))
        elif self._window is not None:
            return self._assigned(rows, alone, limit, clock)
        return Intake(self._shaped(rows), alone, late, dropped)

    def last(self, rows: Frame) -> Whole | None:
        """Give the last time at which a partner of each row may come; none where it never ends."""
        if self._window is not None:
            return rows[END].to_numpy() - 1
        if self._reach is None:
            return None
        ahead = self._reach.high if self.port == 0 else -self._reach.low
        return rows[TIME].to_numpy() + ahead

    def joined_by(self, rows: Frame) -> Frame:
        """Give what decides who meets whom: the key, its window, its time."""
        window = [] if self._window is None else [START, END]
        timed = [] if self._reach is None else [TIME]
        return rows.select(*self._key_exprs, *window, *timed)

    def change(self, held: Frame, rows: Frame) -> Change:
        """Add the rows of a batch to those held; a row taken back meets the one that was added."""
        weights = held[WEIGHT].to_numpy().astype(np.int64)
        if rows.is_empty():
            return Change(held, weights, weights, held.height)
        if not self._nets:
            added = rows[WEIGHT].to_numpy().astype(np.int64)
            return Change(_together(held, rows), *_extended(weights, added), held.height)
        fresh, places, difference = self._netted(held, rows)
        before, after = _extended(weights, fresh[WEIGHT].to_numpy().astype(np.int64))
        after[places] += difference
        return Change(_together(held, fresh), before, after, held.height)

    def _netted(self, held: Frame, rows: Frame) -> tuple[Frame, Whole, Whole]:
        """Give the rows that are new, and those held whose weight changes, by place and amount."""
        keys = list(self.keys)
        wanted = rows.select(keys).unique(maintain_order=True)
        known = join(held.with_row_index(_PLACE), wanted, keys, "semi")
        count = held.height
        at = pl.col(_PLACE).cast(pl.Int64)
        both = pl.concat(
            [
                known.select(*self._identity, at, pl.lit(0, pl.Int64).alias(WEIGHT)),
                rows.with_row_index(_PLACE).select(
                    *self._identity, at + count, pl.col(WEIGHT).cast(pl.Int64)
                ),
            ]
        )
        net = group(both, self._identity, [pl.col(_PLACE).min(), pl.col(WEIGHT).sum()])
        net = net.select(_PLACE, WEIGHT).filter(pl.col(WEIGHT) != 0)
        old, new = net.filter(pl.col(_PLACE) < count), net.filter(pl.col(_PLACE) >= count)
        fresh = rows[new[_PLACE] - count].with_columns(new[WEIGHT].cast(pl.Int32))
        return fresh, old[_PLACE].to_numpy(), old[WEIGHT].to_numpy()

    def _assigned(self, rows: Frame, alone: Frame, limit: int, clock: int) -> Intake:
        assert self._window is not None
        placed = rows.with_row_index(_PLACE)
        placed = assign(placed, self._window, self._schema, clock)
        open_ = placed.filter(pl.col(END) > limit)
        late = rows.clear()
        if open_.height < placed.height:
            chosen = np.ones(rows.height, np.bool_)
            chosen[open_[_PLACE].to_numpy()] = False
            late = rows.filter(pl.Series(chosen))
        lost = placed.height - open_.height
        if late.height:
            lost -= placed.filter(pl.col(_PLACE).is_in(np.flatnonzero(chosen))).height
        late = late.with_columns(pl.lit(_CLOSED).alias(REASON))
        return Intake(self._shaped(open_), alone, late, lost)

    def _shaped(self, rows: Frame) -> Frame:
        if self.counted:
            rows = rows.with_columns(pl.lit(0, pl.Int64).alias(MATCHES))
        return rows.select(self.empty.columns)


def _wider(relation: Join, number: int) -> pl.DataType:
    mine, other = relation.on[number]
    types = relation.left.schema.field(mine).type, relation.right.schema.field(other).type
    wide = next((item for item in types if item.kind is Kind.INT64), types[0])
    return dtype_of(wide)


def _parted(rows: Frame, apart: pl.Expr) -> tuple[Frame, Frame]:
    """Give the rows a condition holds for, and the others."""
    mask = rows.select(apart.alias(_PLACE)).to_series()
    return (rows.filter(mask), rows.filter(~mask)) if mask.any() else (rows.clear(), rows)


def _extended(weights: Whole, added: Whole) -> tuple[Whole, Whole]:
    before = np.concatenate([weights, np.zeros(len(added), np.int64)])
    return before, np.concatenate([weights, added])


def _together(held: Frame, rows: Frame) -> Frame:
    if rows.is_empty():
        return held
    if held.is_empty():
        return rows
    both = pl.concat([held, rows], rechunk=False)
    return both.rechunk() if both.n_chunks() > _PIECES else both


def chosen_rows(rows: Frame, keep: Mask) -> Frame:
    """Give the rows of a mask; the same frame where it is all of them."""
    return rows if keep.all() else rows.filter(pl.Series(keep))
