"""The rows that benches write and read: bytes of a given size, and typed page views."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.scale import Scale
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.rows import integer_array

KIB = 1024
MIB = 1024 * KIB
MEGABYTE = 1_000_000

VIEWS = pa.schema(
    [
        ("user_id", pa.int64()),
        ("page", pa.string()),
        ("region", pa.string()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("seconds", pa.int32()),
        ("amount", pa.float64()),
    ]
)
_PAGES = 1000
_REGIONS = 20
_EPOCH = 1_700_000_000_000_000


def bytes_rows(records: int, *, size: int, seed: int = 1) -> pa.Table:
    """Rows of random bytes, all of one size."""
    data = np.random.default_rng(seed).bytes(records * size)
    offsets = np.arange(0, (records + 1) * size, size, dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.table({"value": pa.Array.from_buffers(pa.binary(), records, buffers)})


def view_rows(records: int, *, seed: int = 1) -> pa.Table:
    """Page views: two numbers, two repeating strings, a time, an amount."""
    random = np.random.default_rng(seed)
    times = _EPOCH + np.arange(records, dtype=np.int64) * 1000
    columns = [
        integer_array(random.integers(0, 1_000_000, records)),
        _words("page", _PAGES, random.integers(0, _PAGES, records)),
        _words("region", _REGIONS, random.integers(0, _REGIONS, records)),
        integer_array(times).view(pa.timestamp("us", tz="UTC")),
        pa.array(random.integers(0, 600, records, dtype=np.int32)),
        pa.array(random.random(records) * 100),
    ]
    return pa.Table.from_arrays(columns, schema=VIEWS)


def as_bytes(rows: pa.Table) -> bytes:
    """The bytes of rows as they lie in memory: what a plain file is given of the same rows."""
    buffers = [
        buffer
        for column in rows.columns
        for chunk in column.chunks
        for buffer in chunk.buffers()
        if buffer is not None
    ]
    return b"".join(buffers)


def fill(log: EmbeddedLog, topic: str, batch: pa.Table, records: int) -> None:
    """Append a batch again and again until the topic has so many records more."""
    whole, rest = divmod(records, batch.num_rows)
    for _ in range(whole):
        log.append(topic, 0, batch)
    if rest:
        log.append(topic, 0, batch.slice(0, rest))


def segment_files(home: Path) -> list[Path]:
    """The files in which a log keeps its records."""
    return sorted(home.rglob("*.seg"))


def _words(stem: str, count: int, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Array:
    words = pa.array([f"/{stem}/{number:04d}" for number in range(count)])
    return words.take(integer_array(chosen))


# What is appended and read, and in batches of which size.
SHAPES: dict[str, Callable[[int], pa.Table]] = {
    "bytes of 100": partial(bytes_rows, size=100),
    "bytes of 1 KiB": partial(bytes_rows, size=KIB),
    "typed, 6 columns": view_rows,
}
BATCH_BYTES = {"64 KiB": 64 * KIB, "1 MiB": MIB, "4 MiB": 4 * MIB}


def batch_sizes(scale: Scale) -> tuple[str, ...]:
    """Give the sizes of batches that are measured; of small runs the largest would be most."""
    return tuple(BATCH_BYTES)[: scale.of(len(BATCH_BYTES), 1)]
