"""Records without a key stay on one partition for a batch, then go on to another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from penstock.errors import TopicError

Partitions: TypeAlias = npt.NDArray[np.int32]
Sizes: TypeAlias = npt.NDArray[np.int64]


class StickyChoice:
    """The partition that one topic's records without a key go to, until a batch is full.

    The next one is drawn at random, evenly, or in proportion to how little waits to be
    written there once `weigh` has told. `draw` gives whole numbers from 0 upwards.
    """

    __slots__ = ("_batch_bytes", "_current", "_draw", "_filled", "_weights")

    def __init__(self, *, batch_bytes: int, draw: Callable[[], int]) -> None:
        if batch_bytes < 1:
            raise TopicError(
                "STICKY_BATCH_SIZE",
                f"a sticky batch of {batch_bytes} bytes holds no record",
                hint="Give a batch size of 1 byte or more.",
            )
        self._batch_bytes = batch_bytes
        self._draw = draw
        self._current: int | None = None
        self._filled = 0
        self._weights: dict[int, int] = {}

    def current(self, partitions: int, available: Sequence[int] | None = None) -> int:
        """Tell where the next record goes; a partition that is not available is left."""
        lost = available and self._current not in available
        if self._current is None or self._current >= partitions or lost:
            return self._switch(partitions, available)
        return self._current

    def add(self, size: int, partitions: int, available: Sequence[int] | None = None) -> None:
        """Count bytes sent to the current partition; a full batch moves on."""
        self._filled += size
        if self._filled >= self._batch_bytes:
            self._switch(partitions, available)

    def on_new_batch(
        self, previous: int, partitions: int, available: Sequence[int] | None = None
    ) -> None:
        """Move on because a batch was begun, unless the choice has left `previous` already."""
        if self._current == previous:
            self._switch(partitions, available)

    def weigh(self, queued: Mapping[int, int] | None, partitions: int) -> None:
        """Prefer partitions with less waiting; None, one partition or equal queues: no preference.

        Partitions left out of `queued` are not chosen while it holds.
        """
        even = queued is None or (len(queued) == partitions and len(set(queued.values())) == 1)
        if even or not queued or partitions == 1:
            self._weights = {}
            return
        most = max(queued.values()) + 1
        self._weights = {partition: most - size for partition, size in queued.items()}

    def pick(
        self,
        partitions: int,
        available: Sequence[int] | None = None,
        *,
        avoid: int | None = None,
    ) -> int:
        """Draw a partition: an available one where there is one, another than `avoid` if it can."""
        candidates = range(partitions) if available is None else available
        weights = {item: self._weights[item] for item in candidates if item in self._weights}
        if weights:
            ends = list(accumulate(weights.values()))
            return list(weights)[bisect_right(ends, self._draw() % ends[-1])]
        if not candidates:
            return self._draw() % partitions
        others = [partition for partition in candidates if partition != avoid] or candidates
        return others[self._draw() % len(others)]

    def spread(
        self, sizes: Sizes, partitions: int, available: Sequence[int] | None = None
    ) -> Partitions:
        """Choose for many records at once, by their sizes in bytes."""
        chosen = np.empty(len(sizes), dtype=np.int32)
        sums = np.cumsum(sizes)
        row, sent = 0, 0
        while row < len(sizes):
            full = sent + self._batch_bytes - self._filled
            end = min(int(np.searchsorted(sums, full)) + 1, len(sizes))
            chosen[row:end] = self.current(partitions, available)
            self.add(int(sums[end - 1]) - sent, partitions, available)
            row, sent = end, int(sums[end - 1])
        return chosen

    def runs(
        self, records: int, size: int, partitions: int, available: Sequence[int] | None = None
    ) -> Iterator[tuple[int, slice]]:
        """Choose for many records of about the same size: whole runs of them, in their order."""
        average = max(1, size // max(1, records))
        row = 0
        while row < records:
            room = max(1, (self._batch_bytes - self._filled) // average)
            run = slice(row, min(row + room, records))
            yield self.current(partitions, available), run
            self.add((run.stop - row) * average, partitions, available)
            row = run.stop

    def _switch(self, partitions: int, available: Sequence[int] | None) -> int:
        self._filled = 0
        self._current = self.pick(partitions, available, avoid=self._current)
        return self._current
