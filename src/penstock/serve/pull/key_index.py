"""Where the row of a key lies: 16 bytes a key, found by the hash of the key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

Rows: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

_FEW = 10_000
_SHARE = 8


def hashes_of(rows: pa.Table, keys: Sequence[str], seed: int) -> Hashes:
    """Give the hash of the key of each row.

    The seed is by chance, so that nobody can make keys of one hash; that two of 10^6 keys have
    one by accident happens once in 10^7 tables.
    """
    # By columns and not as one frame, which polars would make in threads that must be waited for.
    columns = [pl.Series(name, _one(rows.column(name))) for name in keys]
    found = columns[0].hash(seed) if len(columns) == 1 else pl.DataFrame(columns).hash_rows(seed)
    hashes: Hashes = found.to_numpy().astype(np.uint64, copy=False)
    return hashes


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


class KeyIndex:
    """The last row of each key: most of them sorted by hash, the latest in a dictionary."""

    def __init__(self) -> None:
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._rows: Rows = np.empty(0, np.int64)
        self._recent: dict[int, int] = {}

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._hashes) + len(self._recent)

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        return self._hashes.nbytes + self._rows.nbytes + 120 * len(self._recent)

    def get(self, wanted: int) -> int | None:
        """Give the row of a hash."""
        recent = self._recent.get(wanted)
        if recent is not None:
            return recent
        place = int(np.searchsorted(self._hashes, np.uint64(wanted)))
        if place < len(self._hashes) and int(self._hashes[place]) == wanted:
            return int(self._rows[place])
        return None

    def put(self, hashes: Hashes, first: int) -> Rows:
        """Let rows from `first` on be those of their keys; give the rows that no longer are."""
        unique, from_end = np.unique(hashes[::-1], return_index=True)
        last = len(hashes) - 1 - from_end
        over = np.ones(len(hashes), np.bool_)
        over[last] = False
        replaced = [np.flatnonzero(over).astype(np.int64) + first]
        rows = (last + first).astype(np.int64)
        known = np.zeros(len(unique), np.bool_)
        if len(self._hashes):
            places = np.minimum(np.searchsorted(self._hashes, unique), len(self._hashes) - 1)
            known = self._hashes[places] == unique
            replaced.append(self._rows[places[known]])
            self._rows[places[known]] = rows[known]
        replaced.append(self._put_recent(unique[~known], rows[~known]))
        if len(self._recent) > max(_FEW, len(self._hashes) // _SHARE):
            self._merge()
        return np.concatenate(replaced)

    def keep(self, places: Rows) -> None:
        """Follow rows to where they lie now; those at -1 are gone, and so are their keys."""
        self._merge()
        moved = places[self._rows]
        there = moved >= 0
        self._hashes, self._rows = self._hashes[there], moved[there]

    def _put_recent(self, hashes: Hashes, rows: Rows) -> Rows:
        replaced: list[int] = []
        for one, row in zip(hashes.tolist(), rows.tolist(), strict=True):
            old = self._recent.get(one)
            if old is not None:
                replaced.append(old)
            self._recent[one] = row
        return np.array(replaced, np.int64)

    def _merge(self) -> None:
        count = len(self._recent)
        hashes = np.concatenate([self._hashes, np.fromiter(self._recent, np.uint64, count)])
        rows = np.concatenate([self._rows, np.fromiter(self._recent.values(), np.int64, count)])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._rows, self._recent = hashes[order], rows[order], {}
