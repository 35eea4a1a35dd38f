"""All topics of a program as one stream of packets, its offsets telling the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from typing_extensions import override

from penstock.errors import OffsetError
from penstock.log.port import Bounds, Log
from penstock.log.record import TopicPartition
from penstock.spark.batch import Batch, first_marks
from penstock.spark.file_clock import clock_at
from penstock.spark.foreseen import Foreseen
from penstock.spark.give_up import beyond, passed_over
from penstock.spark.notes import notes_file
from penstock.spark.program_admission import PacedLimits, admit_program
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_split import (
    NEVER_WHOLE,
    Crew,
    ProgramSplit,
    plan_program_splits,
)
from penstock.spark.progress_file import Left, left_at, left_before, read_start

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.spark.level import Level

# An idle query asks again and again, which costs a millisecond or two each time. A question waits
# for an append: the longer, the longer nothing has come, between these seconds. An append, a due
# time and the end of the query end the wait, so it costs no latency; who waits for a query to have
# nothing to do (`processAllAvailable`) waits as long as the first.
_PATIENCE = 0.25
_LONGEST_PATIENCE = 32.0
_LONGEST_IDLE = 8
# A step over more bytes than this is worth all cores, however few its rows.
_LITTLE_STATE = 16 * 1024 * 1024
# Spark knows limits by rows only; the real ones are in the options.
_LIMITED = ReadMaxRows(2**62)


class ProgramReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches: when rows have come, when something is due, and once at the end."""

    def __init__(
        self,
        options: ProgramOptions,
        log_of: Callable[[str], Log],
        level: Callable[[], type[Level]] | None = None,
    ) -> None:
        self._options = options
        self._log_of = log_of
        self._level = level or _level
        self._clock = clock_at(options.clock)
        self._target: dict[TopicPartition, int] | None = None
        self._limits = PacedLimits(options)
        self._idle = 0
        self._left: tuple[ProgramOffset, Left | None] | None = None
        self._foreseen = Foreseen(options)
        self._passed = passed_over(options.files)

    @override
    def initialOffset(self) -> dict[str, Any]:
        # Spark asks again when it repeats the first batch, and must hear the same.
        start = read_start(self._options.files.start)
        assert start is not None
        return start.offset.to_json()

    @override
    def getDefaultReadLimit(self) -> ReadLimit:
        return _LIMITED if self._limits.any else ReadAllAvailable()

    @override
    def prepareForTriggerAvailableNow(self) -> None:
        upto = {TopicPartition(name, part): at for name, part, at in self._options.upto}
        self._target = {at: min(end, upto.get(at, end)) for at, end in self._ends().items()}

    @override
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        begin = ProgramOffset.from_json(start)
        first = begin.marks is None
        drained = self._options.until == "drained"
        if begin.ended:
            return start
        begin.require_same_topics(self._log)
        foreseen = self._foreseen.after(begin, self._log)
        if foreseen is not None:
            return foreseen.to_json()
        if drained and not first:
            return start
        left = self._left_at(begin)
        begin = beyond(begin, self._passed)
        # A clock set backwards must not take back what has happened.
        now = max(begin.clock, self._clock.now())
        due = left is not None and left.wake_at is not None and left.wake_at <= now
        ends = self._target or self._ends()
        if not (due or self._target is not None or _has_more(begin, ends)):
            ends = self._wait(begin, left, now)
            now = max(begin.clock, self._clock.now())
            due = left is not None and left.wake_at is not None and left.wake_at <= now
        positions = dict(begin.positions)
        if not drained:
            reached = self._first_ones(begin, ends)
            limits = self._limits.after(left)
            positions = admit_program(self._log, begin.positions, reached, limits)
        ended = self._options.until == "end" and not _has_more_than(positions, ends)
        # Spark runs a first batch even where nothing has come yet: it needs a time, too.
        if not (first or due or ended or positions != begin.positions):
            return start
        marks = self._marks(left, now)
        return ProgramOffset(positions, begin.topics, now, marks, ended).to_json()

    @override
    def reportLatestOffset(self) -> dict[str, Any]:
        ids = {name: self._log.topic(name).topic_id for name in self._topics}
        return ProgramOffset(self._ends(), ids).to_json()

    @override
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        begin, stop = ProgramOffset.from_json(start), ProgramOffset.from_json(end)
        stop.require_same_topics(self._log)
        notes, whole_rows = self._notes(begin), self._whole_rows(begin)
        begin = beyond(begin, self._passed)
        self._require_kept(begin, stop)
        assert stop.marks is not None
        batch = Batch(stop.clock, begin.clock, stop.marks, stop.ended, notes)
        crew = Crew(self._options.tasks, self._options.task_rows, whole_rows)
        return plan_program_splits(self._options.scans, begin, stop, batch, crew)

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Only tasks read: the process that plans does without the kernel, and starts faster.
        from penstock.spark.dispatch import dispatch_of  # noqa: PLC0415
        from penstock.spark.packet import encoded  # noqa: PLC0415
        from penstock.spark.program_read import packet_rows, read_packets  # noqa: PLC0415

        assert isinstance(partition, ProgramSplit)
        options = self._options
        dispatch = dispatch_of(options.program, options.home, options.staging)
        dispatch = replace(dispatch, log_of=self._log_of)
        sent = read_packets(dispatch, partition)
        if partition.whole:
            for number in range(len(dispatch.program.physical.levels)):
                sent = self._level().of(options, number).through(dispatch, sent)
        yield packet_rows(encoded(sent, options.frames))

    @override
    def commit(self, end: dict[str, Any]) -> None:
        return

    @property
    def _log(self) -> Log:
        log = self._log_of(self._options.home)
        if not self._options.reads_files:
            return log
        from penstock.spark.inputs import input_log  # noqa: PLC0415
        from penstock.spark.stored_program import load_program  # noqa: PLC0415

        return input_log(log, load_program(self._options.program).physical)

    @property
    def _topics(self) -> list[str]:
        return sorted({topic for _, topic in self._options.scans})

    def _bounds(self) -> dict[TopicPartition, Bounds]:
        return self._log.snapshot(self._topics)

    def _ends(self) -> dict[TopicPartition, int]:
        return {place: bound.end for place, bound in self._bounds().items()}

    def _left_at(self, begin: ProgramOffset) -> Left | None:
        if self._left is None or self._left[0] != begin:
            self._left = (begin, left_at(self._options.files, begin))
        return self._left[1]

    def _first_ones(
        self, begin: ProgramOffset, ends: dict[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Hold back the other topics, of which nothing was read, while the first have rows."""
        first = {TopicPartition(topic, number): end for topic, number, end in self._options.first}
        done = begin.positions
        others = {at: done[at] for at in done if at not in first}
        if not others or not any(end > done.get(at, end) for at, end in first.items()):
            return ends
        start = read_start(self._options.files.start)
        if start is None or any(start.offset.positions.get(at) != others[at] for at in others):
            return ends
        return {**ends, **others}

    def _notes(self, begin: ProgramOffset) -> str:
        """Give the file that leads to what is remembered before a batch; none for the first."""
        start = read_start(self._options.files.start)
        first = start is not None and start.offset == begin
        return "" if first else str(notes_file(self._options.files, begin))

    def _whole_rows(self, begin: ProgramOffset) -> int | None:
        """Give up to how many rows a batch is done by one task: few, and over little state."""
        most = self._options.whole_rows
        if most is None:
            return None
        if self._left is not None and self._left[0] == begin:
            left = self._left[1]
        else:
            # One that is run again may have left its own already, which tells as well.
            left = left_before(self._options.files)
        state = 0 if left is None else sum(size for _, size in left.told["state"].values())
        return most if state <= _LITTLE_STATE else NEVER_WHOLE

    def _marks(self, left: Left | None, now: int) -> dict[str, Any]:
        if left is not None:
            return dict(left.marks)
        return first_marks(now)

    def _wait(self, begin: ProgramOffset, left: Left | None, now: int) -> dict[TopicPartition, int]:
        """Spend the pause before Spark's next question listening for an append."""
        if self._idle:
            patience = min(_LONGEST_PATIENCE, _PATIENCE * 2 ** (self._idle - 1))
            # Nothing tells when a clock in a file is moved.
            patience = _PATIENCE if self._options.clock else patience
            if left is not None and left.wake_at is not None:
                patience = min(patience, max(0.0, (left.wake_at - now) / 1000))
            self._log.wait(begin.positions, patience)
        ends = self._ends()
        self._idle = 0 if _has_more(begin, ends) else min(self._idle + 1, _LONGEST_IDLE)
        return ends

    def _require_kept(self, begin: ProgramOffset, stop: ProgramOffset) -> None:
        bounds = self._bounds()
        for place, at in begin.positions.items():
            if at < bounds[place].start and at < stop.positions[place]:
                raise OffsetError(
                    "OFFSET_EXPIRED",
                    f'the program is at offset {at} of partition "{place}", which now begins at'
                    f" {bounds[place].start}",
                    hint="Retention took records before they were read: start with a new"
                    " checkpoint, or raise the topic's retention.",
                )


def _level() -> type[Level]:
    # Only tasks ask for it, as above.
    from penstock.spark.level import Level  # noqa: PLC0415

    return Level


def _has_more(begin: ProgramOffset, ends: dict[TopicPartition, int]) -> bool:
    return _has_more_than(begin.positions, ends)


def _has_more_than(positions: Any, ends: dict[TopicPartition, int]) -> bool:  # noqa: ANN401
    return any(ends[place] > at for place, at in positions.items())
