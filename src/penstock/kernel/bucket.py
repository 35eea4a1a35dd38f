"""Which bucket a row's key belongs to: a hash of our own, the same in every process and release.

The state of a job is stored by bucket, so this hash must never change; the test holds golden
values. With `mix` the finaliser of splitmix64 and all arithmetic modulo 2**64, a key column
gives for each row:

    null                 mix(NULL)
    number, boolean      mix(its 64-bit pattern); -0.0 counts as 0.0, all NaN as one
    timestamp, date      mix(milliseconds or days since 1970)
    decimal              mix(mix(low 64 bits) + high 64 bits) of the unscaled number
    string, bytes        mix(length + sum of word[i] * PRIME**(i + 1)), the words being 8 bytes
                         each, little-endian, the last one filled up with zeros
    list, struct, map    as a string: its JSON text

Several columns: hash = mix(PRIME * hash of those before + hash of the column). The bucket is
the upper half of the hash, scaled to the number of buckets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from penstock.kernel.port import Frame

Hashes: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Buckets: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]

NULL = 0x6E756C6C6E756C6C
PRIME = 0x9E3779B97F4A7C15
_NAN = 0x7FF8000000000000
_WORD = 8
# Words up to here are hashed position by position over all strings, which is fastest for the
# short keys that are usual; what lies beyond is gathered at once.
_SHORT = 8
# So many rows at a time keep what is computed on the way in the processor's cache.
_CACHED = 2**15
_DATES = (pl.Datetime, pl.Date, pl.Time, pl.Duration)


def bucket_of(frame: Frame, keys: Sequence[str], buckets: int) -> Buckets:
    """Give the bucket of each row; without keys all rows belong to the first."""
    if not keys or buckets == 1:
        return np.zeros(frame.height, np.int32)
    chosen = np.empty(frame.height, np.int32)
    for start in range(0, frame.height, _CACHED):
        upper = _hash_of(frame.slice(start, _CACHED), keys) >> np.uint64(32)
        chosen[start : start + _CACHED] = (upper * np.uint64(buckets)) >> np.uint64(32)
    return chosen


def split_by_bucket(frame: Frame, keys: Sequence[str], buckets: int) -> dict[int, Frame]:
    """Give the rows of each bucket that has any, in the order they stand in."""
    if frame.is_empty():
        return {}
    if not keys or buckets == 1:
        return {0: frame}
    chosen = bucket_of(frame, keys, buckets)
    counts = np.bincount(chosen, minlength=buckets)
    # Numbers of 16 bits are sorted by radix, in time linear to the rows.
    order = np.argsort(chosen.astype(np.uint16 if buckets <= 2**16 else np.int32), kind="stable")
    sorted_rows = frame[pl.Series(order.astype(np.uint32))]
    starts = np.cumsum(counts) - counts
    return {
        int(bucket): sorted_rows.slice(int(starts[bucket]), int(counts[bucket]))
        for bucket in np.flatnonzero(counts)
    }


def hash_of(frame: Frame, keys: Sequence[str]) -> Hashes:
    """Give the hash of each row's key, which has at least one column."""
    if frame.height <= _CACHED:
        return _hash_of(frame, keys)
    hashes = np.empty(frame.height, np.uint64)
    for start in range(0, frame.height, _CACHED):
        hashes[start : start + _CACHED] = _hash_of(frame.slice(start, _CACHED), keys)
    return hashes


def _hash_of(frame: Frame, keys: Sequence[str]) -> Hashes:
    total = _column(frame[keys[0]])
    for key in keys[1:]:
        total = _mix(total * np.uint64(PRIME) + _column(frame[key]))
    return total


def _column(series: pl.Series) -> Hashes:
    if series.dtype == pl.String and _alike(series):
        # A day or a channel is often that of all rows: it is hashed once.
        return np.repeat(_values(series[:1]), len(series))
    hashes = _values(series)
    if series.null_count():
        nothing = _mix(np.full(1, NULL, np.uint64))[0]
        hashes = np.where(series.is_null().to_numpy(), nothing, hashes)
    return hashes


def _alike(series: pl.Series) -> bool:
    """Whether all rows have one value."""
    if len(series) < _WORD or series[0] is None or series[0] != series[-1]:
        return False
    return not series.null_count() and bool((series == series[0]).all())


def _values(series: pl.Series) -> Hashes:
    kind = series.dtype
    if kind.is_integer() or kind == pl.Boolean:
        return _mix(_words(series.cast(pl.Int64)))
    if kind.is_float():
        return _mix(_float_words(series.cast(pl.Float64)))
    if kind in _DATES:
        return _mix(_words(_dates(series)))
    if kind.is_decimal():
        return _decimals(series)
    if kind == pl.Binary:
        return _bytes(series.to_arrow())
    if kind.is_nested():
        series = pl.Series([json.dumps(_plain(v), sort_keys=True, default=str) for v in series])
    return _bytes(series.cast(pl.String).to_arrow())


def _dates(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Datetime:
        series = series.dt.cast_time_unit("ms")
    return series.cast(pl.Int64)


def _words(series: pl.Series) -> Hashes:
    return _filled(series).to_numpy().view(np.uint64)


def _filled(series: pl.Series) -> pl.Series:
    return series.fill_null(0) if series.null_count() else series


def _float_words(series: pl.Series) -> Hashes:
    # Adding zero turns -0.0 into 0.0.
    numbers = _filled(series).to_numpy() + 0.0
    return np.where(np.isnan(numbers), np.uint64(_NAN), numbers.view(np.uint64))


def _decimals(series: pl.Series) -> Hashes:
    numbers = series.to_arrow().cast(pa.decimal128(38, series.dtype.scale))  # type: ignore[attr-defined]
    words = np.frombuffer(numbers.buffers()[1], np.uint64)
    mine = words[2 * numbers.offset : 2 * (numbers.offset + len(numbers))].reshape(-1, 2)
    return _mix(_mix(mine[:, 0]) + mine[:, 1])


def _bytes(values: pa.Array) -> Hashes:
    values = values.cast(pa.large_binary())
    _, offsets, data = values.buffers()
    if len(values) == 0:
        return np.zeros(0, np.uint64)
    starts = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    lengths = np.diff(starts)
    total = lengths.astype(np.uint64)
    if data is not None and lengths.any():
        _add_words(total, _unaligned(data), starts[:-1], lengths)
    return _mix(total)


def _unaligned(data: pa.Buffer) -> Hashes:
    """Every 8 bytes of a buffer as a number, one for each byte they may begin at."""
    padded = np.zeros(data.size + _WORD, np.uint8)
    padded[: data.size] = np.frombuffer(data, np.uint8)
    return np.ndarray((data.size + 1,), "<u8", padded.data, strides=(1,))


def _add_words(
    total: Hashes,
    words: Hashes,
    starts: np.ndarray[Any, np.dtype[np.int64]],
    lengths: np.ndarray[Any, np.dtype[np.int64]],
) -> None:
    """Add to each string's hash what its words contribute."""
    power = 1
    for index in range(min(_SHORT, -(-int(lengths.max()) // _WORD))):
        power = power * PRIME % 2**64
        reach = lengths > index * _WORD
        # All rows at once need no index, which would cost as much as the hash itself.
        here = slice(None) if reach.all() else np.flatnonzero(reach)
        left = lengths[here] - index * _WORD
        total[here] += _cut(words[starts[here] + index * _WORD], left) * np.uint64(power)
    long = np.flatnonzero(lengths > _SHORT * _WORD)
    if long.size:
        _add_far_words(total, words, long, (starts[long], lengths[long]))


def _add_far_words(
    total: Hashes,
    words: Hashes,
    rows: np.ndarray[Any, np.dtype[np.intp]],
    strings: tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int64]]],
) -> None:
    starts, lengths = strings
    counts = -(-lengths // _WORD) - _SHORT
    first = np.cumsum(counts) - counts
    index = np.arange(counts.sum()) - np.repeat(first, counts) + _SHORT
    powers = np.multiply.accumulate(np.full(int(index.max()) + 1, PRIME, np.uint64))
    left = np.repeat(lengths, counts) - index * _WORD
    found = _cut(words[np.repeat(starts, counts) + index * _WORD], left) * powers[index]
    total[rows] += np.add.reduceat(found, first)


def _cut(words: Hashes, left: np.ndarray[Any, np.dtype[np.int64]]) -> Hashes:
    """Set to zero the bytes that belong to the string after."""
    if left.min() >= _WORD:
        return words
    spare = (np.maximum(_WORD - left, 0) * 8).astype(np.uint64)
    cut: Hashes = (words << spare) >> spare
    return cut


def _mix(words: Hashes) -> Hashes:
    mixed: Hashes = words + np.uint64(0x9E3779B97F4A7C15)
    # In place, since here memory is what takes the time.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed


def _plain(value: object) -> object:
    """A nested value without the sign of zero, which keys do not tell apart."""
    match value:
        case float():
            return value + 0.0
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case list() | tuple() | pl.Series():
            return [_plain(part) for part in value]
        case _:
            return value
