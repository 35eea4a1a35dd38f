"""Maps of text to text, out of JSON that Arrow has read already, since its reader has no maps.

Each map is found by its name and split at its quotes. What was found is proved by its form, so
a map that is written in any other way is not misread but left to others.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.codec.binary import Ints, Mask, run_of

# Texts without escapes, so that there is no quote but those around them.
_FORM = r'^\{("[^"\\]*": ?"[^"\\]*"(, ?"[^"\\]*": ?"[^"\\]*")*)?\}$'
_PLAIN_NAME = re.compile(r"\w+", re.ASCII)
_CLOSE = ord("}")
_PERIOD = 4


def can_split(name: str) -> bool:
    """Whether JSON can hold a name in one way only."""
    return _PLAIN_NAME.fullmatch(name) is not None


def split_maps(texts: pa.Array, lines: bytes, name: str, there: Mask) -> tuple[pa.Array, Mask]:
    """Give the maps of that name, and say which rows hold theirs in another form.

    `texts` are objects, `lines` the same all in one, and `there` says which have such a map.
    """
    told = (f'"{name}":{space}' for space in ("", " "))
    label = next((text for text in told if f"{text}{{".encode() in lines), name)
    found = pc.find_substring(texts, f"{label}{{").to_numpy() + len(label)
    located = there & (found >= len(label))
    doubts = _told_twice(texts, lines, f'"{name}"', located) | (there & ~located)
    there = located
    pieces = _pieces(texts, np.where(there, found, 0), there)
    formed = pc.match_substring_regex(pieces, _FORM).fill_null(pa.scalar(value=False))
    fits = formed.to_numpy(zero_copy_only=False)
    split = pc.split_pattern(pc.if_else(formed, pieces, None), '"')
    sizes = pc.list_value_length(split).fill_null(0).to_numpy()
    counts = np.where(fits, (sizes - 1) // _PERIOD, 0)
    maps = _maps(split, counts, fits)
    return maps, doubts | (there & ~fits) | _repeated(maps, counts)


def _told_twice(texts: pa.Array, lines: bytes, label: str, there: Mask) -> Mask:
    # A name that is as often there as there are maps is in no second place.
    if lines.count(label.encode()) == np.count_nonzero(there):
        return np.zeros(len(texts), np.bool_)
    found: Mask = pc.greater(pc.count_substring(texts, label), 1).to_numpy(zero_copy_only=False)
    return found


def _pieces(texts: pa.Array, found: Ints, there: Mask) -> pa.Array:
    """Cut from where each map begins to the first closing bracket after that."""
    run = run_of(texts)
    closed = np.flatnonzero(run.data == _CLOSE)
    begins = run.starts[:-1] + found
    ends = np.where(there, closed[np.searchsorted(closed, begins)] + 1, begins)
    # Every second value of an array of twice as many is such a piece; the others lie between.
    bounds = np.empty(2 * len(texts) + 1, np.int32)
    bounds[:-1:2], bounds[1:-1:2], bounds[-1] = begins, ends, ends[-1]
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(run.data)]
    both = pa.Array.from_buffers(pa.string(), 2 * len(texts), buffers)
    return both.take(pa.array(np.arange(0, 2 * len(texts), 2), mask=~there))


def _maps(split: pa.Array, counts: Ints, fits: Mask) -> pa.Array:
    """Take names and values from what lies between quotes: `{`, name, `:`, value, `,`, name ..."""
    starts = np.cumsum(counts) - counts
    begins = split.offsets.to_numpy()[:-1]
    names = 1 + _PERIOD * np.arange(int(counts.sum()))
    names += np.repeat(begins - _PERIOD * starts, counts)
    offsets = np.append(starts, counts.sum()).astype(np.int32)
    return pa.MapArray.from_arrays(
        pa.array(offsets, mask=np.append(~fits, False)),
        split.values.take(pa.array(names)),
        split.values.take(pa.array(names + 2)),
    )


def _repeated(maps: pa.Array, counts: Ints) -> Mask:
    """Say which maps have a name twice."""
    codes = maps.keys.dictionary_encode()
    kinds = max(1, len(codes.dictionary))
    owners = np.repeat(np.arange(len(maps)), counts)
    pairs = np.sort(owners * kinds + codes.indices.to_numpy())
    found = np.zeros(len(maps), np.bool_)
    found[pairs[1:][pairs[1:] == pairs[:-1]] // kinds] = True
    return found
