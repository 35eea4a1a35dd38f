"""`python bench/nexmark/peers/bytewax.py` in a Python that has Bytewax: the queries of Nexmark."""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

# Else this file would be found in the place of the package that has its name.
sys.path[0] = str(Path(__file__).resolve().parents[3])

from bench.nexmark.peers.bytewax_flow import Flow, run  # noqa: E402  # as said
from bench.nexmark.peers.bytewax_operators import OPERATORS, as_table  # noqa: E402
from bench.nexmark.peers.bytewax_queries import QUERIES  # noqa: E402
from bench.nexmark.peers.bytewax_results import (  # noqa: E402
    JsonLines,
    ParquetFiles,
    rows_in,
    table_in,
)
from bench.nexmark.peers.kept_results import keep  # noqa: E402
from bench.nexmark.peers.lines import Outcome, RefusedError, Request, serve  # noqa: E402

_BY_HAND = "by-hand" in sys.argv[1:]
_ABOUT = {
    "engine": "bytewax",
    "version": version("bytewax"),
    "durability": (
        "recovery on: states and places of reading in SQLite at the end of each epoch of 10 s;"
        " results at least once"
    ),
    "durable": not _BY_HAND,
    "input": "Parquet by pyarrow, only the columns of the query, one Arrow table a file; 2 workers",
    "emission": (
        "changes once a table of input, windows 4 s after their end; each query a program of Arrow"
        " and numpy, written by hand, that takes from Bytewax batches and `stateful_batch`: not"
        " the engine's operators, so shown and not counted as a peer"
        if _BY_HAND
        else "row by row: Bytewax's own windows and `stateful_flat_map`; a window ends with a row"
        " of its key 4 s after it, or with the input"
    ),
    "results": (
        "Parquet files, not compressed: one a worker and batch of results"
        if _BY_HAND
        else "lines of JSON in a file a worker and start, by a `DynamicSink` and orjson"
    ),
}


def _run(request: Request) -> Outcome:
    queries = QUERIES if _BY_HAND else OPERATORS
    if request.query not in queries:
        message = f"{request.query} is not written for Bytewax"
        raise RefusedError(message)
    flow = Flow(request.events, request.batch)
    results = queries[request.query](flow)
    with tempfile.TemporaryDirectory(prefix="bytewax-results-") as name:
        folder = Path(name)
        outcome = run(flow, results, folder, ParquetFiles if _BY_HAND else JsonLines)
        if request.results is not None:
            table = table_in(folder) if _BY_HAND else as_table(request.query, rows_in(folder))
            keep(table, request.query, request.results)
    return outcome


if __name__ == "__main__":
    serve(_ABOUT, _run)
