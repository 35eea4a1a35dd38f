"""The panes of one bucket while a step is done: one row each, in columns of numbers.

A pane is what one key has in one window. Its number (`_pane`) names its accumulators and the
results given of it for as long as it lives; panes stand in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.kernel.assign import END, START, Whole
from penstock.kernel.port import Frame
from penstock.kernel.trigger.machine import Columns, Machine
from penstock.kernel.trigger.node import Mask

PANE = "_pane"
KEY = "_key"
INDEX = "_index"
"""The index of its next pane."""
SOLID = "_solid"
"""The index of its next pane that is not early."""
OVER = "_over"
"""Whether its on-time pane was given, or it was complete before it had rows."""
NEW = "_new"
"""Rows since it was last given out."""
EARLIEST = "_earliest"
LATEST = "_latest"
"""Times of its earliest and latest row since then, of those not behind the watermark."""
TOLD = "_told"
"""Whether a result was ever given."""
FINISHED = "_finished"
"""Whether its trigger is finished: rows that come for it are late."""

NO_EARLIEST = int(np.iinfo(np.int64).max)
NO_LATEST = int(np.iinfo(np.int64).min)

_COLUMNS: Mapping[str, Any] = {
    PANE: np.int64,
    KEY: np.int64,
    START: np.int64,
    END: np.int64,
    INDEX: np.int32,
    SOLID: np.int32,
    OVER: np.bool_,
    NEW: np.int64,
    TOLD: np.bool_,
    FINISHED: np.bool_,
}
_TIMES: Mapping[str, Any] = {EARLIEST: np.int64, LATEST: np.int64}


class Panes:
    """The panes as a step changes them; what they were made of is left as it was."""

    def __init__(self, machine: Machine, table: Frame | None, *, timed: bool) -> None:
        self._machine = machine
        self._timed = timed
        kinds = {**_COLUMNS, **(_TIMES if timed else {}), **machine.columns}
        self._columns: dict[str, npt.NDArray[Any]] = {
            name: np.empty(0, dtype=kind) if table is None else table[name].to_numpy()
            for name, kind in kinds.items()
        }
        last = -1 if table is None or not table.height else int(self._columns[PANE][-1])
        self._next = last + 1

    def __len__(self) -> int:
        return len(self._columns[PANE])

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name]

    @property
    def table(self) -> Frame:
        """The panes to be stored."""
        return pl.DataFrame(self._columns)

    def put(self, name: str, at: Whole | Mask, values: npt.NDArray[Any] | int | bool) -> None:  # noqa: FBT001
        """Set values of a column at some panes."""
        changed = self._columns[name].copy()
        changed[at] = values
        self._columns[name] = changed

    def trigger(self, at: Whole | None = None) -> Columns:
        """Give what the trigger remembers of some panes, or of all."""
        names = self._machine.columns
        return {n: self._columns[n] if at is None else self._columns[n][at] for n in names}

    def put_trigger(self, at: Whole, state: Columns) -> None:
        """Set what the trigger remembers of some panes."""
        for name in self._machine.columns:
            if len(at) == len(self):
                self._columns[name] = state[name]
            else:
                self.put(name, at, state[name])

    def add(self, key: Whole, start: Whole, end: Whole, watermark: int) -> Whole:
        """Begin new panes, and give where they stand."""
        count = len(key)
        first = len(self)
        new: dict[str, npt.NDArray[Any]] = {
            name: np.zeros(count, dtype=kind) for name, kind in _COLUMNS.items()
        }
        new |= {
            PANE: np.arange(self._next, self._next + count, dtype=np.int64),
            KEY: key,
            START: start,
            END: end,
            OVER: end <= watermark,
            **self._machine.start(count),
        }
        if self._timed:
            new |= {EARLIEST: np.full(count, NO_EARLIEST), LATEST: np.full(count, NO_LATEST)}
        self._next += count
        for name, values in self._columns.items():
            self._columns[name] = np.concatenate([values, new[name]]) if first else new[name]
        return np.arange(first, first + count, dtype=np.int64)

    def keep(self, kept: Mask) -> None:
        """Forget all other panes."""
        for name, values in self._columns.items():
            self._columns[name] = values[kept]

    def find(self, numbers: Whole) -> Whole:
        """Give where panes stand by their numbers."""
        return np.searchsorted(self._columns[PANE], numbers).astype(np.int64)
