"""A large state as a head and the parts since, in which a few keys are found without the others.

A part holds all that its keys have now, so that the latest one that has a key counts. Keys are
found by their hashes; where two keys have the same one, the state is looked at as a whole.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.bucket import Hashes, hash_of
from penstock.kernel.divided import KEYS, Divided, Tables, latest, united
from penstock.kernel.keybook import same_keys
from penstock.kernel.port import Frame

# Each takes up to 24 bytes.
_CACHE_KEYS = 16_000_000


@dataclass(frozen=True, slots=True)
class Runs:
    """A head, and its parts one after the other: `place` says where in them keys are found.

    Keys go by their hashes, which are in ascending order.
    """

    head: Divided
    names: tuple[str, ...] = ()
    """Of the files of the parts."""
    parts: Divided | None = None
    hashes: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    place: Whole = field(default_factory=lambda: np.empty(0, np.int64))

    def with_part(self, name: str, part: Divided) -> Runs:
        """Give the runs after one more part."""
        new, order = part.hashes
        before = 0 if self.parts is None else len(self.parts)
        hashes = np.concatenate([self.hashes, new])
        # Stable: of two that are equal, that of the later part comes last and stays.
        by_hash = np.argsort(hashes, kind="stable")
        hashes = hashes[by_hash]
        stays = np.append(hashes[1:] != hashes[:-1], [True] * bool(len(hashes)))
        place = np.concatenate([self.place, order.astype(np.int64) + before])[by_hash[stays]]
        parts = part
        if self.parts is not None:
            parts = Divided(united([self.parts.tables, part.tables]))
        return Runs(self.head, (*self.names, name), parts, hashes[stays], place)

    def part_of(self, deltas: Sequence[Frame]) -> Tables | None:
        """Give what the keys of some rows have; nothing where hashes do not tell keys apart."""
        names = self.head.keys.columns
        wanted = pl.concat([delta[names] for delta in deltas])
        asked = hash_of(wanted, names)
        found: list[Tables] = []
        late, at = _find(self.hashes, asked)
        if self.parts is not None and late.any():
            rows = np.flatnonzero(late)
            found.append(_checked(self.parts, wanted, rows, self.place[at[rows]]))
        known, order = self.head.hashes
        early, at = _find(known, asked)
        early &= ~late
        if early.any():
            rows = np.flatnonzero(early)
            found.append(_checked(self.head, wanted, rows, order[at[rows]].astype(np.int64)))
        if not all(found):
            return None
        return united(found) if found else {}

    def merged(self) -> Tables:
        """Give all parts as one."""
        assert self.parts is not None
        one = self.parts.of(np.sort(self.place))
        if one[KEYS].height == self.parts.keys.n_unique():
            return one
        return self.parts.last()

    def whole(self) -> Tables:
        """Give all that is remembered."""
        if self.parts is None:
            return self.head.tables
        return latest([self.head, Divided(self.merged())])


def _checked(run: Divided, wanted: Frame, rows: Whole, places: Whole) -> Tables:
    """Give what keys at these places have; nothing where they are not the wanted ones."""
    asked = wanted if len(rows) == wanted.height else wanted[pl.Series(rows, dtype=pl.UInt32)]
    numbers, which = np.unique(places, return_inverse=True)
    found = run.of(numbers)
    keys = found[KEYS]
    if len(numbers) < len(rows) or (which[1:] < which[:-1]).any():
        keys = keys[pl.Series(which, dtype=pl.UInt32)]
    return found if same_keys(asked, keys) else {}


def _find(known: Hashes, wanted: Hashes) -> tuple[Any, Whole]:
    if not len(known):
        return np.zeros(len(wanted), np.bool_), np.zeros(len(wanted), np.int64)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return known[at] == wanted, at


@dataclass(frozen=True, slots=True)
class KnownRuns:
    """The runs of one bucket that a process has found keys in; the name is that of the head."""

    head: str
    runs: Runs

    @property
    def size(self) -> int:
        """How many keys there are to be found."""
        parts = self.runs.parts
        return len(self.runs.head) + (0 if parts is None else len(parts))


class RunCache:
    """What a process knows of buckets; those asked for last, within a number of keys."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, KnownRuns] = OrderedDict()
        self._size = 0

    def get(self, folder: str) -> KnownRuns | None:
        """Give what is known of a bucket."""
        return self._known.get(folder)

    def put(self, folder: str, known: KnownRuns) -> None:
        """Keep what is known of a bucket from now on."""
        before = self._known.pop(folder, None)
        self._size += known.size - (0 if before is None else before.size)
        self._known[folder] = known
        while self._size > _CACHE_KEYS:
            self._size -= self._known.popitem(last=False)[1].size


@lru_cache(maxsize=1)
def run_cache() -> RunCache:
    """Give the cache of this process."""
    return RunCache()
