"""The newest offset of each key, for as many keys as there is room for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

DEFAULT_SLOTS = 1_000_000
_LOAD_FACTOR = 0.75
_LONGEST_KEY = 32


class OffsetMap:
    """A dictionary with a bounded number of entries, each of bounded size.

    A dictionary takes and finds some 4 million keys a second, more than the disk brings.
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
        get = self._offsets.get
        return np.fromiter((get(key, -1) for key in keys), np.int64, len(keys))


def map_keys(keys: pa.Array) -> list[bytes | None]:
    """Give a column's keys as the map takes them: a long one by its digest, to bound the memory."""
    return [
        key
        if key is None or len(key) <= _LONGEST_KEY
        else hashlib.blake2b(key, digest_size=_LONGEST_KEY).digest()
        for key in keys.to_pylist()
    ]
