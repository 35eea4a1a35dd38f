"""The bounds of a window behind a key, as Kafka Streams writes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.codec.binary import one_array, run_of, valid_rows

NUMBER = 8
"""How many bytes a bound has."""


class WindowedKeys(NamedTuple):
    """Keys without the numbers that stood behind them, and those; short keys are failures."""

    keys: pa.Array
    numbers: tuple[pa.Array, ...]
    failures: dict[int, str]


def without_numbers(keys: pa.Array, count: int) -> WindowedKeys:
    """Take so many numbers off the ends of keys; null is null throughout."""
    keys = one_array(keys)
    run = run_of(keys)
    there = valid_rows(keys)
    fits = there & (run.lengths >= count * NUMBER)
    at = run.starts[1:][fits] - count * NUMBER
    numbers = []
    for number in range(count):
        bytes_ = run.data[at[:, None] + np.arange(number * NUMBER, (number + 1) * NUMBER)]
        found = np.zeros(len(keys), np.int64)
        found[fits] = np.ascontiguousarray(bytes_).view(">i8").reshape(-1)
        numbers.append(pa.array(found, mask=~fits))
    failures = {
        int(place): f"a key of {run.lengths[place]} bytes, behind which a window's bounds stand"
        for place in np.flatnonzero(there & ~fits)
    }
    bodies = pc.binary_slice(keys, 0, -count * NUMBER)
    kept = pc.if_else(pa.array(fits), bodies, pa.scalar(None, pa.binary()))
    return WindowedKeys(kept, tuple(numbers), failures)


def with_numbers(keys: pa.Array, *numbers: pa.Array) -> pa.Array:
    """Put numbers behind keys; a key that is null is empty, and one of no number stays null."""
    empty, last = pa.scalar(b"", pa.binary()), pa.scalar(b"", pa.binary())
    written = [_bytes(number) for number in numbers]
    return pc.binary_join_element_wise(one_array(keys).fill_null(empty), *written, last)


def _bytes(numbers: pa.Array) -> pa.Array:
    plain = numbers.fill_null(0).to_numpy().astype(">i8").tobytes()
    width = pa.binary(NUMBER)
    found = pa.Array.from_buffers(width, len(numbers), [None, pa.py_buffer(plain)])
    bare = found.cast(pa.binary())
    return pc.if_else(numbers.is_valid(), bare, pa.scalar(None, pa.binary()))
