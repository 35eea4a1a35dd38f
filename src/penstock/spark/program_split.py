"""What one reading task of a program does: a range of offsets for one scan."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition

from penstock.spark.batch import Batch
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.split import Split, plan_splits


@dataclass(frozen=True)
class ProgramSplit(InputPartition):
    """Offsets to read for one scan, none where the batch only tells the time.

    `number` puts the packets of tasks in order; the first tells the others' time.
    """

    number: int
    batch: Batch
    at: ProgramOffset
    scan: str = ""
    topic: str = ""
    range: Split | None = None

    @property
    def first(self) -> bool:
        """Whether this is the one that tells the time."""
        return self.number == 0


def plan_program_splits(
    scans: tuple[tuple[str, str], ...],
    start: ProgramOffset,
    end: ProgramOffset,
    batch: Batch,
    *,
    tasks: int,
) -> list[ProgramSplit]:
    """Give the tasks of a batch: at least one, since the time reaches every bucket.

    `scans` are ids with their topics.
    """
    ranges = [
        (scan, topic, split)
        for scan, topic in scans
        for split in plan_splits(_of_topic(start, topic), _of_topic(end, topic), min_tasks=tasks)
    ]
    if not ranges:
        return [ProgramSplit(0, batch, end)]
    return [
        ProgramSplit(number, batch, end, scan, topic, split)
        for number, (scan, topic, split) in enumerate(ranges)
    ]


def _of_topic(offset: ProgramOffset, topic: str) -> dict[int, int]:
    return {place.partition: at for place, at in offset.positions.items() if place.topic == topic}
