"""A range of offsets of one partition: what one Spark task reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition

# Below this many rows a second task costs more to start than it saves.
FEWEST_ROWS = 200_000


@dataclass(frozen=True)
class Split(InputPartition):
    """Offsets from `start` up to, not including, `stop`."""

    partition: int
    start: int
    stop: int


def plan_splits(
    start: Mapping[int, int], stop: Mapping[int, int], *, min_tasks: int = 1
) -> list[Split]:
    """Give a task to each partition that has records, and several to a long backlog.

    The splits of a partition follow one another, so its order survives into the sink.
    """
    ranges = {
        partition: (start[partition], end)
        for partition, end in sorted(stop.items())
        if end > start[partition]
    }
    if not ranges:
        return []
    rows = sum(end - begin for begin, end in ranges.values())
    size = max(FEWEST_ROWS, -(-rows // min_tasks))
    return [
        Split(partition, begin, end)
        for partition, within in ranges.items()
        for begin, end in _pieces(within, size)
    ]


def _pieces(within: tuple[int, int], size: int) -> Iterator[tuple[int, int]]:
    begin, end = within
    # Rounded, not up: a rest that is a little longer than a piece is not worth a task.
    count = max(1, round((end - begin) / size))
    bounds = [begin + (end - begin) * number // count for number in range(count + 1)]
    yield from itertools.pairwise(bounds)
