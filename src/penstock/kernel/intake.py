"""What a batch brings to each pane: accumulators of its rows, and what the trigger asks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from penstock.kernel.assign import Whole
from penstock.kernel.fold.fold import Groups
from penstock.kernel.pane import EARLIEST, LATEST, NEW, NO_EARLIEST, NO_LATEST, Panes
from penstock.kernel.trigger.machine import Arrivals


@dataclass(frozen=True, slots=True)
class Share:
    """Rows of some panes: where these stand, and of the rows that came their number and times.

    `first` is the earliest time; `earliest` and `latest` are those of rows that were not
    behind the watermark. Times that nothing asks for are left out. `hits` counts the rows
    that meet each condition of the trigger.
    """

    at: Whole
    rows: Whole
    first: Whole | None = None
    earliest: Whole | None = None
    latest: Whole | None = None
    hits: Mapping[str, Whole] = field(default_factory=dict)


@dataclass(slots=True)
class Intake:
    """All that came in one round."""

    groups: list[Groups] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)

    def add(self, groups: Groups, share: Share) -> None:
        """Note rows, which came after those noted before."""
        if groups.columns.height:
            self.groups.append(groups)
        if len(share.at):
            self.shares.append(share)

    def touched(self) -> Whole:
        """Give where the panes stand that rows came for."""
        if len(self.shares) == 1:
            return np.unique(self.shares[0].at)
        return np.unique(np.concatenate([share.at for share in self.shares]))

    def arrivals(self, touched: Whole) -> Arrivals:
        """Give what the trigger asks, for the touched panes."""
        rows = np.zeros(len(touched), dtype=np.int64)
        first = np.full(len(touched), NO_EARLIEST, dtype=np.int64)
        for share in self.shares:
            place = np.searchsorted(touched, share.at)
            np.add.at(rows, place, share.rows)
            if share.first is not None:
                np.minimum.at(first, place, share.first)
        return Arrivals(rows, first, self._hits(touched))

    def _hits(self, touched: Whole) -> dict[str, Whole]:
        leaves = {leaf for share in self.shares for leaf in share.hits}
        hits = {leaf: np.zeros(len(touched), dtype=np.int64) for leaf in leaves}
        for share in self.shares:
            for leaf, counted in share.hits.items():
                np.add.at(hits[leaf], np.searchsorted(touched, share.at), counted)
        return hits

    def note(self, panes: Panes, touched: Whole, rows: Whole, *, timed: bool) -> None:
        """Let the panes know how many rows are new, and their times."""
        panes.put(NEW, touched, panes[NEW][touched] + rows)
        if timed:
            put_times(panes, self.shares)


def put_times(panes: Panes, shares: Sequence[Share]) -> None:
    """Widen the times of panes by those of new rows."""
    earliest, latest = panes[EARLIEST].copy(), panes[LATEST].copy()
    for share in shares:
        if share.earliest is not None:
            np.minimum.at(earliest, share.at, share.earliest)
        if share.latest is not None:
            np.maximum.at(latest, share.at, share.latest)
    everything = np.arange(len(panes))
    panes.put(EARLIEST, everything, earliest)
    panes.put(LATEST, everything, latest)


__all__ = ["NO_EARLIEST", "NO_LATEST", "Intake", "Share", "put_times"]
