"""One side of a join: which rows it takes, and what a batch changes in those it holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

import numpy as np
import polars as pl

from penstock.kernel.assign import END, START, Whole, assign
from penstock.kernel.columns import dtype_of, frame_schema
from penstock.kernel.fold.grouping import group
from penstock.kernel.join_pairs import row_hash
from penstock.kernel.join_reach import reach_of
from penstock.kernel.letter import REASON
from penstock.kernel.port import CONTROL, START_OF_TIME, TAKEN, TIME, UNTIL, WEIGHT, Frame
from penstock.kernel.trigger.node import Mask
from penstock.model.join import Join
from penstock.model.join_bound import Bound, Interval, Lasting, SameWindow
from penstock.schema.types import Kind

SIDES = ("left", "right")
MATCHES = "_matches"
"""Int64: how many partners a held row has, where that decides whether it comes out."""
PLACE = "_place"
"""UInt32: the number of a row in its batch, while it may be in several windows."""
_LATE = "behind the watermark: its partners may be forgotten"
CLOSED = "its window is closed"
# In more pieces than these a frame is slow to pick rows from.
_PIECES = 16
_LONG = 4096
_NOTHING = pl.lit(0, pl.Int64).alias(WEIGHT)
_LONG_AGO = pl.lit(START_OF_TIME, pl.Int64).alias(UNTIL)


@dataclass(frozen=True, slots=True)
class Intake:
    """The rows of a batch: those that may find partners, those that cannot, the late ones."""

    rows: Frame
    alone: Frame
    late: Frame
    filtered: int = 0
    dropped_pairs: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """The rows of a side before and after a batch; those that are new stand last."""

    rows: Frame
    before: Whole
    after: Whole
    held: int
    moment: Whole | None = None
    """Of tables: the event time of what changed each row, the start of time for the others."""

    @property
    def moved(self) -> Whole:
        """The places of the rows whose weight changed."""
        return np.flatnonzero(self.before != self.after)

    @property
    def difference(self) -> Whole:
        """By how much the weight of each row changed."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class _Netted:
    """What rows amount to: those that are new, and those held whose weight changes."""

    fresh: Frame
    places: Whole
    difference: Whole
    moment: Whole


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
        self.of_tables = not isinstance(bound, Interval | Lasting | SameWindow)
        self._nets = source.retracts or self.of_tables
        self._window = bound.window if isinstance(bound, SameWindow) else None
        self._timed = isinstance(bound, Interval | Lasting)
        self._ahead, self._end = _ahead(bound, port)
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
        timed = (TIME,) if self._window is not None or self._timed else ()
        self._identity = [*self.columns, *timed, *bounds]

    def admit(self, delta: Frame, limit: int, clock: int, *, sort_out: bool = True) -> Intake:
        """Part the rows of a batch; `limit` is the time that all rows are to have reached.

        Without `sort_out` rows whose window is closed are taken as well.
        """
        if delta.is_empty():
            return Intake(self.empty, self.empty, delta)
        delta = delta.select(*self.columns, *CONTROL, *([_moment(delta)] if self.of_tables else []))
        outside = 0
        if self._window is not None:
            delta, outside = self._assigned(delta, clock)
        missing = reduce(or_, (pl.col(key).is_null() for key in self.keys))
        if self._timed:
            missing = missing | pl.col(TIME).is_null()
        alone, rows = _parted(delta, missing)
        late, lost = rows.clear(), 0
        if self._timed:
            late, rows = _parted(rows, pl.col(TIME) < limit)
        elif self._window is not None and sort_out:
            late, rows, lost = _timely(rows, limit)
        filtered = outside
        if not self.kept:
            filtered += alone[PLACE].n_unique() if self._window is not None else alone.height
            alone = alone.clear()
        return Intake(self._shaped(rows), alone, self._refused(late), filtered, lost)

    def refuse(self, intake: Intake, late: Mask) -> Intake:
        """Give an intake with some of its rows among the late ones."""
        rows = intake.rows
        refused = self._refused(rows.filter(pl.Series(late)))
        return replace(intake, rows=rows.filter(pl.Series(~late)), late=refused)

    def last(self, rows: Frame) -> Whole | None:
        """Give the last time at which a partner of each row may come; none where it never ends."""
        if self._window is not None:
            return rows[END].to_numpy() - 1
        if self._end is not None:
            return self.lasts(rows)
        if self._ahead is None:
            return None
        return rows[TIME].to_numpy() + self._ahead

    def lasts(self, rows: Frame) -> Whole:
        """Give the last time of a partner, where each row says it; not at all is before its own."""
        end = pl.col(str(self._end))
        kind = rows.schema[str(self._end)]
        moment = end.dt.epoch("ms") if kind == pl.Datetime else end.cast(pl.Int64)
        known = pl.coalesce(moment, pl.col(TIME) - 1)
        return rows.select(known.alias(END))[END].to_numpy()

    def needed(self, rows: Frame) -> Whole | None:
        """Give the last time at which each row may be asked for: by a partner, or taken back."""
        if self._ahead is not None and self._ahead < 0 and self._nets:
            return rows[TIME].to_numpy()
        return self.last(rows)

    def key_of(self, rows: Frame) -> Frame:
        """Give the key of each row, in columns that both sides have alike."""
        return rows.select(self._key_exprs)

    def joined_by(self, rows: Frame) -> Frame:
        """Give what decides who meets whom: the key, its window, its time."""
        window = [] if self._window is None else [START, END]
        timed = [TIME] if self._timed else []
        return rows.select(*self._key_exprs, *window, *timed)

    def change(self, held: Frame, rows: Frame) -> Change:
        """Add the rows of a batch to those held; a row taken back meets the one that was added."""
        weights = held[WEIGHT].to_numpy().astype(np.int64)
        if rows.is_empty():
            return Change(held, weights, weights, held.height)
        if not self._nets:
            added = rows[WEIGHT].to_numpy().astype(np.int64)
            return Change(_together(held, rows), *_extended(weights, added), held.height)
        netted = self._netted(held, rows)
        fresh = netted.fresh
        before, after = _extended(weights, fresh[WEIGHT].to_numpy().astype(np.int64))
        after[netted.places] += netted.difference
        moment = None
        if self.of_tables:
            moment = np.full(len(after), START_OF_TIME)
            moment[held.height :] = fresh[UNTIL].to_numpy()
            moment[netted.places] = netted.moment
            fresh = fresh.drop(UNTIL)
        return Change(_together(held, fresh), before, after, held.height, moment)

    def _netted(self, held: Frame, rows: Frame) -> _Netted:
        asked = row_hash(rows.select(self._identity))
        held_hash = row_hash(held.select(self._identity))
        old = np.flatnonzero(held_hash.is_in(asked.unique().implode()).to_numpy())
        unsure = asked.is_in(held_hash.gather(old).unique().implode()).to_numpy()
        if asked.n_unique() < len(asked):
            unsure |= asked.is_duplicated().to_numpy()
        if not unsure.any():
            none = np.empty(0, np.int64)
            return _Netted(rows, none, none, none)
        return self._summed(held, old, rows, unsure)

    def _summed(self, held: Frame, old: Whole, rows: Frame, unsure: Mask) -> _Netted:
        """Add up the weights of rows that are the same, among those that may be."""
        count = held.height
        places = np.concatenate([old, count + np.flatnonzero(unsure)])
        some = rows.filter(pl.Series(unsure))
        moment = UNTIL if self.of_tables else TIME
        both = pl.concat(
            [
                held[old].select(*self._identity, _NOTHING, _LONG_AGO),
                some.select(
                    *self._identity,
                    pl.col(WEIGHT).cast(pl.Int64),
                    pl.col(moment).alias(UNTIL),
                ),
            ]
        ).with_columns(pl.Series(PLACE, places))
        sums = [pl.col(PLACE).min(), pl.col(WEIGHT).sum(), pl.col(UNTIL).max()]
        net = group(both, self._identity, sums).filter(pl.col(WEIGHT) != 0)
        place, weight = net[PLACE].to_numpy(), net[WEIGHT].to_numpy()
        after = np.where(unsure, 0, rows[WEIGHT].to_numpy())
        after[place[place >= count] - count] = weight[place >= count]
        fresh = rows.with_columns(pl.Series(WEIGHT, after, pl.Int32)).filter(pl.Series(after != 0))
        known = place < count
        return _Netted(fresh, place[known], weight[known], net[UNTIL].to_numpy()[known])

    def _assigned(self, rows: Frame, clock: int) -> tuple[Frame, int]:
        """Give rows with their windows, numbered, and how many belong to none."""
        assert self._window is not None
        placed = assign(rows.with_row_index(PLACE), self._window, self._schema, clock)
        hit = np.zeros(rows.height, np.bool_)
        hit[placed[PLACE].to_numpy()] = True
        return placed, rows.height - int(np.count_nonzero(hit))

    def _refused(self, late: Frame) -> Frame:
        reason = _LATE if self._window is None else CLOSED
        return late.select(*self.columns, *CONTROL, pl.lit(reason).alias(REASON))

    def _shaped(self, rows: Frame) -> Frame:
        if self.counted:
            rows = rows.with_columns(pl.lit(0, pl.Int64).alias(MATCHES))
        return rows.select(*self.empty.columns, *([UNTIL] if self.of_tables else []))


def _ahead(bound: Bound, port: int) -> tuple[int | None, str | None]:
    """Give how far after a row its last partner may be, or the column that says when."""
    match bound:
        case Interval():
            reach = reach_of(bound)
            return (reach.high if port == 0 else -reach.low), None
        case Lasting(side, column):
            return (None, column) if side == SIDES[port] else (0, None)
        case _:
            return None, None


def _moment(rows: Frame) -> pl.Expr:
    """Say when a row came, or when it was taken back."""
    told = [pl.when(pl.col(WEIGHT) < 0).then(UNTIL)] if UNTIL in rows.columns else []
    return pl.coalesce(*told, TIME, _LONG_AGO).alias(UNTIL)


def _wider(relation: Join, number: int) -> pl.DataType:
    mine, other = relation.on[number]
    types = relation.left.schema.field(mine).type, relation.right.schema.field(other).type
    wide = next((item for item in types if item.kind is Kind.INT64), types[0])
    return dtype_of(wide)


def _parted(rows: Frame, apart: pl.Expr) -> tuple[Frame, Frame]:
    """Give the rows a condition holds for, and the others."""
    mask = rows.select(apart.alias(PLACE)).to_series()
    return (rows.filter(mask), rows.filter(~mask)) if mask.any() else (rows.clear(), rows)


def _timely(rows: Frame, limit: int) -> tuple[Frame, Frame, int]:
    """Give the rows all of whose windows are closed, those in open windows, and pairs dropped."""
    still = rows.filter(pl.col(END) > limit)
    if still.height == rows.height:
        return rows.clear(), rows, 0
    closed = ~rows[PLACE].is_in(still[PLACE].unique().implode())
    late = rows.filter(closed)
    return late.unique(PLACE, maintain_order=True), still, rows.height - late.height - still.height


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


def refilled(rows: Frame, keep: Mask, held: int) -> Frame:
    """Give the rows to go on with; the same frame where all are kept.

    In a long table new rows take the places of those that are gone, so that the store writes
    these rows and not the table.
    """
    if keep.all():
        return rows
    gone = np.flatnonzero(~keep[:held])
    fresh = held + np.flatnonzero(keep[held:])
    if held < _LONG or not len(gone) or len(gone) > len(fresh):
        return rows.filter(pl.Series(keep))
    places = np.concatenate([np.arange(held), fresh[: len(fresh) - len(gone)]])
    places[gone] = fresh[len(fresh) - len(gone) :]
    return rows[places]
