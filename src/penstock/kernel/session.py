"""Sessions: windows that become one where they meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.kernel.assign import Whole
from penstock.kernel.locate import Spot
from penstock.kernel.trigger.node import Mask


@dataclass(frozen=True, slots=True)
class Merged:
    """What becomes of windows: the number of the one each is part of, and those there are."""

    into: Whole
    windows: Spot


def merge_sessions(spots: Spot, *, touching: bool, max_size: int | None) -> Merged:
    """Merge the windows of each key that overlap, or also those that touch.

    A window that would make its session as long as `max_size` begins another one.
    """
    count = len(spots)
    order = np.lexsort((spots.end, spots.start, spots.key))
    ordered = spots.at(order)
    segment = np.cumsum(_begins(ordered, _changes(ordered.key), touching=touching))
    while max_size is not None:
        too_long = _first_too_long(ordered, segment, max_size)
        if not too_long.any():
            break
        segment = np.cumsum(_changes(segment) | too_long)
    into = np.empty(count, dtype=np.int64)
    into[order] = segment - 1
    first = np.flatnonzero(_changes(segment))
    ends = np.maximum.reduceat(ordered.end, first) if count else ordered.end
    return Merged(into, Spot(ordered.key[first], ordered.start[first], ends))


def _changes(values: Whole) -> Mask:
    """Whether a value differs from the one before."""
    changes = np.ones(len(values), dtype=np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _begins(ordered: Spot, new_key: Mask, *, touching: bool) -> Mask:
    """Whether a window begins a session: it starts after all before it have ended."""
    reached = _reach(np.cumsum(new_key), ordered.end)
    begins = new_key.copy()
    before = reached[:-1]
    begins[1:] |= (ordered.start[1:] > before) if touching else (ordered.start[1:] >= before)
    return begins


def _reach(segment: Whole, ends: Whole) -> Whole:
    """Give the latest end so far within each segment; segments are numbered upwards."""
    if not len(ends):
        return ends
    different, rank = np.unique(ends, return_inverse=True)
    width = len(different)
    reached = np.maximum.accumulate(segment * width + rank)
    return different[reached % width]


def _first_too_long(ordered: Spot, segment: Whole, max_size: int) -> Mask:
    """The first window of each session that makes it too long."""
    begins = np.flatnonzero(_changes(segment))
    start = np.repeat(ordered.start[begins], np.diff(np.r_[begins, len(segment)]))
    too_long = (_reach(segment, ordered.end) - start >= max_size) & ~_changes(segment)
    total = np.cumsum(too_long)
    before = np.repeat(total[begins] - too_long[begins], np.diff(np.r_[begins, len(segment)]))
    result: Mask = too_long & (total - before == 1)
    return result
