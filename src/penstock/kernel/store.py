"""The accumulators of live panes, by the number of the pane."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.fold.accumulator import ROWS
from penstock.kernel.fold.fold import Fold, Groups
from penstock.kernel.pane import PANE, Panes
from penstock.kernel.port import Frame

_BY = (PANE,)


class Store:
    """Accumulators as a step changes them."""

    def __init__(self, fold: Fold, tables: Mapping[str, Frame]) -> None:
        self._fold = fold
        self._groups = fold.groups(tables) if tables else fold.empty({PANE: pl.Int64()})
        self._looked_up: dict[int, tuple[Frame, Whole, Whole]] = {}

    @property
    def tables(self) -> dict[str, Frame]:
        """The accumulators to be stored."""
        return self._fold.tables(self._groups)

    def add(self, parts: Sequence[Groups]) -> None:
        """Take parts in the order of their arrival, which is after all that is here."""
        if not parts:
            return
        parts = [self._fold.after(part, self._groups) for part in parts]
        grown = self._fold.grown(self._groups, parts, PANE)
        names = list(self._groups.sets)
        self._groups = self._groups.without(grown)
        self._add([part.without(grown) for part in parts])
        if grown:
            sets = {**self._groups.sets, **grown}
            self._groups = Groups(self._groups.columns, {name: sets[name] for name in names})

    def _add(self, parts: Sequence[Groups]) -> None:
        numbers = [part.columns[PANE].to_numpy() for part in parts]
        touched = np.unique(np.concatenate(numbers))
        known = self._pick(touched, keep=True)
        rest = self._pick(touched, keep=False)
        alone = len(parts) == 1 and not known.columns.height
        if alone and parts[0].columns.height == len(touched):
            self._groups = self._union([rest, parts[0]])
        else:
            self._groups = self._union([rest, self._fold.merge([known, *parts], _BY)])

    def merge(self, old: Whole, new: Whole) -> None:
        """Let panes become part of others: the numbers they had, and those they get."""
        known = self._pick(old, keep=True)
        rest = self._pick(old, keep=False)
        mapping = pl.DataFrame({PANE: old, f"_new_{PANE}": new})
        self._groups = self._union([rest, self._fold.regroup(known, mapping, _BY)])

    def take_out(self, numbers: Whole) -> Groups:
        """Give the accumulators of those panes that have any, and forget them."""
        found = self._pick(numbers, keep=True)
        self._groups = self._pick(numbers, keep=False)
        return found

    def put(self, groups: Groups) -> None:
        """Take accumulators of panes that have none."""
        self._groups = self._union([self._groups, groups])

    def drop(self, numbers: Whole) -> None:
        """Forget what panes have added up."""
        if len(numbers):
            self._groups = self._pick(numbers, keep=False)

    def get(self, numbers: Whole) -> Groups:
        """Give the accumulators of panes; those of a pane without rows are the identities."""
        found = self._pick(numbers, keep=True, whole=self._fold.looked_up)
        return filled(self._fold, found, numbers)

    def found(self, numbers: Whole) -> Groups:
        """Give the accumulators of those panes that have any."""
        return self._pick(numbers, keep=True)

    def renamed(self, panes: Panes, number: Whole) -> Groups:
        """Give the accumulators of panes under other numbers, one for each place; -1 is none."""

        def named(frame: Frame) -> Frame:
            new = number[self._places(panes, frame)]
            chosen = np.flatnonzero(new >= 0)
            taken = frame[pl.Series(chosen, dtype=pl.UInt32)]
            return taken.with_columns(pl.Series(PANE, new[chosen]))

        groups = self._groups
        return Groups(named(groups.columns), {n: named(t) for n, t in groups.sets.items()})

    def _places(self, panes: Panes, frame: Frame) -> Whole:
        """Give where the panes of rows stand, which is looked up once for as long as they do."""
        known = self._looked_up.get(id(frame))
        if known is None or known[0] is not frame or known[1] is not panes[PANE]:
            known = frame, panes[PANE], panes.find(frame[PANE].to_numpy())
            self._looked_up[id(frame)] = known
        return known[2]

    def _pick(self, numbers: Whole, *, keep: bool, whole: Collection[str] = ()) -> Groups:
        """Give what these panes have, or all others; some tables as a whole."""
        held = self._groups.columns.height
        if not held or not len(numbers):
            return self._groups if not keep else _cleared(self._groups)
        groups = self._groups
        return Groups(
            _picked(groups.columns, numbers, keep=keep),
            {
                name: table if name in whole else _picked(table, numbers, keep=keep)
                for name, table in groups.sets.items()
            },
        )

    def _union(self, parts: Sequence[Groups]) -> Groups:
        filled = [part for part in parts if part.columns.height]
        if len(filled) == 1:
            return filled[0]
        return self._fold.union(filled) if filled else parts[0]


def _picked(table: Frame, numbers: Whole, *, keep: bool) -> Frame:
    """Keep the rows of these panes only, or all but those."""
    chosen = np.isin(table[PANE].to_numpy(), numbers, invert=not keep)
    return table if chosen.all() else table[pl.Series(np.flatnonzero(chosen), dtype=pl.UInt32)]


def _cleared(groups: Groups) -> Groups:
    return Groups(
        groups.columns.clear(), {name: table.clear() for name, table in groups.sets.items()}
    )


def filled(fold: Fold, found: Groups, numbers: Whole) -> Groups:
    """Add the identities of the groups that are not found."""
    if found.columns.height == len(numbers):
        return found
    missing = np.setdiff1d(numbers, found.columns[PANE].to_numpy())
    schema = found.columns.schema
    nothing = pl.DataFrame({PANE: missing, ROWS: np.zeros(len(missing), dtype=np.int64)})
    columns = nothing.with_columns(
        pl.lit(None, dtype).alias(name)
        for name, dtype in schema.items()
        if name not in (PANE, ROWS)
    ).select(schema.names())
    sets = {name: table.clear() for name, table in found.sets.items()}
    return fold.merge([found, Groups(columns, sets)], _BY)
