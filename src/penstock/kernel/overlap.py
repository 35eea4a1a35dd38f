"""Windows that overlap and share their slices: each is added up once, when it is complete.

Where nothing is given out before a window's end and nothing kept after it, the panes of the
state are slices, and a row changes one of them instead of one a window.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from typing_extensions import override

from penstock.kernel.assign import END, START, Whole, spread
from penstock.kernel.emit import Emitter, Events
from penstock.kernel.intake import Intake
from penstock.kernel.locate import Spot
from penstock.kernel.pane import KEY, PANE, Panes
from penstock.kernel.port import START_OF_TIME, Frame
from penstock.kernel.shape import Course, Shape
from penstock.kernel.slice import Slices, grid
from penstock.kernel.work import Work
from penstock.model.window import Hopping

_FEW = 64
"""Up to so many windows are looked for one by one."""


class OverlapWork(Work):
    """A step over slices that hopping windows share. A slice leaves with its last window."""

    def __init__(self, shape: Shape, tables: Mapping[str, Frame], course: Course) -> None:
        super().__init__(shape, tables, course)
        assert isinstance(shape.window, Hopping)
        self._size, self._slide, self._offset = grid(shape.window)
        self._given_up_to = course.reached

    @override
    def windows_of(self, slices: Frame, keys: Whole) -> tuple[Whole, Spot]:
        start = slices[START].to_numpy()
        last_end = self._last_start(start) + self._size
        self._count_lost(slices, start, last_end)
        return np.arange(slices.height), Spot(keys, start, last_end)

    def _count_lost(self, slices: Frame, start: Whole, last_end: Whole) -> None:
        """Count the windows that rows would have belonged to, had they not been given out."""
        watermark = self.course.rows
        behind = np.flatnonzero((start < watermark) & (last_end > watermark))
        if len(behind):
            last = self._last_start(start[behind])
            row, starts = spread(last, self._size, self._slide, start[behind])
            gone = starts + self._size <= watermark
            came = Slices(slices, {}).came[behind]
            self.aside.dropped_pairs += int(came[row[gone]].sum())

    @override
    def take(self, intake: Intake) -> None:
        if intake.shares:
            self.store.add(intake.groups)

    @override
    def advance(self, watermark: int) -> None:
        left = self.shape.left(watermark)
        if len(self.panes) and left > self._given_up_to:
            windows = self._complete(left)
            if windows:
                self._give(windows, watermark)
            self._leave(self.panes[END] <= left)
        self._given_up_to = max(self._given_up_to, left)

    @override
    def wake_at(self) -> int | None:
        if not self.shape.by_clock or not len(self.panes):
            return None
        slices = self.panes[START]
        row, start = spread(self._last_start(slices), self._size, self._slide, slices)
        ends = (start + self._size)[start + self._size > self.course.clock]
        return int(ends.min()) if len(row) and len(ends) else None

    def _last_start(self, time: Whole) -> Whole:
        return time - (time - self._offset) % self._slide

    def _complete(self, left: int) -> list[tuple[int, Whole]]:
        """Give the starts of the windows that are complete now, and where their slices stand."""
        start = self.panes[START]
        after = max(self._given_up_to, int(start.min()))
        first_end = after + self._slide - (after - self._offset - self._size) % self._slide
        last_end = min(left, int(self.panes[END].max()))
        if (last_end - first_end) // self._slide < _FEW:
            ends = range(first_end, last_end + 1, self._slide)
            found = ((e - self._size, (start >= e - self._size) & (start < e)) for e in ends)
            return [(begin, np.flatnonzero(held)) for begin, held in found if held.any()]
        at, starts = spread(self._last_start(start), self._size, self._slide, start)
        due = (starts + self._size > self._given_up_to) & (starts + self._size <= left)
        at, starts = at[due], starts[due]
        order = np.argsort(starts, kind="stable")
        begins, first = np.unique(starts[order], return_index=True)
        return list(zip(begins.tolist(), np.split(at[order], first[1:]), strict=True))

    def _give(self, windows: list[tuple[int, Whole]], watermark: int) -> None:
        # The windows are panes for as long as it takes to give them out.
        given = Panes(self.shape.machine, None, timed=False)
        parts = []
        for begin, at in windows:
            key = self.panes[KEY][at]
            present = np.zeros(len(self.keys), dtype=np.bool_)
            present[key] = True
            keys = np.flatnonzero(present)
            start = np.full(len(keys), begin, dtype=np.int64)
            place = given.add(keys, start, start + self._size, START_OF_TIME)
            number = np.full(len(self.panes), -1, dtype=np.int64)
            number[at] = given[PANE][place[np.cumsum(present) - 1]][key]
            parts.append(self.store.renamed(self.panes, number))
        fold = self.shape.fold
        merged = fold.merge([self.shape.no_groups, *parts], [PANE])
        numbers = pl.DataFrame({PANE: given[PANE]})
        results = numbers.join(
            fold.result(merged, [PANE]), on=PANE, how="left", maintain_order="left"
        )
        everything = np.arange(len(given))
        events = Events(everything, everything * 0, np.ones(len(given), dtype=np.bool_))
        emitter = Emitter(self.shape, given, self.keys, None)
        emitter.emit(events, results, watermark)
        self.emitter.output += emitter.output
