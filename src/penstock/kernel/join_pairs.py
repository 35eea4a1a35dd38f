"""Which rows of two sides meet: those with the same key and, where it counts, at a near time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.fold.grouping import join
from penstock.kernel.join_reach import Reach
from penstock.kernel.port import TIME, Frame

_LEFT = "_left_place"
_RIGHT = "_right_place"
_PLACE = "_place"
_NUMBER = "_number"
# A side so many times longer than the other is first narrowed to the keys of the other.
_LONGER = 4


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rows that meet, by their places on the left and on the right."""

    left: Whole
    right: Whole

    def __len__(self) -> int:
        return len(self.left)

    def at(self, chosen: Whole | np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Pairs:
        """Give some of them."""
        return Pairs(self.left[chosen], self.right[chosen])


def no_pairs() -> Pairs:
    """Give no pair."""
    return Pairs(np.empty(0, np.int64), np.empty(0, np.int64))


def equal_pairs(left: Frame, right: Frame) -> Pairs:
    """Give the pairs of rows that are alike in all columns, which hold no null."""
    if left.is_empty() or right.is_empty():
        return no_pairs()
    keys = left.columns
    one, other = left.with_row_index(_LEFT), right.with_row_index(_RIGHT)
    if one.height > _LONGER * other.height:
        one = join(one, right, keys, "semi")
    elif other.height > _LONGER * one.height:
        other = join(other, left, keys, "semi")
    found = join(one, other, keys, "inner")
    return Pairs(_places(found[_LEFT]), _places(found[_RIGHT]))


def near_pairs(left: Frame, right: Frame, reach: Reach) -> Pairs:
    """Give the pairs with the same key whose times are near; frames hold keys and `_time`."""
    if left.is_empty() or right.is_empty() or reach.low > reach.high:
        return no_pairs()
    if left.height <= right.height:
        found = _near(left, right, reach)
        return Pairs(found.left, found.right)
    found = _near(right, left, reach.turned)
    return Pairs(found.right, found.left)


def _near(few: Frame, many: Frame, reach: Reach) -> Pairs:
    """Find for each of the few the run of the many, ordered by key and time, that it meets.

    What is found is all that is looked at, however many rows a key has.
    """
    keys = [name for name in few.columns if name != TIME]
    first, last = few[TIME].min(), few[TIME].max()
    assert isinstance(first, int)
    assert isinstance(last, int)
    in_time = pl.col(TIME).is_between(first + reach.low, last + reach.high)
    many = many.with_row_index(_PLACE).filter(in_time)
    if many.is_empty():
        return no_pairs()
    known = few.select(keys).unique(maintain_order=True).with_row_index(_NUMBER)
    groups = join(few, known, keys, "left")[_NUMBER].to_numpy().astype(np.int64)
    many = join(many, known, keys, "inner")
    low = first + reach.low
    breadth = last + reach.high - low + 2
    if (known.height + 1) * breadth >= 2**62:
        return _near_by_rank(few, many, groups, reach)
    code = many[_NUMBER].to_numpy().astype(np.int64) * breadth + (many[TIME].to_numpy() - low)
    base = groups * breadth + (few[TIME].to_numpy() - low)
    return _runs(code, base + reach.low, base + reach.high, many)


def _near_by_rank(few: Frame, many: Frame, groups: Whole, reach: Reach) -> Pairs:
    """As with numbers of key and time, where these would be too long: times count by rank."""
    times, rank = np.unique(many[TIME].to_numpy(), return_inverse=True)
    breadth = len(times) + 1
    code = many[_NUMBER].to_numpy().astype(np.int64) * breadth + rank
    at = few[TIME].to_numpy()
    low = np.searchsorted(times, at + reach.low, "left")
    high = np.searchsorted(times, at + reach.high, "right") - 1
    return _runs(code, groups * breadth + low, groups * breadth + high, many)


def _runs(code: Whole, low: Whole, high: Whole, many: Frame) -> Pairs:
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    start = np.searchsorted(ordered, low, "left")
    sizes = np.searchsorted(ordered, high, "right") - start
    steps = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = order[np.repeat(start, sizes) + steps]
    few = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    return Pairs(few, _places(many[_PLACE])[chosen])


def _places(column: pl.Series) -> Whole:
    return column.to_numpy().astype(np.int64)
