"""Sequential reading against plain reads of the same files, and records through a consumer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from crc32c import crc32c

from bench.measure import Run, alternate, repeat, seconds
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.workload import (
    BATCH_BYTES,
    MEGABYTE,
    MIB,
    SHAPES,
    VIEWS,
    batch_sizes,
    bytes_rows,
    fill,
    segment_files,
)
from penstock.log.consumer import Consumer
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.topic import TopicConfig

_CHUNK = 8 * MIB
_METHOD = (
    "A topic is read from its first to its last record by `log.read` in chunks of 8 MiB: Arrow"
    " tables, every checksum verified. The baseline reads the topic's own segment files with"
    " `read` calls of 8 MiB and looks at nothing; two more are given for orientation: the same"
    " with one buffer used again and again, and the same with a checksum over all bytes, which"
    " is the least that a verified read can cost. All files are in the page cache. MB/s count"
    " the bytes of the segment files."
)


def run(scale: Scale) -> Result:
    """Measure chunks of Arrow for three kinds of rows, and records one by one."""
    total = scale.of(256 * MIB, 2 * MIB)
    measures: list[Measure] = []
    for shape in SHAPES:
        for size in batch_sizes(scale):
            measures += _chunks(scale, f"{shape}, stored in batches of {size}", shape, size, total)
    records = scale.of(1_000_000, 10_000)
    return Result(
        name="read",
        title="Sequential read against plain file reads",
        method=_METHOD,
        baseline="`read` of the same files in chunks of 8 MiB",
        scale=scale.name,
        sizes={"bytes a run": total, "records by consumer": records, "pairs": scale.pairs},
        measures=(*measures, *_consumed(scale, records)),
    )


def _chunks(scale: Scale, label: str, shape: str, size: str, total: int) -> Iterator[Measure]:
    make = SHAPES[shape]
    batch = make(int(BATCH_BYTES[size] / (make(1000).nbytes / 1000)))
    with scale.home() as home, open_log(home) as log:
        schema = None if batch.schema.names == ["value"] else VIEWS
        log.create_topic("t", schema=schema, config=TopicConfig(fsync="os"))
        fill(log, "t", batch, batch.num_rows * max(2, total // batch.nbytes))
        files = segment_files(home)
        ours = partial(_through_log, log, files)
        first = shape == "bytes of 100" and size == "1 MiB"
        others = (_plainly, _into_one_buffer, _with_checksum) if first else (_plainly,)
        for other in others:
            pairs = alternate(ours, partial(_rate, other, files), pairs=scale.pairs)
            yield Measure(
                label=label + _SUFFIXES[other],
                unit="MB/s",
                ours=pairs.ours,
                baseline=pairs.baseline,
                target=Target("at least", 0.5) if other is _plainly else None,
            )


def _through_log(log: EmbeddedLog, files: list[Path]) -> float:
    return _rate(lambda _: _read_all(log), files)


def _rate(read: Callable[[list[Path]], object], files: list[Path]) -> float:
    size = sum(file.stat().st_size for file in files)
    return size / MEGABYTE / seconds(lambda: read(files))


def _read_all(log: EmbeddedLog) -> None:
    offset, end = 0, log.bounds("t", 0).end
    limit = ReadLimit(bytes=_CHUNK)
    while offset < end:
        offset = log.read("t", 0, offset, limit).next_offset


def _plainly(files: list[Path]) -> None:
    for file in files:
        with file.open("rb", buffering=0) as opened:
            while opened.read(_CHUNK):
                pass


def _into_one_buffer(files: list[Path]) -> None:
    buffer = bytearray(_CHUNK)
    for file in files:
        with file.open("rb", buffering=0) as opened:
            while opened.readinto(buffer):
                pass


def _with_checksum(files: list[Path]) -> None:
    for file in files:
        with file.open("rb", buffering=0) as opened:
            while data := opened.read(_CHUNK):
                crc32c(data)


_SUFFIXES: dict[Callable[[list[Path]], None], str] = {
    _plainly: "",
    _into_one_buffer: " (baseline: into one buffer)",
    _with_checksum: " (baseline: with a checksum)",
}


def _consumed(scale: Scale, records: int) -> Iterator[Measure]:
    with scale.home() as home, open_log(home) as log:
        log.create_topic("t", config=TopicConfig(fsync="os"))
        fill(log, "t", bytes_rows(min(records, 10_000), size=100), records)
        ways: dict[str, Callable[[Consumer], int]] = {
            "poll": lambda consumer: len(consumer.poll()),
            "iteration": lambda consumer: sum(1 for _ in consumer.records(max_records=records)),
            "poll_batch (Arrow)": _poll_batch,
        }
        for name, take in ways.items():
            consume: Run = partial(_consume, log, records, take)
            rates = repeat(consume, times=scale.pairs)
            yield Measure(label=f"Consumer, {name}, 100 bytes", unit="records/s", ours=rates)


def _poll_batch(consumer: Consumer) -> int:
    batch = consumer.poll_batch()
    return 0 if batch is None else int(batch.rows.num_rows)


def _consume(log: EmbeddedLog, records: int, take: Callable[[Consumer], int]) -> float:
    with Consumer(log, "t") as consumer:
        taken = 0

        def all_of_them() -> None:
            nonlocal taken
            while taken < records:
                taken += take(consumer)

        return records / seconds(all_of_them)
