"""Numbers the matches of each key, over all batches."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.fold.grouping import join
from penstock.kernel.match_condition import GROUP
from penstock.kernel.match_order import Ordered
from penstock.kernel.match_rows import MATCH, NUMBER, ROW
from penstock.kernel.port import Frame

_ALL = "_all"


def numbered_matches(
    matched: Frame, rows: Ordered, counted: Frame, keys: Sequence[str]
) -> tuple[Frame, Frame]:
    """Give the rows of matches with the number of each, and how many each key has had by now."""
    groups = rows.rows[GROUP].gather(matched[ROW]).alias(GROUP)
    firsts = matched.with_columns(groups).unique(MATCH, keep="first", maintain_order=True)
    of_key = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(GROUP)
    named = (rows.rows[key].gather(firsts[ROW]) for key in keys)
    found = pl.DataFrame([*named, *firsts.select(MATCH, of_key.alias(_ALL))])
    if keys:
        known = join(found, counted, keys, "left")[NUMBER].fill_null(0)
    else:
        before = counted[NUMBER].sum() if counted.height else 0
        known = pl.repeat(before, found.height, dtype=pl.Int64, eager=True)
    found = found.with_columns((pl.col(_ALL) + known).alias(NUMBER)).drop(_ALL)
    numbers = matched.join(found.select(MATCH, NUMBER), on=MATCH, how="left", maintain_order="left")
    latest = found.select(*keys, NUMBER)
    everything = pl.concat([counted, latest.select(counted.columns)])
    total = (
        everything.group_by(keys, maintain_order=True).agg(pl.col(NUMBER).max())
        if keys
        else everything.select(pl.col(NUMBER).max())
    )
    return numbers, total
