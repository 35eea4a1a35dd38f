"""Finding the few values that spoil a reading of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from penstock.schema.codec.binary import Ints, Mask

Bulk: TypeAlias = Callable[[pa.Array], tuple[pa.Table, Mask]]
"""Reads many values and says which rows are better read one by one, or raises `ValueError`."""

_MANY = 32_768
_PARTS = 8
_FEW = 24


class Piece(NamedTuple):
    """Rows that were read in one go, and the places of their values; without rows, none was."""

    places: Ints
    rows: pa.Table | None


def pieces(values: pa.Array, places: Ints, bulk: Bulk) -> Iterator[Piece]:
    """Read values in pieces as large as can be read; what spoils them is left over.

    A piece that cannot be read is cut in eight, until it is small.
    """
    for at in range(0, len(places), _MANY):
        yield from _piece(values.slice(at, _MANY), places[at : at + _MANY], bulk)


def _piece(values: pa.Array, places: Ints, bulk: Bulk) -> Iterator[Piece]:
    try:
        rows, doubts = bulk(values)
    except (ValueError, OverflowError, RecursionError, pa.ArrowTypeError):
        if len(places) <= _FEW:
            yield Piece(places, None)
            return
        for cut in np.array_split(np.arange(len(places)), _PARTS):
            part = values.slice(int(cut[0]), len(cut))
            yield from _piece(part, places[cut], bulk)
        return
    if doubts.any():
        yield Piece(places[doubts], None)
        keep = ~doubts
        rows, places = rows.filter(pa.array(keep)), places[keep]
    yield Piece(places, rows)
