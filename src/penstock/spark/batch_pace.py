"""How many rows the next batch takes so that it lasts as long as its owner allows.

A batch costs something before its first row, and something for each. Both are learned from the
last batches by medians, so that one that was held up by something else teaches nothing wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import NamedTuple

REMEMBERED = 24
"""So many batches are learned from."""

_LATEST = 7
# Batches differ: aiming lower lets most of them, not half, stay within what is allowed.
_AIM = 0.8
_GROWTH = 4
# Batches whose sizes are closer than this tell costs apart by noise only.
_APART = 1.3


class Sample(NamedTuple):
    """A batch that is done: its rows, and how long it took."""

    rows: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a batch may last, and how few and how many rows it may have.

    Where the cost before the first row is most of what is allowed, smaller batches would only
    fall behind: then a batch lasts twice that cost.
    """

    milliseconds: float
    most: int
    least: int = 100
    first: int = 10_000

    def next_rows(self, samples: Sequence[Sample]) -> int:
        """Give the most rows of the next batch, by the batches before it, the last one last."""
        known = samples[-REMEMBERED:]
        # What a few rows take is the cost before the first one.
        latest = [sample for sample in known if sample.rows >= self.least][-_LATEST:]
        if not latest:
            return self._within(self.first)
        before = fixed_cost(known)
        by_row = median(max(0.0, took - before) / rows for rows, took in latest)
        aim = max(_AIM * self.milliseconds, 2 * before)
        largest = max(self.first, _GROWTH * max(rows for rows, _ in latest))
        wanted = (aim - before) / by_row if by_row > 0 else largest
        return self._within(min(wanted, largest))

    def _within(self, rows: float) -> int:
        return min(self.most, max(self.least, round(rows)))


def fixed_cost(samples: Sequence[Sample]) -> float:
    """Give what a batch costs before its first row; 0 where all had as many rows."""
    slopes = [
        (one.milliseconds - other.milliseconds) / (one.rows - other.rows)
        for one, other in combinations(samples, 2)
        if max(one.rows, other.rows) > _APART * min(one.rows, other.rows)
    ]
    if len(slopes) <= len(samples) // 2:
        return 0.0
    slope = max(0.0, median(slopes))
    left = median(took - slope * rows for rows, took in samples)
    return max(0.0, min(left, *(took for _, took in samples)))
