"""Results as they are checked: the last row of each key, times as times; no part of a measure."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

KEYS = {
    "q4": ["id"],
    "q6": ["seller"],
    "q9": ["id"],
    "q15": ["day"],
    "q16": ["channel", "day"],
    "q17": ["auction", "day"],
    "q18": ["bidder", "auction"],
    "q19": ["auction", "rank_number"],
}
"""Of the results that change: what tells which row takes the place of which."""
_TIMES = {"stime", "starttime", "endtime", "expires"}


def keep(rows: pa.Table, query: str, results: Path) -> None:
    """Write the rows of a query, of which later ones take the place of earlier ones."""
    keys = KEYS.get(query)
    if keys:
        placed = rows.append_column("place", pa.array(range(rows.num_rows), pa.int64()))
        last = placed.group_by(keys).aggregate([("place", "max")])
        rows = rows.take(last["place_max"])
    for place, name in enumerate(rows.column_names):
        if (name in _TIMES or name.endswith("date_time")) and pa.types.is_integer(rows[name].type):
            rows = rows.set_column(place, name, rows[name].cast(pa.timestamp("ms", "UTC")))
    results.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, results / f"{query}.parquet")
