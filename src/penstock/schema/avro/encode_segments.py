"""Bytes of many rows, written part by part: each row gets its part of a segment in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from penstock.schema.avro.decode_cursor import Ints, Mask, Words

WORD = 8
_ONE = np.uint64(1)
_FULL = np.uint64(2**64 - 1)
_MORE = np.uint64(0x8080808080808080)
_SPREADS = tuple(
    (np.uint64(low), np.uint64(high), np.uint64(shift))
    for low, high, shift in (
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
    )
)


@dataclass(frozen=True, slots=True)
class Short:
    """Up to eight bytes of each row: the lowest of a word, so many."""

    words: Words
    sizes: Ints


@dataclass(frozen=True, slots=True)
class Long:
    """Any bytes of each row, in a binary array; a null has none."""

    array: pa.Array


Segment: TypeAlias = Short | Long


def number(value: Ints, live: Mask | None = None) -> list[Segment]:
    """Write numbers of variable length; a row that is not `live` gets none."""
    sign = value >> 63
    word = (value << 1 ^ sign).view(np.uint64)
    most = int(word.max(initial=0))
    sizes = np.ones(len(word), np.int64)
    for bits in range(7, most.bit_length(), 7):
        sizes += word >= np.uint64(1 << bits)
    if live is not None:
        sizes *= live
    if most < 1 << 7:
        return [Short(word, sizes)]
    first = np.minimum(sizes, WORD)
    segments: list[Segment] = [Short(_spread(word, sizes), first)]
    if most >= 1 << 56:
        # A ninth byte, and with the highest bit a tenth.
        rest = word >> np.uint64(56)
        rest = (rest & np.uint64(0x7F)) | np.where(sizes > WORD + 1, np.uint64(0x180), np.uint64(0))
        segments.append(Short(rest, sizes - first))
    return segments


def constant(data: bytes, rows: int) -> list[Segment]:
    """Write the same bytes for each row."""
    cuts = [data[at : at + WORD] for at in range(0, len(data), WORD)]
    return [
        Short(np.full(rows, int.from_bytes(cut, "little"), np.uint64), np.full(rows, len(cut)))
        for cut in cuts
    ]


def small(values: Ints, live: Mask | None = None) -> list[Segment]:
    """Write one byte for each row, below 128."""
    sizes = np.ones(len(values), np.int64) if live is None else live.astype(np.int64)
    return [Short(values.astype(np.uint64), sizes)]


def joined(segments: Sequence[Segment], rows: int) -> pa.Array:
    """Give each row's parts one after the other, as a binary array without nulls."""
    parts: list[pa.Array] = []
    for is_short, group in groupby(segments, lambda segment: isinstance(segment, Short)):
        if is_short:
            parts.append(_run([part for part in group if isinstance(part, Short)], rows))
        else:
            parts.extend(part.array for part in group if isinstance(part, Long))
    if not parts:
        return pa.array([b""] * rows, pa.binary())
    if len(parts) == 1 and isinstance(segments[0], Short):
        return parts[0]
    # All parts in one array, and from it those of the first row, then those of the second.
    order = np.arange(rows)[:, None] + rows * np.arange(len(parts))[None, :]
    found = pa.concat_arrays(parts).take(pa.array(order.ravel()))
    offsets = np.frombuffer(found.buffers()[1], np.int32, rows * len(parts) + 1)[:: len(parts)]
    data = found.buffers()[2]
    return pa.Array.from_buffers(
        pa.binary(), rows, [None, pa.py_buffer(np.ascontiguousarray(offsets)), data]
    )


def _run(segments: Sequence[Short], rows: int) -> pa.Array:
    offsets = np.zeros(rows + 1, np.int64)
    for segment in segments:
        offsets[1:] += segment.sizes
    np.cumsum(offsets, out=offsets)
    data = np.zeros(int(offsets[-1]) + WORD, np.uint8)
    words: Words = np.ndarray((len(data) - WORD + 1,), np.dtype("<u8"), data, strides=(1,))
    at = offsets[:-1]
    for segment in segments:
        _put(segment, data, words, at)
        at = at + segment.sizes
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), rows, buffers)


def _put(
    segment: Short, data: np.ndarray[tuple[int], np.dtype[np.uint8]], words: Words, at: Ints
) -> None:
    word, sizes = segment.words, segment.sizes
    if int(sizes.max(initial=0)) <= 1:
        if not sizes.all():
            chosen = np.flatnonzero(sizes)
            at, word = at[chosen], word[chosen]
        data[at] = word.astype(np.uint8)
        return
    # A word is put among zeros: what stands there already is kept, and what follows comes later.
    # Rows are put in order, so that the bytes a word has too many of are overwritten or zero.
    bits = (sizes * 8).astype(np.uint64)
    kept = ~((_FULL << (bits >> _ONE)) << (bits - (bits >> _ONE)))
    words[at] |= word & kept


def _spread(word: Words, sizes: Ints) -> Words:
    """Give each seven bits a byte of their own, with the mark that more follow."""
    word = word & np.uint64((1 << 56) - 1)
    for low, high, shift in _SPREADS:
        word = (word & low) | ((word << shift) & high)
    bits = (np.maximum(np.minimum(sizes, WORD + 1) - 1, 0) * 8).astype(np.uint64)
    marks: Words = ~((_FULL << (bits >> _ONE)) << (bits - (bits >> _ONE)))
    marks &= _MORE
    marks |= word
    return marks
