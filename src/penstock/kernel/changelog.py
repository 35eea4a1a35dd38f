"""A changelog added up: the table that its changes leave behind."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.errors import StateError
from penstock.kernel.port import WEIGHT, Frame

_TIMES = "_times"


def fold_changelog(changes: Frame, columns: Sequence[str]) -> Frame:
    """Give the rows left when all weights are added, each as often as it is there.

    Rows stand in the order in which they first appeared.
    """
    net = (
        changes.group_by(columns, maintain_order=True)
        .agg(pl.col(WEIGHT).cast(pl.Int64).sum().alias(_TIMES))
        .filter(pl.col(_TIMES) != 0)
    )
    if bool((net[_TIMES] < 0).any()):
        taken = net.filter(pl.col(_TIMES) < 0).drop(_TIMES).row(0, named=True)
        raise StateError(
            "CHANGELOG_NEGATIVE",
            f"a row was taken back more often than it was added: {taken}",
            hint="This is a defect of Penstock, or the changelog was not read from its beginning.",
        )
    rows = pl.Series([], dtype=pl.UInt32)
    if net.height:
        rows = pl.int_range(0, net.height, dtype=pl.UInt32, eager=True)
        rows = rows.repeat_by(net[_TIMES].cast(pl.UInt32)).explode()
    return net.drop(_TIMES)[rows].select(columns)


def latest_by(changes: Frame, keys: Sequence[str], columns: Sequence[str]) -> Frame:
    """Give the last row of each key: the table that results without retractions leave behind."""
    return changes.select(columns).unique(subset=list(keys), keep="last", maintain_order=True)
