"""Counts of whole numbers by group that grow: what is there stays where it stands.

Rows stand in runs, each in ascending order of group and number, so that what comes is found in
them without a look at all the others. Few new rows are a run of their own at the end, so that
little of a table changes; many are put between those that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.fold.accumulator import COUNT
from penstock.kernel.fold.grouping import Numbers, as_numbers, as_was
from penstock.kernel.port import Frame

# To look into more runs takes longer than to put their rows in order.
_MOST_RUNS = 8
# Beyond this share of new rows most of a table is written anew in any case.
_FEW = 8
_CODES = 2**62


def grown(held: Frame, come: Frame, names: tuple[str, str]) -> Frame | None:
    """Add counts to those of equal groups and numbers; none where one number cannot hold both.

    What comes has each group and number once.
    """
    if not held.height or not come.height:
        return held if held.height else come
    codes = _codes(held, come, names)
    if codes is None:
        return None
    known, asked = codes
    runs = _runs(known)
    if len(runs) > _MOST_RUNS:
        order = np.argsort(known, kind="stable")
        held, known = held[pl.Series(order, dtype=pl.UInt32)], known[order]
        runs = [slice(0, len(known))]
    if (asked[1:] < asked[:-1]).any():
        order = np.argsort(asked)
        come, asked = come[pl.Series(order, dtype=pl.UInt32)], asked[order]
    return _added(held, come, _found(known, asked, runs))


@dataclass(frozen=True, slots=True)
class _Found:
    """Where rows that come are held, -1 where they are not; and where they would stand."""

    place: Numbers
    before: Numbers | None


def _codes(held: Frame, come: Frame, names: tuple[str, str]) -> tuple[Numbers, Numbers] | None:
    """Give groups and numbers as one number each, in the order of both."""
    group, number = names
    values = [as_numbers(frame[number]) for frame in (held, come)]
    groups = [as_numbers(frame[group]) for frame in (held, come)]
    least = min(int(part.min()) for part in values)
    span = max(int(part.max()) for part in values) - least + 1
    most = max(max(int(part.max()), -int(part.min())) for part in groups) + 1
    if span * most >= _CODES:
        return None
    one, other = (g * span + (v - least) for g, v in zip(groups, values, strict=True))
    return one, other


def _runs(codes: Numbers) -> list[slice]:
    """Give the pieces that are in ascending order."""
    ends = [*(np.flatnonzero(codes[1:] < codes[:-1]) + 1).tolist(), len(codes)]
    return [slice(*bounds) for bounds in zip([0, *ends[:-1]], ends, strict=True)]


def _found(known: Numbers, asked: Numbers, runs: Sequence[slice]) -> _Found:
    place = np.full(len(asked), -1, dtype=np.int64)
    before: Numbers | None = None
    for run in runs:
        part = known[run]
        before = np.searchsorted(part, asked)
        near = np.minimum(before, len(part) - 1)
        hit = part[near] == asked
        place[hit] = near[hit] + run.start
    return _Found(place, before if len(runs) == 1 else None)


def _added(held: Frame, come: Frame, found: _Found) -> Frame:
    hit = found.place >= 0
    counts, more = held[COUNT].to_numpy().copy(), come[COUNT].to_numpy()
    counts[found.place[hit]] += more[hit]
    new = np.flatnonzero(~hit)
    columns = {name: as_numbers(held[name]) for name in held.columns} | {COUNT: counts}
    if len(new):
        between = found.before is not None and len(new) * _FEW >= held.height
        place = found.before[new] if between and found.before is not None else held.height
        columns = _inserted(columns, {name: as_numbers(come[name])[new] for name in columns}, place)
    return pl.DataFrame(
        [as_was(pl.Series(name, columns[name]), held.schema[name]) for name in held.columns]
    )


def _inserted(
    held: dict[str, Numbers], new: dict[str, Numbers], places: Numbers | int
) -> dict[str, Numbers]:
    """Put rows before those at the places, which are in ascending order."""
    count = len(new[COUNT])
    if isinstance(places, int):
        return {name: np.concatenate([held[name], new[name]]) for name in held}
    at = places + np.arange(count)
    old = np.ones(len(held[COUNT]) + count, dtype=np.bool_)
    old[at] = False
    whole = {}
    for name, values in held.items():
        whole[name] = np.empty(len(old), dtype=np.int64)
        whole[name][at] = new[name]
        whole[name][old] = values
    return whole
