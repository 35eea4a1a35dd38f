"""Whether memory stays flat while very many records are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from bench.child import in_child
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.workload import MIB, bytes_rows, fill
from penstock.log.consumer import Consumer
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.topic import TopicConfig

_FLAT_MIB = 32
_SAMPLES = 100
_METHOD = (
    "A new process reads 10^7 records of 100 bytes (1.2 GB) and notes its resident memory a"
    " hundred times on the way. Growth is the most it had after the first tenth, less what it"
    f" had there; flat means up to {_FLAT_MIB} MiB, the room of four chunks."
)


class _Memory(NamedTuple):
    """Resident MiB: before reading, after a tenth of the records, and the most after that."""

    before: float
    warm: float
    most: float


def run(scale: Scale) -> Result:
    """Measure memory for three ways of reading."""
    records = scale.of(10_000_000, 50_000)
    ways = (_chunks, _batches, _records)
    with scale.home() as home:
        with open_log(home) as log:
            log.create_topic("t", config=TopicConfig(fsync="os"))
            fill(log, "t", bytes_rows(min(records, 10_000), size=100), records)
        found = {way.__name__: in_child(_watch, home, way, records) for way in ways}
    measures = []
    for name, memory in found.items():
        label = _LABELS[name]
        measures += [
            _measure(f"{label}: before reading", memory.before),
            _measure(f"{label}: after a tenth", memory.warm),
            _measure(f"{label}: growth after that", memory.most - memory.warm, _FLAT_MIB),
        ]
    return Result(
        name="memory",
        title=f"Memory while reading {records:,} records",
        method=_METHOD,
        scale=scale.name,
        sizes={"records": records, "bytes a record": 100},
        measures=tuple(measures),
    )


def _measure(label: str, mib: float, limit: float | None = None) -> Measure:
    target = None if limit is None else Target("at most", limit)
    return Measure(label=label, unit="MiB", ours=(mib,), lower_is_better=True, target=target)


def _watch(home: Path, read: Callable[[EmbeddedLog], Iterator[int]], records: int) -> _Memory:
    process = psutil.Process()
    every = records // _SAMPLES
    samples: list[float] = []
    done = 0
    with open_log(home) as log:
        before = process.memory_info().rss / MIB
        for count in read(log):
            done += count
            if done >= every * (len(samples) + 1):
                samples.append(process.memory_info().rss / MIB)
            if done >= records:
                break
    warm = len(samples) // 10
    return _Memory(before, samples[warm], max(samples[warm:]))


def _chunks(log: EmbeddedLog) -> Iterator[int]:
    offset, end = 0, log.bounds("t", 0).end
    while offset < end:
        chunk = log.read("t", 0, offset, ReadLimit())
        offset = chunk.next_offset
        yield chunk.rows.num_rows


def _batches(log: EmbeddedLog) -> Iterator[int]:
    with Consumer(log, "t") as consumer:
        while (batch := consumer.poll_batch()) is not None:
            yield batch.rows.num_rows


def _records(log: EmbeddedLog) -> Iterator[int]:
    with Consumer(log, "t") as consumer:
        while found := consumer.poll():
            yield len(found)


_LABELS = {
    "_chunks": "log.read, chunks of 8 MiB",
    "_batches": "Consumer.poll_batch",
    "_records": "Consumer.poll",
}
