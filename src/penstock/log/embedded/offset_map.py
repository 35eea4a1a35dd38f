"""The newest offset of each key, for as many keys as there is room for."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

DEFAULT_SLOTS = 1_000_000
_LOAD_FACTOR = 0.75
_LONGEST_KEY = 32


class OffsetMap:
    """A dictionary with a bounded number of entries, each of bounded size.

    A pass over 2 million rows of 400,000 keys takes about 3 s of one core: fast enough to be
    spared a hash table of our own.
    """

    def __init__(self, slots: int = DEFAULT_SLOTS) -> None:
        self._room = max(int(slots * _LOAD_FACTOR), 1)
        self._offsets: dict[bytes | None, int] = {}

    def add(self, keys: Sequence[bytes | None], offsets: Sequence[int]) -> int:
        """Note keys in order; give how many were taken before one found the map full."""
        found = self._offsets
        if self._room - len(found) >= len(keys):
            found.update(zip(keys, offsets, strict=True))
            found.pop(None, None)
            return len(keys)
        for count, key in enumerate(keys):
            if key is None:
                continue
            if len(found) >= self._room:
                return count
            found[key] = offsets[count]
        return len(keys)

    def newest(self, keys: Sequence[bytes | None]) -> npt.NDArray[np.int64]:
        """The newest offset noted for each key; -1 where there is none."""
        found = map(self._offsets.get, keys, itertools.repeat(-1))
        return np.fromiter(found, np.int64, len(keys))


def map_keys(keys: pa.Array) -> list[bytes | None]:
    """Give a column's keys as the map takes them: a long one by its digest, to bound the memory."""
    names: list[bytes | None] = keys.to_pylist()
    if max(map(len, filter(None, names)), default=0) <= _LONGEST_KEY:
        return names
    return [
        key
        if key is None or len(key) <= _LONGEST_KEY
        else hashlib.blake2b(key, digest_size=_LONGEST_KEY).digest()
        for key in names
    ]
