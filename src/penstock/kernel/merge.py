"""Rows come to windows that merge: which pane each row belongs to afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.errors import RunError
from penstock.kernel.assign import END, START, Whole, millis
from penstock.kernel.locate import Spot, together
from penstock.kernel.pane import FINISHED, KEY, PANE
from penstock.kernel.session import Merged, merge_sessions
from penstock.kernel.trigger.node import Mask
from penstock.kernel.work import Work
from penstock.model.window import Custom, Session, Span

NOWHERE = -1
"""The place of a row whose window has left."""
CLOSED = -2
"""The place of a row whose window has a trigger that is finished."""


def merge_into_panes(work: Work, new: Spot) -> Whole:
    """Merge the windows of rows and panes, and give where the pane of each row stands.

    A window whose trigger is finished takes no part, but where it does not reopen, and what
    becomes the same window again is refused.
    """
    mine, closed = panes_of(work, new.key)
    known = np.flatnonzero(mine & ~closed)
    merged = merged_windows(work, together([spots_of(work, known), new]))
    into_known, into_new = merged.into[: len(known)], merged.into[len(known) :]
    wanted = np.zeros(len(merged.windows), dtype=np.bool_)
    wanted[into_new] = True
    return settle(work, Claim(known, into_known, merged.windows, wanted))[into_new]


def panes_of(work: Work, keys: Whole) -> tuple[Mask, Mask]:
    """Say which panes are of these keys, and which of those take no part in merging."""
    panes = work.panes
    touched = np.zeros(len(work.keys), dtype=np.bool_)
    touched[keys] = True
    mine: Mask = touched[panes[KEY]]
    return mine, mine & panes[FINISHED] if work.shape.reopens else np.zeros_like(mine)


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to become of panes: where they stand, and the number of the window each becomes.

    `wanted` windows begin a pane where they have none.
    """

    known: Whole
    into: Whole
    windows: Spot
    wanted: Mask


def settle(work: Work, claim: Claim) -> Whole:
    """Let panes become what they should, and give where the pane of each window stands."""
    windows = claim.windows
    _, closed = panes_of(work, windows.key)
    changed = _changed(work, claim)
    gone: Mask = windows.end <= work.shape.left(work.course.rows)
    stands = np.full(len(windows), NOWHERE, dtype=np.int64)
    stands[claim.into] = claim.known
    # New windows that have left are those of late rows; a pane that shrank so far is kept.
    shut = (stands == NOWHERE) & _same(windows, spots_of(work, np.flatnonzero(closed)))
    begin = claim.wanted & ~gone & ~shut & (stands == NOWHERE)
    stands = _apply(work, claim, changed, begin, stands)
    standing = np.flatnonzero(stands >= 0)
    shut[standing] |= work.panes[FINISHED][stands[standing]]
    stands[shut] = CLOSED
    stands[gone] = NOWHERE
    return stands


def _same(windows: Spot, others: Spot) -> Mask:
    """Which windows are among the others, of the same key."""
    if not len(others):
        return np.zeros(len(windows), dtype=np.bool_)
    both = together([windows, others])
    whole = np.stack([both.key, both.start, both.end], axis=1)
    _, number = np.unique(whole, axis=0, return_inverse=True)
    return np.isin(number[: len(windows)], number[len(windows) :])


def _apply(work: Work, claim: Claim, changed: Mask, begin: Mask, stands: Whole) -> Whole:
    windows = claim.windows
    new = np.flatnonzero(begin)
    spot = windows.at(new)
    stands[new] = work.panes.add(spot.key, spot.start, spot.end, work.course.rows)
    chosen = np.flatnonzero(changed)
    if not len(chosen):
        return stands
    numbered = np.full(len(windows), -1, dtype=np.int64)
    numbered[chosen] = np.arange(len(chosen))
    moving = numbered[claim.into] >= 0
    same = (stands >= 0) & ~changed
    numbers = work.panes[PANE][stands[same]]
    into = numbered[claim.into[moving]]
    placed = work.merge(claim.known[moving], into, windows.at(chosen))
    # Panes that were taken in have left the table: the others moved up.
    stands[same] = work.panes.find(numbers)
    stands[chosen] = placed
    return stands


def _changed(work: Work, claim: Claim) -> Mask:
    """Which windows are others than the panes they are made of had."""
    windows, into = claim.windows, claim.into
    members = np.bincount(into, minlength=len(windows))
    changed = members > 1
    before = spots_of(work, claim.known)
    moved = (before.start != windows.start[into]) | (before.end != windows.end[into])
    changed[into[moved]] = True
    return changed


def spots_of(work: Work, at: Whole) -> Spot:
    """Give the keys and windows of panes."""
    panes = work.panes
    return Spot(panes[KEY][at], panes[START][at], panes[END][at])


def merged_windows(work: Work, spots: Spot) -> Merged:
    """Say what becomes of windows."""
    window = work.shape.window
    if isinstance(window, Session):
        most = None if window.max_size is None else millis(window.max_size)
        return merge_sessions(spots, touching=window.touching, max_size=most)
    assert isinstance(window, Custom)
    return merge_custom(spots, window)


def merge_custom(spots: Spot, window: Custom) -> Merged:
    """Ask the user's function what becomes of the windows of each key."""
    numbers: dict[tuple[int, int, int], int] = {}
    into = np.empty(len(spots), dtype=np.int64)
    order = np.argsort(spots.key, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(spots.key[order])) + 1):
        if not len(rows):
            continue
        key = int(spots.key[rows[0]])
        spans = list(zip(spots.start[rows].tolist(), spots.end[rows].tolist(), strict=True))
        becomes = _asked(window, sorted(set(spans)))
        for row, span in zip(rows.tolist(), spans, strict=True):
            target = becomes.get(span, span)
            into[row] = numbers.setdefault((key, *target), len(numbers))
    found = np.array(list(numbers), dtype=np.int64).reshape(-1, 3)
    return Merged(into, Spot(found[:, 0], found[:, 1], found[:, 2]))


def _asked(window: Custom, spans: list[Span]) -> dict[Span, Span]:
    assert window.merge is not None
    try:
        return _becomes(window.merge(spans))
    except Exception as error:
        raise RunError(
            "WINDOW_MERGE",
            f'window "{window.name}" cannot merge {spans!r:.200}: {type(error).__name__}: {error}',
            hint="Correct the function that merges; it gives pairs of windows taken and the window"
            " they become.",
        ) from error


def _becomes(answer: Sequence[tuple[Sequence[Span], Span]]) -> dict[Span, Span]:
    return {
        (int(start), int(end)): (int(target[0]), int(target[1]))
        for taken, target in answer
        for start, end in taken
    }
