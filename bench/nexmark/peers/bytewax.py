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

_BY_HAND = "by-hand" in sys.argv[1:]
_ABOUT = {
    "engine": "bytewax",
    "version": version("bytewax"),
    "durability": (
        "recovery on: states and places of reading in SQLite at the end of each epoch of 10 s;"
        " results at least once"
    ),
    "durable": False,
    "input": "Parquet by pyarrow, only the columns of the query, one Arrow table a file; 2 workers",
    "emission": (
        "changes once a table of input, windows 4 s after their end; each query a program of Arrow"
        " and numpy, written by hand, that takes from Bytewax batches and `stateful_batch`"
        if _BY_HAND
        else "row by row: Bytewax's own windows and `stateful_flat_map`"
    ),
    "results": "counted and forgotten",
}


def _run(request: Request) -> Outcome:
    queries = QUERIES if _BY_HAND else OPERATORS
    if request.query not in queries:
        message = f"{request.query} is not written for Bytewax"
        raise RefusedError(message)
    flow = Flow(request.events, request.batch)
    results = queries[request.query](flow)
    outcome, kept = run(flow, results, keep=request.results is not None)
    if request.results is not None:
        table = together(kept) if _BY_HAND else as_table(request.query, kept)
        keep(table, request.query, request.results)
    return outcome


if __name__ == "__main__":
    serve(_ABOUT, _run)
