"""Accumulators after each of several parts that came one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.fold.fold import Fold, Groups
from penstock.kernel.port import Frame

SEGMENT = "_segment"
_BY = (SEGMENT,)


@dataclass(frozen=True, slots=True)
class Runs:
    """Segments of panes: `turn` numbers those of one pane, `length` is how many it has.

    The segments of a pane have numbers that follow one another.
    """

    turn: Whole
    length: Whole


def running(fold: Fold, groups: Groups, runs: Runs) -> Iterator[Groups]:
    """Give for each segment the accumulators of it and all before it of its pane, in pieces."""
    most = int(runs.length.max(initial=0))
    if most <= 1:
        yield groups
    elif groups.sets:
        yield from _one_by_one(fold, groups, runs, most)
    else:
        yield _doubling(fold, groups, runs, most)


def _doubling(fold: Fold, groups: Groups, runs: Runs, most: int) -> Groups:
    """Add to each segment what is 1, 2, 4, ... before it: few rounds, however many segments."""
    distance = 1
    while distance < most:
        numbers = np.flatnonzero(runs.turn + distance < runs.length)
        moved = fold.select(groups, pl.DataFrame({SEGMENT: numbers}), _BY, keep=True)
        earlier = relabel(moved, pl.col(SEGMENT) + distance)
        groups = fold.merge([earlier, groups], _BY)
        distance *= 2
    return groups


def _one_by_one(fold: Fold, groups: Groups, runs: Runs, most: int) -> Iterator[Groups]:
    """Tables of values would be held once for each segment: go through them one by one."""
    before: Groups | None = None
    for turn in range(most):
        numbers = np.flatnonzero(runs.turn == turn)
        here = fold.select(groups, pl.DataFrame({SEGMENT: numbers}), _BY, keep=True)
        if before is not None:
            earlier = fold.select(before, pl.DataFrame({SEGMENT: numbers - 1}), _BY, keep=True)
            here = fold.merge([relabel(earlier, pl.col(SEGMENT) + 1), here], _BY)
        yield here
        before = here


def relabel(groups: Groups, number: pl.Expr) -> Groups:
    """Give segments other numbers."""
    return Groups(
        groups.columns.with_columns(number.alias(SEGMENT)),
        {name: table.with_columns(number.alias(SEGMENT)) for name, table in groups.sets.items()},
    )


def renamed(groups: Groups, mapping: Frame, old: str, new: str) -> Groups:
    """Give groups named by one column the names of another, where the mapping has them."""
    return Groups(
        _renamed(groups.columns, mapping, old, new),
        {name: _renamed(table, mapping, old, new) for name, table in groups.sets.items()},
    )


def _renamed(frame: Frame, mapping: Frame, old: str, new: str) -> Frame:
    return frame.join(mapping, on=old, how="inner", maintain_order="left").select(
        new, *(name for name in frame.columns if name != old)
    )
