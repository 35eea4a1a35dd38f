"""`python bench/nexmark/peers/pathway.py` in a Python that has Pathway: the queries of Nexmark."""

from __future__ import annotations

import os
import sys
import tempfile
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
from bench.nexmark.peers.pathway_queries import QUERIES, REFUSED  # noqa: E402

_ABOUT = {
    "engine": "pathway",
    "version": version("pathway"),
    "durability": (
        "all input is written to a journal of its own, and states are made anew from it after a"
        " failure; states themselves are kept by the licensed version only"
    ),
    "durable": False,
    "input": (
        "CSV made of the same Parquet beforehand, times as numbers, only the columns of the query:"
        " the reader of Parquet (Delta Lake) needs a licence; 2 threads"
    ),
    "emission": "at rest: all input in one commit, results once at the end",
    "results": "counted by nobody and forgotten",
}
_NUMBERS = {
    *("auction", "bidder", "price", "date_time", "person_id", "auction_id", "initial_bid"),
    *("reserve", "expires", "seller", "category", "key"),
}


def _run(request: Request) -> Outcome:
    if request.query not in QUERIES:
        raise RefusedError(
            REFUSED.get(request.query, f"{request.query} is not written for Pathway")
        )
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

        found = query.build(read)
        kept: dict[object, dict[str, Any]] = {}
        if request.results is None:
            pw.io.null.write(found)
        else:
            pw.io.subscribe(found, on_change=_keeping(kept))
        backend = pw.persistence.Backend.filesystem(store)
        pw.run(
            monitoring_level=pw.MonitoringLevel.NONE,
            persistence_config=pw.persistence.Config(backend, snapshot_interval_ms=10_000),
        )
        outcome.ended()
    if request.results is not None:
        outcome.rows = len(kept)
        names = dict(query.names)
        rows = pa.Table.from_pylist(list(kept.values()))
        keep(
            rows.rename_columns([names.get(n, n) for n in rows.column_names]),
            request.query,
            request.results,
        )
    return outcome


def _keeping(kept: dict[object, dict[str, Any]]) -> Any:  # noqa: ANN401  # of another Python
    """Give what keeps the rows that are there at last."""

    def on_change(key: object, row: dict[str, Any], time: int, is_addition: bool) -> None:  # noqa: ARG001, FBT001  # as Pathway calls it
        if is_addition:
            kept[key] = row
        elif kept.get(key) == row:
            del kept[key]

    return on_change


if __name__ == "__main__":
    serve(_ABOUT, _run)
