"""Which places rows have in their groups, by columns that they are sorted by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.keybook import KeyBook
from penstock.kernel.multiset import PACKED, rows_at, touched_places, whole, whole_values
from penstock.kernel.port import WEIGHT, Frame
from penstock.kernel.trigger.node import Mask
from penstock.model.top_n import Sorting

_ROW = "_row"
_GROUP = "_group"
_CODE = "_code"
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows by place, sorted by group and rank, and where in that order what they are of begins."""

    rows: Whole
    first: Whole
    """Where the group of each row begins."""
    alike: Whole
    """Where the rows begin that have its number."""

    @property
    def numbers(self) -> Whole:
        """The number of each row in its group: the first is 1."""
        return self.alike - self.first + 1


@dataclass(frozen=True, slots=True)
class Turn:
    """The numbers of rows before and after others came; those not chosen have the number 0."""

    mine: Whole
    """The places of the rows that were held of groups that others came for."""
    before: Whole
    """Their numbers."""
    after: Whole
    """Their numbers, and those of the others."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """The first `count` rows of each group; of rows alike the first that came is better.

    With `ties` those alike have one number, and all up to `count` are chosen. Nulls are last.
    """

    keys: Sequence[str]
    sorting: Sequence[Sorting]
    count: int
    ties: bool = False

    def of(self, rows: Frame, number: str | None = None) -> Frame:
        """Choose among rows in the order of their arrival, and keep it; `number` is their place."""
        placed = self._placed(rows)
        numbers = self._by_row(placed.numbers, placed, rows.height)
        chosen = np.flatnonzero(numbers)
        found = rows_at(rows, chosen)
        if number is None:
            return found
        return found.with_columns(pl.Series(number, numbers[chosen], pl.Int64))

    def packed(self, rows: Frame) -> Frame:
        """Choose, and let the best of each group stand for those that are left out."""
        placed = self._placed(rows)
        numbers = self._by_row(placed.numbers, placed, rows.height)
        chosen = np.flatnonzero(numbers)
        stands = np.ones(rows.height, np.int64)
        if len(placed.rows):
            starts = np.flatnonzero(_changes(placed.first))
            kept = np.add.reduceat(placed.numbers <= self.count, starts, dtype=np.int64)
            stands[placed.rows[starts]] += np.diff(np.append(starts, len(placed.rows))) - kept
        best = rows_at(rows, chosen)
        return best.with_columns(pl.Series(PACKED, stands[chosen], pl.Int64))

    def turn(self, held: Frame, rows: Frame) -> Turn:
        """Number the rows that are held, all of them chosen before, as others come after them."""
        mine = touched_places(held, rows, self.keys)
        columns = list(dict.fromkeys((*self.keys, *(it.column for it in self.sorting), WEIGHT)))
        narrow = rows.select(columns)
        if len(mine):
            narrow = pl.concat([rows_at(held.select(columns), mine), narrow])
        placed = self._placed(narrow)
        old = placed.rows < len(mine)
        # As if only those had come that were there before.
        earlier: Whole = np.cumsum(old) - old
        before = np.where(old, earlier[placed.alike] - earlier[placed.first] + 1, 0)
        return Turn(
            mine,
            self._by_row(before, placed, narrow.height)[: len(mine)],
            self._by_row(placed.numbers, placed, narrow.height),
        )

    def _by_row(self, numbers: Whole, placed: Placed, size: int) -> Whole:
        """Give the number of each row in the order of their arrival, 0 if it is not chosen."""
        found = np.zeros(size, np.int64)
        found[placed.rows] = np.where(numbers <= self.count, numbers, 0)
        return found

    def _placed(self, rows: Frame) -> Placed:
        there = rows[WEIGHT] > 0
        places = None
        if not there.all():
            places = np.flatnonzero(there.to_numpy())
            rows = rows_at(rows, places)
        order, news, others = self._codes(rows) or self._sorted(rows)
        first = _begun(np.flatnonzero(news), len(order))
        alike = _begun(np.flatnonzero(others), len(order)) if self.ties else np.arange(len(order))
        return Placed(order if places is None else places[order], first, alike)

    def _codes(self, rows: Frame) -> tuple[Whole, Mask, Mask] | None:
        """Sort by one number for all columns, where it can hold them: several times as fast."""
        columns = [(name, False) for name in self.keys]
        columns += [(item.column, item.descending) for item in self.sorting]
        if not rows.height or not all(whole(rows[name]) for name, _ in columns):
            return None
        code, size, span = np.zeros(rows.height, np.int64), 1, 1
        for place, (name, descending) in enumerate(columns):
            values = whole_values(rows[name])
            least, most = int(values.min()), int(values.max())
            breadth = most - least + 1
            size *= breadth
            span *= breadth if place >= len(self.keys) else 1
            if size >= _MOST:
                return None
            code = code * breadth + (most - values if descending else values - least)
        order, code = _ordered(code, size)
        groups = code // span if span > 1 else code
        return order, _changes(groups), _changes(code)

    def _sorted(self, rows: Frame) -> tuple[Whole, Mask, Mask]:
        numbers = pl.Series(_GROUP, KeyBook(self.keys, None).numbers(rows), pl.Int64)
        by = [item.column for item in self.sorting]
        named = [pl.col(name).alias(f"_by{place}") for place, name in enumerate(by)]
        names = [_GROUP, *(f"_by{place}" for place in range(len(by)))]
        ordered = (
            rows.select(numbers, *named)
            .with_row_index(_ROW)
            .sort(
                names,
                descending=[False, *(item.descending for item in self.sorting)],
                nulls_last=True,
                maintain_order=True,
            )
        )
        other = [pl.col(name).ne_missing(pl.col(name).shift(1)) for name in names]
        marks = ordered.select(pl.any_horizontal(other).alias(_CODE))[_CODE].to_numpy().copy()
        if len(marks):
            marks[0] = True
        groups = ordered[_GROUP].to_numpy()
        return ordered[_ROW].to_numpy().astype(np.int64), _changes(groups), marks


def _ordered(code: Whole, size: int) -> tuple[Whole, Whole]:
    """Sort numbers below `size`; give also where each was, the first of those equal first."""
    bits = len(code).bit_length()
    if size << bits < _MOST:
        # With its place in it each number is another one, and none need be carried along.
        both = np.sort((code << bits) | np.arange(len(code)))
        return both & ((1 << bits) - 1), both >> bits
    ordered = pl.DataFrame({_CODE: code}).with_row_index(_ROW).sort(_CODE, maintain_order=True)
    return ordered[_ROW].to_numpy().astype(np.int64), ordered[_CODE].to_numpy()


def _begun(starts: Whole, size: int) -> Whole:
    """Give for each row the last of some places that is not after it."""
    return np.repeat(starts, np.diff(np.append(starts, size)))


def _changes(values: Whole) -> Mask:
    marks = np.ones(len(values), np.bool_)
    marks[1:] = values[1:] != values[:-1]
    return marks
