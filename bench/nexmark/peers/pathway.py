"""`python bench/nexmark/peers/pathway.py` in a Python that has Pathway: the queries of Nexmark."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Else this file would be found in the place of the package that has its name.
sys.path[0] = str(Path(__file__).resolve().parents[3])
os.environ["PATHWAY_THREADS"] = "2"

import pathway as pw  # type: ignore[import-not-found]  # noqa: E402  # of another Python
import pyarrow as pa  # noqa: E402
from pathway.internals.parse_graph import G  # type: ignore[import-not-found]  # noqa: E402

from bench.nexmark.peers.kept_results import keep  # noqa: E402
from bench.nexmark.peers.lines import Outcome, RefusedError, Request, serve  # noqa: E402
from bench.nexmark.peers.pathway_files import csv_of  # noqa: E402
from bench.nexmark.peers.pathway_queries import QUERIES  # noqa: E402

_ABOUT = {
    "engine": "pathway",
    "version": version("pathway"),
    "durability": (
        "at least once: all input is written to a journal of its own, and states are made anew"
        " from it after a kill; states themselves are kept by the licensed version only"
    ),
    "durable": True,
    "input": (
        "CSV made of the same Parquet beforehand, times as numbers, only the columns of the query:"
        " the reader of Parquet (Delta Lake) needs a licence; 2 threads"
    ),
    "emission": "at rest: all input in one commit, results once at the end",
    # Results that the journal knows as written are not written again, but a start empties its file.
    "results": "lines of JSON by `pw.io.jsonlines.write`, in a file of its own for each start",
}
_RESULTS = "results.jsonl"
_NUMBERS = {
    *("auction", "bidder", "price", "date_time", "person_id", "auction_id", "initial_bid"),
    *("reserve", "expires", "seller", "category", "key"),
}


def _run(request: Request) -> Outcome:
    if request.query not in QUERIES:
        message = f"{request.query} is not written for Pathway"
        raise RefusedError(message)
    query = QUERIES[request.query]
    folders = {kind: csv_of(request.events, kind) for kind in ("person", "auction", "bid", "side")}
    with tempfile.TemporaryDirectory(prefix="pathway-") as store:
        outcome = Outcome()
        # What was asked for before is still in Pathway's one graph.
        G.clear()

        def read(kind: str, columns: str) -> Any:  # noqa: ANN401  # of another Python
            types = {name: int if name in _NUMBERS else str for name in columns.split()}
            schema = pw.schema_from_types(**types)
            return pw.io.csv.read(folders[kind], schema=schema, mode="static", name=kind)

        pw.io.jsonlines.write(query.build(read), Path(store) / _RESULTS)
        backend = pw.persistence.Backend.filesystem(Path(store) / "journal")
        pw.run(
            monitoring_level=pw.MonitoringLevel.NONE,
            persistence_config=pw.persistence.Config(backend, snapshot_interval_ms=10_000),
        )
        outcome.ended()
        if request.results is not None:
            rows = _last(Path(store) / _RESULTS, dict(query.names))
            outcome.rows = rows.num_rows
            keep(rows, request.query, request.results)
    return outcome


def _last(path: Path, names: dict[str, str]) -> pa.Table:
    """Give the rows that are there at last, of a file of rows that came and rows that went."""
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            del row["time"]
            diff = row.pop("diff")
            counts[json.dumps(row)] += diff
    rows = pa.Table.from_pylist([json.loads(row) for row in counts.elements()])
    return rows.rename_columns([names.get(name, name) for name in rows.column_names])


if __name__ == "__main__":
    serve(_ABOUT, _run)
