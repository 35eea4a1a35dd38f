"""A state cut by keys: what some of them have, as a state of its own, and put together again.

It holds for the tables of an aggregate: the rows of `keys` are numbered, `panes` have the number
of their key, and all other tables that of their pane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.bucket import Hashes, hash_of
from penstock.kernel.fold.grouping import join
from penstock.kernel.pane import KEY, PANE
from penstock.kernel.port import Frame

KEYS, PANES = "keys", "panes"
_ROW = "_row"

Tables: TypeAlias = Mapping[str, Frame]
Places: TypeAlias = npt.NDArray[np.uint32]


class Divided:
    """The tables of a state, in which the rows of a few keys are found without the others.

    What is needed to find them is made when it is first asked for.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._size = tables[KEYS].height
        self._sorted: dict[str, _Sorted] = {}
        self._hashes: tuple[Hashes, Places] | None = None

    def __len__(self) -> int:
        return self._size

    @property
    def keys(self) -> Frame:
        """The keys, in the order of their numbers."""
        return self.tables[KEYS]

    @property
    def hashes(self) -> tuple[Hashes, Places]:
        """The hashes of all keys in ascending order, and the number of the key of each."""
        if self._hashes is None:
            found = hash_of(self.keys, self.keys.columns)
            order = np.argsort(found, kind="stable").astype(np.uint32)
            self._hashes = found[order], order
        return self._hashes

    def of(self, numbers: Whole) -> dict[str, Frame]:
        """Give the tables that these keys, which are in ascending order, have by themselves."""
        at, key = self._rows(PANES, KEY, numbers)
        order = np.argsort(at, kind="stable")
        panes = _picked(self.tables[PANES], at[order])
        pane = panes[PANE].to_numpy()
        part = {PANES: _with(panes, {KEY: key[order], PANE: np.arange(len(pane))})}
        for name, table in self.tables.items():
            if name not in (KEYS, PANES):
                at, owner = self._rows(name, PANE, pane)
                part[name] = _with(_picked(table, at), {PANE: owner})
        part[KEYS] = _picked(self.keys, numbers)
        return part

    def last(self) -> dict[str, Frame]:
        """Give the tables of all keys, where only the last of several that are alike counts."""
        numbered = self.keys.with_row_index(_ROW)
        chosen = numbered.unique(self.keys.columns, keep="last")[_ROW].sort()
        return self.of(chosen.to_numpy().astype(np.int64))

    def without(self, keys: Frame) -> dict[str, Frame]:
        """Give the tables of all but these keys."""
        numbered = self.keys.with_row_index(_ROW)
        rest = join(numbered, keys, keys.columns, "anti")[_ROW]
        return self.of(rest.to_numpy().astype(np.int64))

    def _rows(self, name: str, column: str, wanted: Whole) -> tuple[Whole, Whole]:
        """Give the rows of a table with these values, and which of them each has."""
        if name not in self._sorted:
            self._sorted[name] = _Sorted(self.tables[name][column].to_numpy())
        return self._sorted[name].find(wanted)


class _Sorted:
    """A column of numbers in ascending order, and where each of them stands."""

    def __init__(self, values: Whole) -> None:
        self._order: Places | None = None
        if (values[1:] < values[:-1]).any():
            self._order = np.argsort(values, kind="stable").astype(np.uint32)
            values = values[self._order]
        self._values = values

    def find(self, wanted: Whole) -> tuple[Whole, Whole]:
        first = np.searchsorted(self._values, wanted, "left")
        count = np.searchsorted(self._values, wanted, "right") - first
        which = np.repeat(np.arange(len(wanted)), count)
        within = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
        places = first[which] + within
        return places if self._order is None else self._order[places].astype(np.int64), which


def united(parts: Sequence[Tables]) -> Tables:
    """Put together tables that have no key in common."""
    filled = [part for part in parts if part and part[KEYS].height]
    if len(filled) <= 1:
        return filled[0] if filled else parts[0]
    keys = panes = 0
    moved: list[Tables] = []
    for part in filled:
        moved.append({name: _moved(table, keys, panes) for name, table in part.items()})
        keys += part[KEYS].height
        own = part[PANES][PANE]
        panes += 1 + (int(own[-1]) if len(own) else 0)
    return {name: pl.concat([part[name] for part in moved], rechunk=True) for name in moved[0]}


def latest(parts: Sequence[Divided]) -> Tables:
    """Put together parts of which a later one says what its keys have now."""
    last = parts[-1].tables
    for earlier in reversed(parts[:-1]):
        last = united([earlier.without(last[KEYS]), last])
    return last


def _picked(table: Frame, places: npt.NDArray[np.int64]) -> Frame:
    return table[pl.Series(places, dtype=pl.UInt32)]


def _with(table: Frame, columns: Mapping[str, Whole]) -> Frame:
    """Put columns in the place of others; the table is one that nobody else has."""
    for name, values in columns.items():
        table.replace_column(table.columns.index(name), pl.Series(name, values, dtype=pl.Int64))
    return table


def _moved(table: Frame, keys: int, panes: int) -> Frame:
    steps = {KEY: keys, PANE: panes}
    moved = {
        name: table[name].to_numpy() + step
        for name, step in steps.items()
        if step and name in table.columns
    }
    return _with(table.clone(), moved) if moved else table
