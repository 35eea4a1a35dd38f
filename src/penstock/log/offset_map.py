"""Which offset of a copy is which of its source: kept in a topic beside the copies.

Each batch of a copy writes down where its records landed, in its own transaction. So the map tells
of exactly the records that are there, also after kills.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.errors import TopicError
from penstock.log.mirror import Landing
from penstock.log.port import Log, ReadLimit, Transaction
from penstock.log.record import OFFSET_COLUMN, VALUE_COLUMN, TopicPartition
from penstock.log.rows import rows_of_bytes

MAP_TOPIC = "_penstock_offset_map"


class _Run(NamedTuple):
    """Records whose offsets follow one another on both sides."""

    source: int
    target: int
    length: int


class KeptMap:
    """Writes down where records land."""

    def __init__(self, target: Log) -> None:
        if MAP_TOPIC not in target.topics():
            target.create_topic(MAP_TOPIC)

    def saw(self, landing: Landing, transaction: Transaction) -> None:
        """Keep the offsets of some rows."""
        base, last, _ = landing.landed
        if last - base + 1 != landing.rows.num_rows:
            raise TopicError(
                "MIGRATE_TARGET_WRITTEN",
                f'somebody else writes to partition "{landing.source}" at the target',
                hint="Stop whoever writes there; delete the topic at the target, and begin again.",
            )
        said = {
            "source": landing.source_id,
            "target": landing.target_id,
            "partition": landing.source.partition,
            "runs": list(_runs(landing.rows, base)),
        }
        transaction.append(MAP_TOPIC, 0, rows_of_bytes([json.dumps(said).encode()]))


class OffsetMap:
    """The map as it was kept, to translate what was read up to where."""

    def __init__(self, source: Log, target: Log) -> None:
        self._source = source
        self._target = target
        self._runs: dict[tuple[str, str, int], list[_Run]] = {}
        for said in _documents(target):
            place = (said["source"], said["target"], said["partition"])
            self._runs.setdefault(place, []).extend(_Run(*run) for run in said["runs"])

    def translated(self, place: TopicPartition, offset: int) -> int:
        """Give the offset of the copy from which the same records come as from one of the source.

        A place between records leads to the next of them, the end to the end.
        """
        name, partition = place
        ids = self._source.topic(name).topic_id, self._target.topic(name).topic_id
        runs = self._runs.get((*ids, partition), [])
        at = bisect_right(runs, offset, key=lambda run: run.source + run.length)
        if at == len(runs):
            return runs[-1].target + runs[-1].length if runs else 0
        return runs[at].target + max(0, offset - runs[at].source)


def _runs(rows: pa.Table, base: int) -> Iterator[_Run]:
    offsets = rows.column(OFFSET_COLUMN).to_numpy()
    cuts = np.flatnonzero(np.diff(offsets) != 1) + 1
    firsts = [0, *cuts.tolist()]
    for first, after in zip(firsts, [*firsts[1:], len(offsets)], strict=True):
        yield _Run(int(offsets[first]), base + first, after - first)


def _documents(target: Log) -> Iterator[dict[str, Any]]:
    if MAP_TOPIC not in target.topics():
        return
    at, end = target.bounds(MAP_TOPIC, 0)
    while at < end:
        chunk = target.read(MAP_TOPIC, 0, at, ReadLimit())
        for value in chunk.rows.column(VALUE_COLUMN).to_pylist():
            yield json.loads(value)
        if chunk.next_offset <= at:
            return
        at = chunk.next_offset
