"""A function of the user that fails while a question is answered: there is nowhere to park its row.

So the question is not answered without the row, but refused with the line that failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import polars as pl

from penstock.errors import RunError
from penstock.kernel.parcel import Parcel

_MARK = "<function "
"""How the name of a function's text begins, in a traceback."""


def refuse_failed(parcels: Iterable[Parcel]) -> None:
    """Refuse where rows became dead letters because a function failed."""
    for parcel in parcels:
        if parcel.target.startswith("dead:") and not parcel.frame.is_empty():
            found = parcel.frame.filter(pl.col("traceback").str.contains(_MARK, literal=True))
            for letter in found.head(1).iter_rows(named=True):
                raise _failed(letter["traceback"])


@contextmanager
def functions_named() -> Iterator[None]:
    """Give the failure of a function inside of an expression its name and line."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        if _MARK not in str(error):
            raise
        raise _failed(str(error).split("\n\nThis error occurred", maxsplit=1)[0]) from error


def _failed(trace: str) -> RunError:
    lines = [line for line in trace.strip().splitlines() if line.strip()]
    place = next((line.strip() for line in reversed(lines) if _MARK in line), "")
    name = place.partition(_MARK)[2].split(" ", 1)[0]
    number = place.partition(", line ")[2].split(",", 1)[0]
    return RunError(
        "FUNCTION_FAILED",
        f"function {name} failed in line {number} of its text: {lines[-1]}",
        hint="Leave such rows out by WHERE; a query that runs on writes them to its dead letters.",
    )
