"""Find the panes of keys and windows, and begin those that are not there yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import END, START, Whole
from penstock.kernel.pane import KEY, Panes

_ROOM = 2**20
"""A table of all keys by all windows may have this many places that are not used."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where rows belong: the number of the key and the bounds of the window, one each a row."""

    key: Whole
    start: Whole
    end: Whole

    def __len__(self) -> int:
        return len(self.key)

    def at(self, chosen: Whole) -> Spot:
        """Give some of them."""
        return Spot(self.key[chosen], self.start[chosen], self.end[chosen])


def together(spots: Sequence[Spot]) -> Spot:
    """Give spots one after the other."""
    return Spot(
        np.concatenate([spot.key for spot in spots]),
        np.concatenate([spot.start for spot in spots]),
        np.concatenate([spot.end for spot in spots]),
    )


def locate(panes: Panes, wanted: Spot, keys: int, watermark: int) -> Whole:
    """Give where the pane of each spot stands; there are so many `keys`."""
    if not len(wanted):
        return np.empty(0, dtype=np.int64)
    known, asked = _codes(panes, wanted, keys)
    most = int(max(known.max(initial=0), asked.max()))
    if most <= 8 * (len(known) + len(asked)) + _ROOM:
        return _by_table(panes, wanted, (known, asked, most), watermark)
    return _by_order(panes, wanted, (known, asked), watermark)


def _codes(panes: Panes, wanted: Spot, keys: int) -> tuple[Whole, Whole]:
    """Number all keys by all windows there are."""
    start = np.concatenate([panes[START], wanted.start])
    end = np.concatenate([panes[END], wanted.end])
    code = np.concatenate([panes[KEY], wanted.key]) + keys * _windows(start, end)
    return code[: len(panes)], code[len(panes) :]


def _windows(start: Whole, end: Whole) -> Whole:
    """Number the different windows."""
    length = end - start
    if length.min() == length.max():
        if start.min() == start.max():
            return np.zeros(len(start), dtype=np.int64)
        starts = pl.Series(start).unique().sort().to_numpy()
        return np.searchsorted(starts, start).astype(np.int64)
    bounds = pl.DataFrame({START: start, END: end})
    numbered = bounds.unique(maintain_order=True).with_row_index("_window")
    joined = bounds.join(numbered, on=[START, END], how="left", maintain_order="left")
    return joined["_window"].to_numpy().astype(np.int64)


def _by_table(panes: Panes, wanted: Spot, codes: tuple[Whole, Whole, int], watermark: int) -> Whole:
    known, asked, most = codes
    table = np.full(most + 1, -1, dtype=np.int64)
    table[known] = np.arange(len(known), dtype=np.int64)
    found = table[asked]
    missing = np.flatnonzero(found < 0)
    if not len(missing):
        return found
    # The first of several rows of a code is written last, stays, and begins the pane.
    table[asked[missing][::-1]] = missing[::-1]
    begin = missing[table[asked[missing]] == missing]
    table[asked[begin]] = _begin(panes, wanted.at(begin), watermark)
    return table[asked]


def _by_order(panes: Panes, wanted: Spot, codes: tuple[Whole, Whole], watermark: int) -> Whole:
    known, asked = codes
    order = np.argsort(known)
    places = np.searchsorted(known[order], asked)
    places[places == len(known)] = 0
    hit = (known[order][places] == asked) if len(known) else np.zeros(len(asked), dtype=np.bool_)
    found = np.where(hit, order[places] if len(known) else 0, -1).astype(np.int64)
    missing = np.flatnonzero(~hit)
    if len(missing):
        _, first, place = np.unique(asked[missing], return_index=True, return_inverse=True)
        # Panes begin in the order of their first rows.
        order = np.argsort(first)
        begun = np.empty(len(first), dtype=np.int64)
        begun[order] = _begin(panes, wanted.at(missing[first[order]]), watermark)
        found[missing] = begun[place]
    return found


def _begin(panes: Panes, spot: Spot, watermark: int) -> Whole:
    return panes.add(spot.key, spot.start, spot.end, watermark)
