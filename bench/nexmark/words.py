"""Random words for events, many at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.int64]

_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
_SHORTEST = 3
_SPACE_EVERY = 13


def words(random: np.random.Generator, count: int, most: int, *, gap: bytes = b" ") -> pa.Array:
    """Give words of 3 to so many letters, with a gap for about every thirteenth letter."""
    lengths = random.integers(_SHORTEST, most, count)
    letters = _letters(random, int(lengths.sum()))
    letters[random.integers(0, _SPACE_EVERY, len(letters)) == 0] = gap[0]
    # A word neither begins nor ends with a gap, and keeps its length.
    ends = np.cumsum(lengths)
    for places in (ends - lengths, ends - 1):
        gaps = places[letters[places] == gap[0]]
        letters[gaps] = _letters(random, len(gaps))
    return _strings(letters, lengths)


def fillers(random: np.random.Generator, sizes: Numbers) -> pa.Array:
    """Give words of letters whose lengths lie within a fifth of the sizes asked for."""
    wanted = np.maximum(sizes, 0)
    delta = np.round(wanted * 0.2).astype(np.int64)
    lengths = wanted - delta + (random.random(len(wanted)) * 2 * delta).astype(np.int64)
    return _strings(_letters(random, int(lengths.sum())), lengths)


def chosen(random: np.random.Generator, count: int, names: tuple[str, ...]) -> pa.Array:
    """Give so many of the names, each as likely as the next."""
    places = pa.array(random.integers(0, len(names), count))
    return pa.array(names, pa.string()).take(places)


def _letters(random: np.random.Generator, count: int) -> npt.NDArray[np.uint8]:
    found: npt.NDArray[np.uint8] = _LETTERS[random.integers(0, 26, count, dtype=np.uint8)]
    return found


def _strings(letters: npt.NDArray[np.uint8], lengths: Numbers) -> pa.Array:
    ends = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=ends[1:])
    return pa.StringArray.from_buffers(
        len(lengths), pa.py_buffer(ends.tobytes()), pa.py_buffer(letters.tobytes())
    )
