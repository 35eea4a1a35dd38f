"""Windows that merge and may come apart again: sessions over rows that can be taken back.

What is kept is not added up by session but by part, so that after every change the sessions
are those that the rows left would make, whatever came before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from typing_extensions import override

from penstock.kernel.assign import END, Whole
from penstock.kernel.fold.fold import Groups
from penstock.kernel.intake import Intake, Share
from penstock.kernel.locate import Spot
from penstock.kernel.merge import (
    NOWHERE,
    Claim,
    merge_into_panes,
    merged_windows,
    panes_of,
    settle,
)
from penstock.kernel.pane import FINISHED, KEY, NEW, PANE
from penstock.kernel.part import NET, NO_PANE, PART, Parts
from penstock.kernel.port import Frame
from penstock.kernel.running import renamed
from penstock.kernel.session import Merged
from penstock.kernel.shape import Course, Shape
from penstock.kernel.store import filled
from penstock.kernel.trigger.node import Mask
from penstock.kernel.work import Work

_PARTS = "parts"
WAITING = -3
"""The place of a row that takes back what has not come yet: it waits for that."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the panes of rows stand, and the numbers of the accumulators that take them.

    `moved` are panes that changed without a row: others took parts of them, or they took
    parts of others.
    """

    at: Whole
    number: Whole
    moved: Share | None = None


def place(work: Work, new: Spot, weight: Whole) -> Placed:
    """Find the panes of rows whose windows merge with those there are."""
    if isinstance(work, RevisedWork):
        return work.place(new, weight)
    at = merge_into_panes(work, new)
    numbers = np.where(at >= 0, work.panes[PANE][np.maximum(at, 0)] if len(work.panes) else 0, -1)
    return Placed(at, numbers)


class RevisedWork(Work):
    """A step over windows that may come apart again."""

    def __init__(self, shape: Shape, tables: Mapping[str, Frame], course: Course) -> None:
        super().__init__(shape, tables, course)
        self._parts = Parts(tables.get(_PARTS))

    def place(self, new: Spot, weight: Whole) -> Placed:
        """Add rows to their parts, and let the panes of their keys be what the parts make."""
        parts = self._parts
        of = parts.take(new, weight)
        touched = np.zeros(len(self.keys), dtype=np.bool_)
        touched[new.key] = True
        mine = touched[parts[KEY]]
        there = np.flatnonzero(mine & (parts[NET] > 0))
        before = parts[PANE].copy()
        merged = merged_windows(self, parts.spots(there))
        follows, stands = self._settled(new.key, there, merged)
        heirs, stands = follows[before], stands[merged.into]
        after = np.where(mine & ~self._told_once(), NO_PANE, heirs)
        # What a window refuses keeps the pane it had: a new part has none.
        after[there] = heirs[there]
        after[there[stands >= 0]] = self.panes[PANE][stands[stands >= 0]]
        parts.put(PANE, np.arange(len(parts)), after)
        placed = Placed(
            self._places(of, there, stands, heirs),
            parts[PART][of],
            self._moved(there, before, follows),
        )
        self._forget(there[(stands < 0) & (after[there] == NO_PANE)])
        return placed

    def _settled(self, keys: Whole, there: Whole, merged: Merged) -> tuple[Whole, Whole]:
        """Let panes become what their first part belongs to now.

        Give for each pane, by its number, the number of the one it became, and where the
        pane of each window stands.
        """
        panes, windows = self.panes, merged.windows
        mine, closed = panes_of(self, keys)
        numbers = panes[PANE].copy()
        into = np.full(len(panes), len(windows), dtype=np.int64)
        owner = self._parts[PANE][there]
        owned = owner != NO_PANE
        np.minimum.at(into, panes.find(owner[owned]), merged.into[owned])
        known = np.flatnonzero(mine & ~closed & (into < len(windows)))
        wanted = np.ones(len(windows), dtype=np.bool_)
        stands = settle(self, Claim(known, into[known], windows, wanted))
        # Looked up by number, and by NO_PANE at the very end.
        follows = np.full(int(numbers.max(initial=0)) + 2, NO_PANE, dtype=np.int64)
        follows[numbers] = numbers
        placed = stands[into[known]]
        follows[numbers[known[placed >= 0]]] = self.panes[PANE][placed[placed >= 0]]
        return follows, stands

    def _places(self, of: Whole, there: Whole, stands: Whole, heirs: Whole) -> Whole:
        """Where the pane of each row stands: of its part, or of the pane that had the part."""
        parts = self._parts
        gone = parts[END] <= self.shape.left(self.course.rows)
        place = np.where(gone, NOWHERE, WAITING)
        owned = heirs != NO_PANE
        place[owned] = self.panes.find(heirs[owned])
        place[there] = stands
        return place[of]

    def _moved(self, there: Whole, before: Whole, follows: Whole) -> Share | None:
        """Panes that have parts which were of others, and those others."""
        now, had = self._parts[PANE][there], before[there]
        other = (had != NO_PANE) & (now != NO_PANE) & (follows[had] != now)
        if not other.any():
            return None
        rows = np.maximum(self._parts[NET][there][other], 1)
        numbers = np.concatenate([now[other], follows[had[other]]])
        at = self.panes.find(numbers)
        return Share(at, np.concatenate([rows, np.ones_like(rows)]))

    def _forget(self, refused: Whole) -> None:
        """Forget parts of windows that refuse them.

        One that nothing is left of stays until its window leaves: what was taken back may
        not be what came, but what is still to come.
        """
        kept = np.ones(len(self._parts), dtype=np.bool_)
        kept[refused] = False
        self._parts.keep(kept)

    def _told_once(self) -> Mask:
        """Which parts nothing is left of, but that what left them is told with their pane."""
        nothing: Mask = self._parts[NET] == 0
        return nothing if self.shape.refinement.mode == "discarding" else nothing & False

    @override
    def join_accumulators(self, old: Whole, new: Whole) -> None:
        return

    @override
    def drop_accumulators(self, numbers: Whole) -> None:
        mine = np.isin(self._parts[PANE], numbers)
        self.store.drop(self._parts[PART][mine])
        self._parts.keep(~(mine & self._told_once()))

    @override
    def accumulators(self, numbers: Whole) -> Groups:
        mine = np.isin(self._parts[PANE], numbers)
        owner = pl.DataFrame({PART: self._parts[PART][mine], PANE: self._parts[PANE][mine]})
        by_part = self.store.found(owner[PART].to_numpy())
        fold, nothing = self.shape.fold, self.shape.no_groups
        return filled(fold, fold.merge([nothing, owned_by(by_part, owner)], [PANE]), numbers)

    @override
    def take(self, intake: Intake) -> None:
        super().take(intake)
        self._leave_empty()

    @override
    def advance(self, watermark: int) -> None:
        super().advance(watermark)
        self._leave_empty()
        waiting = (self._parts[PANE] == NO_PANE) & (self._parts[END] <= self.shape.left(watermark))
        self.store.drop(self._parts[PART][waiting])
        self._parts.keep(~waiting)

    def _leave_empty(self) -> None:
        """Let panes go that have no part left, once that has been told."""
        panes = self.panes
        finished: Mask = panes[FINISHED]
        empty = ~np.isin(panes[PANE], self._parts[PANE]) & (panes[NEW] == 0) & ~finished
        if empty.any():
            self._leave(empty)
        if self.shape.reopens and finished.any():
            done = np.isin(self._parts[PANE], self.panes[PANE][self.panes[FINISHED]])
            self._parts.keep(~done)

    @override
    def _leave(self, gone: Mask) -> None:
        numbers = self.panes[PANE][gone]
        super()._leave(gone)
        self._parts.keep(~np.isin(self._parts[PANE], numbers))

    @override
    def used_keys(self) -> Mask:
        used = super().used_keys()
        used[self._parts[KEY]] = True
        return used

    @override
    def number_keys(self, numbers: Whole) -> None:
        super().number_keys(numbers)
        self._parts.put(KEY, np.arange(len(self._parts)), numbers[self._parts[KEY]])

    @override
    def tables(self) -> dict[str, Frame]:
        tables = super().tables()
        return {**tables, _PARTS: self._parts.table} if len(self._parts) else tables


def owned_by(groups: Groups, owner: Frame) -> Groups:
    """Give accumulators of parts the numbers of their panes."""
    by_part = Groups(
        groups.columns.rename({PANE: PART}),
        {name: table.rename({PANE: PART}) for name, table in groups.sets.items()},
    )
    return renamed(by_part, owner, PART, PANE)
