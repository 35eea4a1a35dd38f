"""`python bench/nexmark/peers/bytewax.py` in a Python that has Bytewax: the queries of Nexmark."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

# Else this file would be found in the place of the package that has its name.
sys.path[0] = str(Path(__file__).resolve().parents[3])

from bench.nexmark.peers.bytewax_flow import Flow, run  # noqa: E402  # as said
from bench.nexmark.peers.bytewax_operators import OPERATORS, as_table  # noqa: E402
from bench.nexmark.peers.bytewax_queries import QUERIES  # noqa: E402
from bench.nexmark.peers.bytewax_tables import together  # noqa: E402
from bench.nexmark.peers.kept_results import keep  # noqa: E402
from bench.nexmark.peers.lines import Outcome, RefusedError, Request, serve  # noqa: E402

_ABOUT = {
    "engine": "bytewax",
    "version": version("bytewax"),
    "durability": (
        "recovery on: states and places of reading in SQLite at the end of each epoch of 10 s;"
        " results at least once"
    ),
    "input": "Parquet by pyarrow, only the columns of the query, one Arrow table a file; 2 workers",
    "emission": (
        "changes once a table of input, windows 4 s after their end; steps of Arrow and numpy"
        " written by hand for each query, state by `stateful_batch` (form `operators`: Bytewax's"
        " own windows and `stateful_flat_map`, row by row); results counted and forgotten"
    ),
}


def _run(request: Request) -> Outcome:
    by_rows = request.form == "operators"
    queries = OPERATORS if by_rows else QUERIES
    if request.query not in queries:
        message = f"{request.query} is not written for Bytewax"
        raise RefusedError(message)
    flow = Flow(request.events, request.batch)
    results = queries[request.query](flow)
    outcome, kept = run(flow, results, keep=request.results is not None)
    if request.results is not None:
        table = as_table(request.query, kept) if by_rows else together(kept)
        keep(table, request.query, request.results)
    return outcome


if __name__ == "__main__":
    serve(_ABOUT, _run)
