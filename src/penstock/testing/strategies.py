"""Hypothesis strategies for streams as they come: out of order, in batches, by partitions.

Hypothesis is not needed to run Penstock; it is imported when a strategy is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from penstock.testing.crash import CrashPoint

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that come together, by the partition they come from."""

    parts: Mapping[int, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One way in which the same rows reach a program."""

    batches: tuple[Batch, ...]

    @property
    def rows(self) -> list[Row]:
        """All rows in the order of their arrival."""
        return [row for batch in self.batches for rows in batch.parts.values() for row in rows]

    def to(self, topic: str) -> Iterator[dict[tuple[str, int], Sequence[Row]]]:
        """Give the batches as `TestDriver.push_together` takes them."""
        for batch in self.batches:
            yield {(topic, partition): rows for partition, rows in batch.parts.items()}


def disordered_rows(  # all but the columns have a default
    columns: dict[str, SearchStrategy[Any]],
    *,
    time: str = "at",
    disorder: int = 0,
    step: int = 1000,
    min_rows: int = 0,
    max_rows: int = 30,
) -> SearchStrategy[list[Row]]:
    """Give rows none of which is more than `disorder` ms behind the latest before it."""
    from hypothesis import strategies as st  # noqa: PLC0415

    @st.composite
    def rows(draw: st.DrawFn) -> list[Row]:
        latest = 0
        found: list[Row] = []
        row = st.fixed_dictionaries(
            {**columns, "": st.tuples(st.integers(0, step), st.integers(0, disorder))}
        )
        for drawn in draw(st.lists(row, min_size=min_rows, max_size=max_rows)):
            ahead, behind = drawn.pop("")
            latest += ahead
            found.append({**drawn, time: max(0, latest - behind)})
        return found

    return rows()


def batch_splits(rows: Sequence[Row], *, max_batches: int = 6) -> SearchStrategy[Delivery]:
    """Give the rows in their order from one partition, cut into batches anywhere."""
    return partitionings(rows, partitions=1, max_batches=max_batches)


def partitionings(
    rows: Sequence[Row], *, partitions: int = 3, max_batches: int = 6
) -> SearchStrategy[Delivery]:
    """Give the rows over partitions, cut into batches anywhere; each partition keeps its order.

    Where the rows are disordered by no more than their stream allows, none of them is late.
    """
    from hypothesis import strategies as st  # noqa: PLC0415

    size = len(rows)
    homes = st.lists(st.integers(0, partitions - 1), min_size=size, max_size=size)
    cuts = st.lists(st.integers(0, size), max_size=max_batches - 1).map(sorted)
    return st.builds(partial(_deliver, rows), cuts, homes)


def crashes(steps: Sequence[str], actions: int) -> SearchStrategy[CrashPoint]:
    """Give a place at which a run of so many actions dies."""
    from hypothesis import strategies as st  # noqa: PLC0415

    return st.builds(CrashPoint, st.integers(0, max(0, actions - 1)), st.sampled_from(steps))


def _deliver(rows: Sequence[Row], cuts: Sequence[int], homes: Sequence[int]) -> Delivery:
    batches = []
    for start, end in pairwise([0, *cuts, len(rows)]):
        parts: dict[int, list[Row]] = {}
        for row, home in zip(rows[start:end], homes[start:end], strict=True):
            parts.setdefault(home, []).append(row)
        if parts:
            batches.append(Batch(parts))
    return Delivery(tuple(batches))
