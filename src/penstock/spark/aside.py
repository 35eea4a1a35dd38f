"""Many rows of a task's outputs are written aside, in the process that made them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from penstock.connect.results import stored_tables
from penstock.kernel.port import Frame
from penstock.log.port import Log
from penstock.model.physical import Physical
from penstock.schema.codec.codec_cache import CodecCache
from penstock.spark.output import outlets
from penstock.spark.route import Routed
from penstock.spark.stage import FOR_STORE, Staged, stage

_STAGED_FROM_BYTES = 1024 * 1024
"""Fewer bytes travel in the packet: the sink appends them without a file in between."""


@dataclass(frozen=True, slots=True)
class Staging:
    """Where a task writes rows aside, and the clock of its batch."""

    home: str
    owner: str
    task: int
    clock: int
    codecs: CodecCache = field(default_factory=CodecCache)


def staged_outputs(
    outputs: Sequence[tuple[str, Frame]],
    physical: Physical,
    log_of: Callable[[str], Log],
    where: Staging,
) -> Staged | None:
    """Write many rows aside, in the process that made them; none where they are few."""
    if sum(frame.estimated_size() for _, frame in outputs) < _STAGED_FROM_BYTES:
        return None
    log, found, tables = log_of(where.home), outlets(physical), stored_tables(physical)

    def routed() -> Iterator[Routed]:
        for target, frame in outputs:
            if target in tables:
                yield from _for_store(target, frame.select(tables[target].needed()))
            else:
                yield from found[target].routed(log, frame, where.clock, where.codecs)

    return stage(log, where.home, where.owner, where.task, routed())


def store_target(topic: str) -> str | None:
    """Give the target in a store that staged rows are for; none where they are for a topic."""
    return topic.removeprefix(FOR_STORE) if topic.startswith(FOR_STORE) else None


def _for_store(target: str, frame: Frame) -> Iterator[Routed]:
    for batch in frame.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches():
        yield Routed(f"{FOR_STORE}{target}", 0, batch)
