"""How much of several topics one micro-batch takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.spark.admission import BatchLimits, admit, share_rows
from penstock.spark.batch_pace import REMEMBERED, Pace, Sample
from penstock.spark.program_options import ProgramOptions
from penstock.spark.progress_file import Left

# A batch that was planned longer ago than this before its tasks ended was run again after a crash.
_LONGEST_PLANNING = 10_000

Positions = Mapping[TopicPartition, int]


def admit_program(
    log: Log, start: Positions, end: Positions, limits: BatchLimits
) -> dict[TopicPartition, int]:
    """Give the positions after a batch; topics share the limit by how much each has waiting."""
    ends = {place: max(at, end[place]) for place, at in start.items()}
    topics = sorted({place.topic for place in start})
    waiting = {
        number: sum(ends[place] - at for place, at in start.items() if place.topic == topic)
        for number, topic in enumerate(topics)
    }
    shares = waiting if limits.rows is None else share_rows(waiting, limits.rows)
    admitted: dict[TopicPartition, int] = {}
    for number, topic in enumerate(topics):
        begin = {place.partition: at for place, at in start.items() if place.topic == topic}
        stop = {partition: ends[TopicPartition(topic, partition)] for partition in begin}
        if waiting[number] and shares[number]:
            own = limits if limits.rows is None else replace(limits, rows=shares[number])
            begin = admit(log, topic, begin, stop, own)
        admitted.update({TopicPartition(topic, part): at for part, at in begin.items()})
    return admitted


class PacedLimits:
    """The limits of batches, where their owner has said how long one may last.

    What was learned is lost with the planner: then it begins with the last batch, which has left
    its size and its time in the checkpoint.
    """

    def __init__(self, options: ProgramOptions) -> None:
        self._limits = options.limits
        self._latency = options.latency
        self._scans = frozenset(scan for scan, _ in options.scans)
        self._samples: list[Sample] = []
        self._last: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return self._limits.any or self._latency > 0

    def after(self, left: Left | None) -> BatchLimits:
        """Give the limits of the batch that follows one."""
        if not self._latency:
            return self._limits
        if left is not None and left.batch != self._last:
            self._last = left.batch
            self._samples = [*self._samples[1 - REMEMBERED :], sample_of(left, self._scans)]
        pace = Pace(1000 * self._latency, self._limits.rows or 2**62)
        return replace(self._limits, rows=pace.next_rows(self._samples))


def sample_of(left: Left, scans: frozenset[str]) -> Sample:
    """Give the size of a batch, and its time from when it was planned until its rows were ready."""
    told = left.told
    rows = sum(numbers[0] for step, numbers in told["counts"].items() if step in scans)
    tasks = float(told["millis"])
    whole = float(told.get("ready_at", 0)) - float(told["clock"])
    return Sample(rows, whole if tasks <= whole <= tasks + _LONGEST_PLANNING else tasks)
