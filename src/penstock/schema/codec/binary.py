"""Arrays of bytes, seen as one run of bytes with offsets, and built from such runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


class Run(NamedTuple):
    """The bytes of all values, one after the other; value n lies at `starts[n]:starts[n + 1]`."""

    data: npt.NDArray[np.uint8]
    starts: Ints

    @property
    def lengths(self) -> Ints:
        """How many bytes each value has; a null has none."""
        return np.diff(self.starts)

    def rows_of(self, places: Ints) -> Ints:
        """Give the values that hold some of these bytes, each once and in order."""
        return np.unique(np.searchsorted(self.starts, places, side="right") - 1)


def one_array(values: Any) -> pa.Array:  # noqa: ANN401  # Arrow has no types
    """Give values, in however many chunks and of whatever width, as one binary array."""
    if isinstance(values, pa.ChunkedArray):
        values = whole_column(values)
    return values if values.type == pa.binary() else values.cast(pa.binary())


def whole_column(column: pa.ChunkedArray) -> pa.Array:
    """Give a column as one array that begins where its buffers do."""
    if column.num_chunks == 0:
        return pa.array([], column.type)
    found = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    # Arrow does not build lists anew of offsets that begin in the midst of a buffer.
    return found if found.offset == 0 else found.take(pa.arange(0, len(found)))


def run_of(values: pa.Array) -> Run:
    """See a binary or string array as the bytes it holds."""
    _, starts, data = values.buffers()
    offset = values.offset
    if len(values) == 0:
        return Run(np.zeros(0, np.uint8), np.zeros(1, np.int64))
    found = np.frombuffer(starts, np.int32)[offset : offset + len(values) + 1].astype(np.int64)
    whole = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return Run(whole[found[0] : found[-1]], found - found[0])


def binary_of(data: bytes, lengths: Ints, *, valid: Mask | None = None) -> pa.Array:
    """Make a binary array of values that lie one after the other."""
    starts = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    bits = None if valid is None else pa.array(valid).buffers()[1]
    buffers = [bits, pa.py_buffer(starts), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(lengths), buffers)


def valid_rows(values: pa.Array) -> Mask:
    """Say which values are not null."""
    found: Mask = values.is_valid().to_numpy(zero_copy_only=False)
    return found


def spread_rows(values: pa.Array, places: Ints, count: int) -> pa.Array:
    """Put values at their places among so many rows; the other rows are null."""
    indices = np.full(count, -1, np.int64)
    indices[places] = np.arange(len(places))
    return values.take(pa.array(indices, mask=indices < 0))


def texts_of(values: pa.Array) -> tuple[pa.Array, dict[int, str]]:
    """Read bytes as UTF-8; what is none is null, and a failure by its place."""
    try:
        return values.cast(pa.string()), {}
    except pa.ArrowInvalid:
        pass
    run = run_of(values)
    # Only values with a byte outside ASCII can fail, and only those are looked at one by one.
    suspects = run.rows_of(np.flatnonzero(run.data >= 0x80))  # noqa: PLR2004  # ends ASCII
    failures = {int(row): why for row in suspects if (why := _not_text(values[row].as_py()))}
    return without_rows(values, failures).cast(pa.string()), failures


def without_rows(values: pa.Array, places: Sequence[int] | dict[int, str]) -> pa.Array:
    """Give values with null at some places."""
    if not places:
        return values
    indices = np.arange(len(values))
    gone = np.zeros(len(values), np.bool_)
    gone[list(places)] = True
    return values.take(pa.array(indices, mask=gone))


def _not_text(value: bytes) -> str:
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start} is not UTF-8"
    return ""
