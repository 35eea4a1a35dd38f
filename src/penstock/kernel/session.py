"""Sessions: windows that become one where they meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.kernel.assign import Whole
from penstock.kernel.locate import Spot
from penstock.kernel.trigger.node import Mask

_LARGE = 2**62


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
    order = np.argsort(_joined(spots.key, spots.start))
    if max_size is not None:
        order = np.lexsort((spots.end, spots.start, spots.key))
    ordered = spots.at(order)
    new_key = _changes(ordered.key)
    segment = _numbered(_begins(ordered, new_key, touching=touching))
    while max_size is not None:
        too_long = _first_too_long(ordered, segment, max_size)
        if not too_long.any():
            break
        segment = _numbered(_changes(segment) | too_long)
    into = np.empty(count, dtype=np.int64)
    into[order] = segment
    first = np.flatnonzero(_changes(segment))
    ends = np.maximum.reduceat(ordered.end, first) if count else ordered.end
    return Merged(into, Spot(ordered.key[first], ordered.start[first], ends))


def _numbered(begins: Mask) -> Whole:
    """Number segments from 0 by where they begin."""
    return np.cumsum(begins, dtype=np.int64) - 1


def _changes(values: Whole) -> Mask:
    """Whether a value differs from the one before."""
    changes = np.ones(len(values), dtype=np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _begins(ordered: Spot, new_key: Mask, *, touching: bool) -> Mask:
    """Whether a window begins a session: it starts after all before it have ended."""
    reached = highest_so_far(_numbered(new_key), ordered.end)
    begins = new_key.copy()
    before = reached[:-1]
    begins[1:] |= (ordered.start[1:] > before) if touching else (ordered.start[1:] >= before)
    return begins


def highest_so_far(segment: Whole, values: Whole) -> Whole:
    """Give the greatest value so far within each segment; segments are numbered upwards."""
    if not len(values):
        return values
    reached = np.maximum.accumulate(_joined(segment, values))
    if _fits(segment, values):
        low, high = int(values.min()), int(values.max())
        return reached - segment * (high - low + 1) + low
    different: Whole = np.unique(values)
    highest: Whole = different[reached % len(different)]
    return highest


def _joined(segment: Whole, values: Whole) -> Whole:
    """Give numbers in the order of segment and value."""
    if not len(values):
        return values
    if _fits(segment, values):
        low, high = int(values.min()), int(values.max())
        return segment * (high - low + 1) + (values - low)
    different, rank = np.unique(values, return_inverse=True)
    return segment * len(different) + rank


def _fits(segment: Whole, values: Whole) -> bool:
    width = int(values.max()) - int(values.min()) + 1
    return (int(segment.max()) + 1) * width < _LARGE


def _first_too_long(ordered: Spot, segment: Whole, max_size: int) -> Mask:
    """The first window of each session that makes it too long."""
    first = np.flatnonzero(_changes(segment))
    lengths = np.diff(np.append(first, len(segment)))
    start = np.repeat(ordered.start[first], lengths)
    reach = highest_so_far(segment, ordered.end)
    too_long: Mask = (reach - start >= max_size) & ~_changes(segment)
    total = np.cumsum(too_long, dtype=np.int64)
    before = np.repeat(total[first] - too_long[first], lengths)
    result: Mask = too_long & (total - before == 1)
    return result
