"""Buffers by count, for all keys at once: which rows they hold follows from their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.kernel.firing import Firings, Members, Whole
from penstock.model.window import Buffered, ByCount


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows by group: `places` go group by group, each group's in the order of arrival.

    The first `held` rows of a group were there before; `seen` and `fired` count its rows and
    firings up to now.
    """

    places: Whole
    sizes: Whole
    held: Whole
    seen: Whole
    fired: Whole

    @property
    def starts(self) -> Whole:
        """Where each group begins in `places`."""
        return np.cumsum(self.sizes) - self.sizes


@dataclass(frozen=True, slots=True)
class Counted:
    """What came of it: firings, the places of rows that stay, and the counters after."""

    firings: Firings
    kept: Whole
    seen: Whole
    fired: Whole


def is_plain(window: Buffered) -> bool:
    """Whether counts alone decide, in the usual order."""
    by_count = isinstance(window.evict, ByCount) and isinstance(window.fire, ByCount | None)
    return by_count and window.sequence == "insert-evict-fire"


def run_counts(window: Buffered, rows: Grouped) -> Counted:
    """Take the new rows of all groups."""
    assert isinstance(window.evict, ByCount)
    if window.kind == "tumbling":
        return _tumbling(window.evict.rows, rows)
    every = window.fire.rows if isinstance(window.fire, ByCount) else 1
    return _sliding(window.evict.rows, every, rows, partial=window.partial)


def _tumbling(size: int, rows: Grouped) -> Counted:
    full = rows.sizes // size
    total = int(full.sum())
    groups = np.repeat(np.arange(len(full), dtype=np.int64), full)
    turn = np.arange(total, dtype=np.int64) - np.repeat(np.cumsum(full) - full, full)
    begins = rows.starts[groups] + turn * size
    members = (begins[:, None] + np.arange(size, dtype=np.int64)[None, :]).reshape(-1)
    firings = Firings(
        groups,
        rows.fired[groups] + turn,
        rows.places[begins + size - 1],
        Members(np.full(total, size, dtype=np.int64), rows.places[members]),
    )
    within = _numbers(rows)
    kept = rows.places[within >= np.repeat(full * size, rows.sizes)]
    return Counted(firings, kept, rows.seen + rows.sizes - rows.held, rows.fired + full)


def _sliding(size: int, every: int, rows: Grouped, *, partial: bool) -> Counted:
    within = _numbers(rows)
    held = np.repeat(rows.held, rows.sizes)
    count = np.repeat(rows.seen, rows.sizes) + within - held + 1
    # Counted from the first row, or from the one that fills the buffer for the first time.
    first = 0 if partial else size
    due = (within >= held) & (count >= first) & ((count - first) % every == 0)
    at = np.flatnonzero(due).astype(np.int64)
    groups = np.repeat(np.arange(len(rows.sizes), dtype=np.int64), rows.sizes)[at]
    fires = np.bincount(groups, minlength=len(rows.sizes)).astype(np.int64)
    turn = np.arange(len(at), dtype=np.int64) - np.repeat(np.cumsum(fires) - fires, fires)
    lengths = np.minimum(within[at] + 1, size)
    ends = np.cumsum(lengths)
    steps = np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(ends - lengths, lengths)
    members = np.repeat(at - lengths + 1, lengths) + steps
    chosen = Members(lengths, rows.places[members])
    firings = Firings(groups, rows.fired[groups] + turn, rows.places[at], chosen)
    kept = rows.places[within >= np.repeat(rows.sizes - size, rows.sizes)]
    return Counted(firings, kept, rows.seen + rows.sizes - rows.held, rows.fired + fires)


def _numbers(rows: Grouped) -> Whole:
    """Number the rows of each group from 0."""
    return np.arange(len(rows.places), dtype=np.int64) - np.repeat(rows.starts, rows.sizes)
