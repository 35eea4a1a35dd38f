"""Which rows of two sides meet: those with the same key and, where it counts, at a near time.

The longer side is put in the order of key and time, and the run of rows that each row of the
shorter one meets is looked up in it. Keys are told apart by a hash, and pairs that only their
hashes brought together are left out, so that what is looked at is what is found, however many
rows a key has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.join_reach import Reach
from penstock.kernel.port import TIME, Frame
from penstock.kernel.trigger.node import Mask

_CODE = "_code"
_PLACE = "_place"
_BITS = 62
# With fewer bits for the key, too many keys would look alike.
_LEAST_BITS = 20
# A side so many times longer than the other is first narrowed to the keys of the other.
_LONGER = 4


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rows that meet, by their places on the left and on the right."""

    left: Whole
    right: Whole

    def __len__(self) -> int:
        return len(self.left)

    @property
    def turned(self) -> Pairs:
        """The same, seen from the other side."""
        return Pairs(self.right, self.left)

    def at(self, chosen: Whole | Mask) -> Pairs:
        """Give some of them."""
        return Pairs(self.left[chosen], self.right[chosen])


def no_pairs() -> Pairs:
    """Give no pair."""
    return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))


def meeting(left: Frame, right: Frame, reach: Reach | None) -> Pairs:
    """Give the pairs of rows that are alike in all columns, which hold no null.

    With a `reach` a column `_time` need not be the same but near.
    """
    if left.is_empty() or right.is_empty() or (reach and reach.low > reach.high):
        return no_pairs()
    if left.height <= right.height:
        return _found(left, right, reach)
    return _found(right, left, reach and reach.turned).turned


def _found(few: Frame, many: Frame, reach: Reach | None) -> Pairs:
    many, places = _narrowed(few, many, reach)
    if many.is_empty():
        return no_pairs()
    codes = _codes(few, many, reach)
    found = _runs(codes)
    if codes.exact:
        return Pairs(found.left, places[found.right])
    keys = [name for name in few.columns if reach is None or name != TIME]
    same = np.ones(len(found), np.bool_)
    for key in keys:
        one, other = few[key].gather(found.left), many[key].gather(found.right)
        same &= (one == other).to_numpy()
    found = found.at(same)
    return Pairs(found.left, places[found.right])


def _narrowed(few: Frame, many: Frame, reach: Reach | None) -> tuple[Frame, Whole]:
    """Leave out rows that cannot be met, where that is less work than looking among them."""
    chosen = np.ones(many.height, np.bool_)
    if reach is not None:
        at, when = many[TIME].to_numpy(), few[TIME].to_numpy()
        chosen = (at >= when.min() + reach.low) & (at <= when.max() + reach.high)
    if many.height > _LONGER * few.height:
        keys = [name for name in few.columns if reach is None or name != TIME]
        asked = row_hash(few.select(keys)).unique()
        chosen &= row_hash(many.select(keys)).is_in(asked.implode()).to_numpy()
    places = np.flatnonzero(chosen)
    return (many if len(places) == many.height else many[places]), places


@dataclass(frozen=True, slots=True)
class _Codes:
    """Key and time as one number: of the many, and the first and last each of the few meets.

    Where they are not `exact`, rows of other keys may have the same.
    """

    many: Whole
    low: Whole
    high: Whole
    exact: bool


def _codes(few: Frame, many: Frame, reach: Reach | None) -> _Codes:
    if reach is None:
        one, other, exact = _keys(few, many, _BITS)
        return _Codes(other, one, one, exact)
    when, at = few[TIME].to_numpy(), many[TIME].to_numpy()
    first = int(min(when.min() + reach.low, at.min()))
    breadth = int(max(when.max() + reach.high, at.max())) - first + 1
    low, high, at = when + (reach.low - first), when + (reach.high - first), at - first
    if breadth.bit_length() > _BITS - _LEAST_BITS:
        times, at = np.unique(at, return_inverse=True)
        low, high = np.searchsorted(times, low, "left"), np.searchsorted(times, high, "right") - 1
        # The first of the few may end before all times.
        at, low, high, breadth = at + 1, low + 1, high + 1, len(times) + 2
    keys = [name for name in few.columns if name != TIME]
    one, other, exact = _keys(few.select(keys), many.select(keys), _BITS - breadth.bit_length())
    return _Codes(other * breadth + at, one * breadth + low, one * breadth + high, exact)


def _keys(few: Frame, many: Frame, bits: int) -> tuple[Whole, Whole, bool]:
    """Give a number of so many bits for each key."""
    if few.width == 1 and few.dtypes[0].is_integer():
        one, other = few[:, 0].to_numpy().astype(np.int64), many[:, 0].to_numpy().astype(np.int64)
        least = min(int(one.min()), int(other.min()))
        if max(int(one.max()), int(other.max())) - least < 2**bits:
            return one - least, other - least, True
    shift = np.uint64(64 - bits)
    hashes = [row_hash(rows).to_numpy() >> shift for rows in (few, many)]
    return hashes[0].astype(np.int64), hashes[1].astype(np.int64), False


def _runs(codes: _Codes) -> Pairs:
    """Give for each of the few, in their order, the many it meets, by time and arrival."""
    ordered = _sorted(codes.many)
    many, places = ordered[_CODE].to_numpy(), ordered[_PLACE].to_numpy().astype(np.int64)
    # Looked up in order, neighbours find what they look for in the processor's cache.
    order = _sorted(codes.low)[_PLACE].to_numpy()
    start, stop = np.empty_like(codes.low), np.empty_like(codes.low)
    start[order] = np.searchsorted(many, codes.low[order], "left")
    stop[order] = np.searchsorted(many, codes.high[order], "right")
    sizes = np.maximum(stop - start, 0)
    steps = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    few = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    return Pairs(few, places[np.repeat(start, sizes) + steps])


def _sorted(codes: Whole) -> Frame:
    return pl.DataFrame({_CODE: codes}).with_row_index(_PLACE).sort(_CODE, maintain_order=True)


def row_hash(rows: Frame) -> pl.Series:
    """Give a hash of each row, which no order and no state may depend on."""
    return rows.hash_rows(seed=1)
