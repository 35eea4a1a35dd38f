"""Windows with evictors: what leaves a window before or after it is given out.

One that fires by count without being emptied is a buffer with two policies; in any other
window an evictor decides only which rows a result is computed of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.window import Buffered, ByCount, ByDelta, ByTime, Policy
from penstock.schema.types import INT64
from tests.conformance.dataflow_program import TIME, Recipe, source
from tests.conformance.dataflow_time import duration, span
from tests.conformance.dataflow_words import VALUE, Words

Held: TypeAlias = list[tuple[int, int]]
"""Values and times in the order of their arrival."""


def is_buffer(given: Words) -> bool:
    """Whether a case has an evictor and fires by count again and again."""
    counts = isinstance(given.get("trigger"), Mapping) and "count" in given["trigger"]
    return "evictor" in given and counts and not given.get("fire_and_purge")


def evicting_buffer(evictor: Words, every: int) -> Buffered:
    """Give the buffer that fires every so many rows."""
    after = "after" in str(evictor.get("when", "before"))
    order = "insert-fire-evict" if after else "insert-evict-fire"
    return Buffered("sliding", policy_of(evictor), ByCount(every), order=order)  # type: ignore[arg-type]


def policy_of(words: Words) -> Policy:
    """Read which rows stay: those near the newest, the last so many, or those alike."""
    for name, given in words.items():
        limit = next(iter(given.values())) if isinstance(given, Mapping) else given
        if "delta" in name or "threshold" in name:
            # A row leaves where the difference reaches the threshold, not only beyond it.
            return ByDelta(VALUE, math.nextafter(float(limit), -math.inf))
        if "newest" in name or "time" in name or "within" in name:
            return ByTime(duration(limit))
        if "last" in name or "count" in name or "keep" in name:
            return ByCount(limit)
    message = f"no evictor: {words}"
    raise ValueError(message)


def evicting_window(recipe: Recipe, evictor: Words) -> Aggregate:
    """Give a window whose result is the sum of the rows that the evictor leaves."""
    before = "after" not in str(evictor.get("when", "before"))
    left = Measure(
        VALUE,
        "user",
        (Column(VALUE), Column(TIME)),
        user=SumOfTheLeft(policy_of(evictor) if before else None),
        gives=INT64,
    )
    return Aggregate(
        source(INT64), recipe.keys, (left,), recipe.window, recipe.trigger, recipe.refinement
    )


class SumOfTheLeft:
    """Adds up the rows of a window that a policy leaves."""

    def __init__(self, policy: Policy | None) -> None:
        self._policy = policy

    def init(self) -> Held:
        return []

    def add(self, accumulator: Held, value: int, time: int) -> Held:
        return [*accumulator, (value, time)]

    def merge(self, one: Held, other: Held) -> Held:
        return [*one, *other]

    def retract(self, accumulator: Held, value: int, time: int) -> Held:
        rest = list(accumulator)
        rest.remove((value, time))
        return rest

    def result(self, accumulator: Held) -> int:
        return sum(value for value, _ in self._left(accumulator))

    def _left(self, held: Held) -> Held:
        match self._policy:
            case ByCount(rows):
                return held[-rows:]
            case ByTime(length):
                newest = max((time for _, time in held), default=0)
                cutoff = newest - span(length.total_seconds() * 1000)
                return [item for item in held if item[1] > cutoff]
            case ByDelta(size=size):
                return [item for item in held if held[-1][0] - item[0] <= size]
            case _:
                return held
