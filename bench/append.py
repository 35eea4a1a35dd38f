"""Batch append against a plain file that is given the same rows' bytes, one write a batch."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from bench.measure import alternate, seconds
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.workload import (
    BATCH_BYTES,
    MEGABYTE,
    MIB,
    SHAPES,
    VIEWS,
    as_bytes,
    batch_sizes,
)
from penstock.log.open import open_log
from penstock.log.topic import Fsync, TopicConfig

_METHOD = (
    "Arrow tables are appended to a topic of one partition; the plain file gets the buffers of"
    " the same tables, already joined, by one `write` a batch. With `fsync=always` each append"
    " is on disk when it returns, and the plain file has one `fdatasync` a batch; with"
    " `fsync=os` neither syncs. MB/s count the bytes of the tables, so the log pays for its"
    " timestamps, frames and checksums."
)


@dataclass(frozen=True, slots=True)
class _Case:
    batch: pa.Table
    batches: int
    fsync: Fsync
    home: Path
    scale: Scale

    @property
    def megabytes(self) -> float:
        return int(self.batch.nbytes) * self.batches / MEGABYTE


def run(scale: Scale) -> Result:
    """Measure three batch sizes of three kinds of rows, synced and not."""
    total = scale.of(96 * MIB, 2 * MIB)
    most = scale.of(200, 4)
    fsyncs: tuple[Fsync, ...] = ("always", "os")
    measures = [
        _measure(scale, f"{shape}, batches of {size}", _batch(shape, size), fsync, (total, most))
        for fsync in fsyncs
        for shape in SHAPES
        for size in batch_sizes(scale)
    ]
    return Result(
        name="append",
        title="Batch append against a plain file",
        method=_METHOD,
        baseline="one `write` (and `fdatasync`) of the same bytes a batch",
        scale=scale.name,
        sizes={"bytes a run": total, "most batches a run": most, "pairs": scale.pairs},
        measures=tuple(measures),
    )


def _batch(shape: str, size: str) -> pa.Table:
    make = SHAPES[shape]
    record_bytes = make(1000).nbytes / 1000
    return make(int(BATCH_BYTES[size] / record_bytes))


def _measure(
    scale: Scale, label: str, batch: pa.Table, fsync: Fsync, amount: tuple[int, int]
) -> Measure:
    total, most = amount
    batches = max(2, min(most, total // batch.nbytes))
    with scale.home() as home:
        case = _Case(batch, batches, fsync, home, scale)
        pairs = alternate(
            partial(_append_to_log, case), partial(_write_plain, case), pairs=scale.pairs
        )
    return Measure(
        label=f"fsync={fsync}: {label}",
        unit="MB/s",
        ours=pairs.ours,
        baseline=pairs.baseline,
        target=Target("at least", 0.5) if fsync == "always" else None,
    )


def _append_to_log(case: _Case) -> float:
    schema = None if case.batch.schema.names == ["value"] else VIEWS
    with open_log(case.home) as log:
        log.create_topic("t", schema=schema, config=TopicConfig(fsync=case.fsync))
        log.append("t", 0, case.batch)
        # What earlier runs left to be written must not be written during this one.
        case.scale.settle()
        taken = seconds(partial(_times, case.batches, lambda: log.append("t", 0, case.batch)))
        log.delete_topic("t")
    return case.megabytes / taken


def _write_plain(case: _Case) -> float:
    path = case.home / "plain"
    data = as_bytes(case.batch)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        _write(file, data, case.fsync)
        case.scale.settle()
        taken = seconds(partial(_times, case.batches, lambda: _write(file, data, case.fsync)))
    finally:
        os.close(file)
        path.unlink()
    return case.megabytes / taken


def _write(file: int, data: bytes, fsync: Fsync) -> None:
    written = os.write(file, data)
    assert written == len(data), "a plain write to a local disk is whole"
    if fsync == "always":
        os.fdatasync(file)


def _times(count: int, work: Callable[[], object]) -> None:
    for _ in range(count):
        work()
