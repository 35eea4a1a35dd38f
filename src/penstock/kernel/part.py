"""The pieces of windows that merge, where rows may be taken back or sessions cut anew.

A part is what one key has in the window of single rows, before it merged: with it a session
can come apart again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.kernel.assign import END, START, Whole
from penstock.kernel.locate import Spot, together
from penstock.kernel.pane import KEY, PANE
from penstock.kernel.port import Frame
from penstock.kernel.trigger.node import Mask

PART = "_part"
"""The number its accumulators have."""
NET = "_net"
"""Rows added less rows taken back; it counts for its session while there are any."""
_COLUMNS = (PART, KEY, START, END, PANE, NET)
NO_PANE = -1


class Parts:
    """The parts as a step changes them, in the order of their numbers."""

    def __init__(self, table: Frame | None) -> None:
        self._columns: dict[str, npt.NDArray[Any]] = {
            name: np.empty(0, dtype=np.int64) if table is None else table[name].to_numpy()
            for name in _COLUMNS
        }
        self._next = int(self._columns[PART].max(initial=-1)) + 1

    def __len__(self) -> int:
        return len(self._columns[PART])

    def __getitem__(self, name: str) -> Whole:
        return self._columns[name]

    @property
    def table(self) -> Frame:
        """The parts to be stored."""
        return pl.DataFrame(self._columns)

    def put(self, name: str, at: Whole | Mask, values: Whole | int) -> None:
        """Set values of a column at some parts."""
        changed = self._columns[name].copy()
        changed[at] = values
        self._columns[name] = changed

    def keep(self, kept: Mask) -> None:
        """Forget all other parts."""
        for name, values in self._columns.items():
            self._columns[name] = values[kept]

    def spots(self, at: Whole) -> Spot:
        """Give the keys and windows of parts."""
        return Spot(self[KEY][at], self[START][at], self[END][at])

    def take(self, new: Spot, weight: Whole) -> Whole:
        """Add rows to their parts, and give where these stand; new ones begin."""
        both = together([self.spots(np.arange(len(self))), new])
        whole = np.stack([both.key, both.start, both.end], axis=1)
        _, first, number = np.unique(whole, axis=0, return_index=True, return_inverse=True)
        place = first[number.reshape(-1)][len(self) :]
        begin = np.unique(place[place >= len(self)])
        at = np.where(place < len(self), place, len(self) + np.searchsorted(begin, place))
        self._add(both.at(begin))
        net = self[NET].copy()
        np.add.at(net, at, weight)
        self._columns[NET] = net
        return at

    def _add(self, new: Spot) -> None:
        count = len(new)
        added = {
            PART: np.arange(self._next, self._next + count, dtype=np.int64),
            KEY: new.key,
            START: new.start,
            END: new.end,
            PANE: np.full(count, NO_PANE, dtype=np.int64),
            NET: np.zeros(count, dtype=np.int64),
        }
        self._next += count
        for name, values in self._columns.items():
            self._columns[name] = np.concatenate([values, added[name]])
