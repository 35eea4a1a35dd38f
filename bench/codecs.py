"""What compression of a topic saves on disk and costs in time."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import pyarrow as pa

from bench.measure import seconds
from bench.result import Measure, Result
from bench.scale import Scale
from bench.workload import MEGABYTE, MIB, VIEWS, segment_files, view_rows
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.topic import Compression, TopicConfig

_METHOD = (
    "The same page views (6 typed columns, batches of 1 MiB) are appended with `fsync=os` to a"
    " topic without compression and, by turns, to one with it, and read back whole. MB/s count"
    " the bytes of the tables, not of the files. The baseline is `compression=none`."
)


class _Taken(NamedTuple):
    append: float
    read: float
    size: float


def run(scale: Scale) -> Result:
    """Measure lz4 and zstd against none, by turns."""
    total = scale.of(128 * MIB, 2 * MIB)
    batch = view_rows(int(MIB / (view_rows(1000).nbytes / 1000)))
    batches = max(2, total // batch.nbytes)
    measures: list[Measure] = []
    codecs: tuple[Compression, ...] = ("lz4", "zstd")
    for codec in codecs:
        measures += _compare(scale, codec, batch, batches)
    return Result(
        name="codecs",
        title="Compression of a typed topic",
        method=_METHOD,
        baseline="`compression=none`",
        scale=scale.name,
        sizes={"bytes a run": total, "pairs": scale.pairs},
        measures=tuple(measures),
    )


def _compare(
    scale: Scale, codec: Compression, batch: pa.Table, batches: int
) -> tuple[Measure, ...]:
    take = partial(_take, scale, batch, batches)
    take(codec)
    pairs = [(take(codec), take("none")) for _ in range(scale.pairs)]
    ours, plain = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return (
        Measure(
            label=f"{codec}: append",
            unit="MB/s",
            ours=tuple(taken.append for taken in ours),
            baseline=tuple(taken.append for taken in plain),
        ),
        Measure(
            label=f"{codec}: read",
            unit="MB/s",
            ours=tuple(taken.read for taken in ours),
            baseline=tuple(taken.read for taken in plain),
        ),
        Measure(
            label=f"{codec}: size on disk",
            unit="MB",
            ours=tuple(taken.size for taken in ours),
            baseline=tuple(taken.size for taken in plain),
            lower_is_better=True,
        ),
    )


def _take(scale: Scale, batch: pa.Table, batches: int, codec: Compression) -> _Taken:
    megabytes = batch.nbytes * batches / MEGABYTE
    with scale.home() as home, open_log(home) as log:
        config = TopicConfig(fsync="os", compression=codec)
        log.create_topic("t", schema=VIEWS, config=config)
        append = seconds(lambda: [log.append("t", 0, batch) for _ in range(batches)])
        read = seconds(lambda: _read_all(log))
        size = sum(file.stat().st_size for file in segment_files(home)) / MEGABYTE
    return _Taken(megabytes / append, megabytes / read, size)


def _read_all(log: EmbeddedLog) -> None:
    offset, end = 0, log.bounds("t", 0).end
    while offset < end:
        offset = log.read("t", 0, offset, ReadLimit()).next_offset
