"""What one reading task of a program does: ranges of offsets, each for one scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyspark.sql.datasource import InputPartition

from penstock.spark.batch import Batch
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.split import Split, plan_splits

NEVER_WHOLE = -1
"""Up to how many rows one task does the whole batch, where none is to."""


class Range(NamedTuple):
    """Offsets of one partition to be read for one scan."""

    scan: str
    topic: str
    split: Split

    @property
    def rows(self) -> int:
        """How many offsets there are in it."""
        return self.split.stop - self.split.start


@dataclass(frozen=True)
class ProgramSplit(InputPartition):
    """What one task reads: nothing where the batch only tells the time.

    `number` puts the packets of tasks in order; the first tells the others' time. The one task
    of a `whole` batch takes what it reads through all levels, too.
    """

    number: int
    batch: Batch
    at: ProgramOffset
    ranges: tuple[Range, ...] = ()
    whole: bool = False

    @property
    def first(self) -> bool:
        """Whether this is the one that tells the time."""
        return self.number == 0


class Crew(NamedTuple):
    """How many tasks there are at most, and how many rows are worth one.

    Up to `whole_rows` one task does the whole batch: none where no task of the program ever does.
    """

    tasks: int
    task_rows: int = 1
    whole_rows: int | None = None

    def for_rows(self, rows: int) -> int:
        """Give how many tasks take so many rows."""
        return max(1, min(self.tasks, round(rows / self.task_rows)))


def plan_program_splits(
    scans: Sequence[tuple[str, str]],
    start: ProgramOffset,
    end: ProgramOffset,
    batch: Batch,
    crew: Crew,
) -> list[ProgramSplit]:
    """Give the tasks of a batch: at least one, since the time reaches every bucket.

    `scans` are ids with their topics. Short ranges share a task: each one costs a start. Of a
    program that may have whole batches, one task alone always does the whole.
    """
    ranges = [
        Range(scan, topic, split)
        for scan, topic in scans
        for split in plan_splits(
            _of_topic(start, topic), _of_topic(end, topic), min_tasks=crew.tasks
        )
    ]
    if crew.whole_rows is not None and sum(found.rows for found in ranges) <= crew.whole_rows:
        return [ProgramSplit(0, batch, end, tuple(ranges), whole=True)]
    groups = _dealt(ranges, crew) or [()]
    if crew.whole_rows is not None and len(groups) == 1:
        groups.append(())
    return [ProgramSplit(number, batch, end, group) for number, group in enumerate(groups)]


def _dealt(ranges: list[Range], crew: Crew) -> list[tuple[Range, ...]]:
    """Deal ranges out evenly, neighbours together: so a partition's pieces keep their order."""
    total = sum(found.rows for found in ranges)
    tasks = crew.for_rows(total)
    groups: dict[int, list[Range]] = {}
    before = 0
    for found in ranges:
        middle = before + found.rows / 2
        groups.setdefault(int(middle * tasks / total), []).append(found)
        before += found.rows
    return [tuple(group) for group in groups.values()]


def _of_topic(offset: ProgramOffset, topic: str) -> dict[int, int]:
    return {place.partition: at for place, at in offset.positions.items() if place.topic == topic}
