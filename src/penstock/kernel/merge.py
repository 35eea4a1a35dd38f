"""Rows come to windows that merge: which pane each row belongs to afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.kernel.assign import END, START, Whole, millis
from penstock.kernel.locate import Spot, together
from penstock.kernel.pane import KEY
from penstock.kernel.session import Merged, merge_sessions
from penstock.kernel.trigger.node import Mask
from penstock.kernel.work import Work
from penstock.model.window import Custom, Session, Span

NOWHERE = -1
"""The place of a row whose window has left."""


def merge_into_panes(work: Work, new: Spot) -> Whole:
    """Merge the windows of rows and panes, and give where the pane of each row stands."""
    panes = work.panes
    touched = np.zeros(len(work.keys), dtype=np.bool_)
    touched[new.key] = True
    known = np.flatnonzero(touched[panes[KEY]])
    merged = _merged(work, together([_spots(work, known), new]))
    windows = merged.windows
    into_known, into_new = merged.into[: len(known)], merged.into[len(known) :]
    changed = _changed(work, known, into_known, windows)
    gone: Mask = windows.end <= work.shape.left(work.course.rows)
    stands = np.full(len(windows), NOWHERE, dtype=np.int64)
    stands[into_known] = known
    # New windows that have left are those of late rows; a pane that shrank so far is kept.
    wanted = np.zeros(len(windows), dtype=np.bool_)
    wanted[into_new] = True
    begin = wanted & ~gone & (stands == NOWHERE)
    stands = _apply(work, (known, into_known), windows, changed, begin, stands)
    stands[gone] = NOWHERE
    return stands[into_new]


def _apply(
    work: Work,
    members: tuple[Whole, Whole],
    windows: Spot,
    changed: Mask,
    begin: Mask,
    stands: Whole,
) -> Whole:
    known, into = members
    new = np.flatnonzero(begin)
    spot = windows.at(new)
    stands[new] = work.panes.add(spot.key, spot.start, spot.end, work.course.rows)
    chosen = np.flatnonzero(changed)
    if not len(chosen):
        return stands
    numbered = np.full(len(windows), -1, dtype=np.int64)
    numbered[chosen] = np.arange(len(chosen))
    moving = numbered[into] >= 0
    numbers = work.panes["_pane"][stands[(stands >= 0) & ~changed]]
    spot = windows.at(chosen)
    placed = work.merge(known[moving], numbered[into[moving]], spot.start, spot.end, spot.key)
    # Panes that were taken in have left the table: the others moved up.
    stands[(stands >= 0) & ~changed] = work.panes.find(numbers)
    stands[chosen] = placed
    return stands


def _changed(work: Work, known: Whole, into: Whole, windows: Spot) -> Mask:
    """Which windows are others than the panes they are made of had."""
    members = np.bincount(into, minlength=len(windows))
    changed = members > 1
    moved = (work.panes[START][known] != windows.start[into]) | (
        work.panes[END][known] != windows.end[into]
    )
    changed[into[moved]] = True
    return changed


def _spots(work: Work, at: Whole) -> Spot:
    panes = work.panes
    return Spot(panes[KEY][at], panes[START][at], panes[END][at])


def _merged(work: Work, spots: Spot) -> Merged:
    window = work.shape.window
    if isinstance(window, Session):
        most = None if window.max_size is None else millis(window.max_size)
        return merge_sessions(spots, touching=window.touching, max_size=most)
    assert isinstance(window, Custom)
    return merge_custom(spots, window)


def merge_custom(spots: Spot, window: Custom) -> Merged:
    """Ask the user's function what becomes of the windows of each key."""
    assert window.merge is not None
    numbers: dict[tuple[int, int, int], int] = {}
    into = np.empty(len(spots), dtype=np.int64)
    order = np.argsort(spots.key, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(spots.key[order])) + 1):
        if not len(rows):
            continue
        key = int(spots.key[rows[0]])
        spans = list(zip(spots.start[rows].tolist(), spots.end[rows].tolist(), strict=True))
        becomes = _becomes(window.merge(sorted(set(spans))))
        for row, span in zip(rows.tolist(), spans, strict=True):
            target = becomes.get(span, span)
            into[row] = numbers.setdefault((key, *target), len(numbers))
    found = np.array(list(numbers), dtype=np.int64).reshape(-1, 3)
    return Merged(into, Spot(found[:, 0], found[:, 1], found[:, 2]))


def _becomes(answer: Sequence[tuple[Sequence[Span], Span]]) -> dict[Span, Span]:
    return {
        (int(start), int(end)): (int(target[0]), int(target[1]))
        for taken, target in answer
        for start, end in taken
    }
