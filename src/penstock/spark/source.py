"""A topic as Spark reads it: a table of its history, or a stream from any position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType
from typing_extensions import override

from penstock.errors import OffsetError, TopicError
from penstock.log.port import Bounds, Log
from penstock.log.record import TopicPartition
from penstock.spark.admission import NO_LIMITS, Offsets, admit
from penstock.spark.filters import Scope, narrow
from penstock.spark.options import SourceOptions
from penstock.spark.position import resolve_positions
from penstock.spark.scan import Scan, scan
from penstock.spark.schema import arrow_schema, check_readable, log_columns
from penstock.spark.split import Split, plan_splits

if TYPE_CHECKING:
    import pyarrow as pa

# An idle query asks again and again: each question waits this long for an append, in seconds.
_PATIENCE = 0.05
# Spark knows limits by rows only; the real ones are in the options.
_LIMITED = ReadMaxRows(2**62)


class TopicReader(DataSourceReader):
    """The history of a topic, up to the moment the query is planned."""

    def __init__(
        self, options: SourceOptions, schema: StructType, log_of: Callable[[str], Log]
    ) -> None:
        self._options = options
        self._schema = schema
        self._log_of = log_of
        self._scope = Scope()
        check_readable(schema, log_of(options.home).topic(options.topic))

    @override
    def pushFilters(self, filters: list[Filter]) -> list[Filter]:
        self._scope, left = narrow(self._scope, filters)
        return left

    @override
    def partitions(self) -> list[Split]:
        log, topic = self._log_of(self._options.home), self._options.topic
        bounds = _bounds(log, topic)
        start = resolve_positions(self._options.start, log, topic, bounds)
        stop = resolve_positions(self._options.stop, log, topic, bounds)
        ranges = {
            partition: self._narrowed(log, partition, bounds[partition], (at, stop[partition]))
            for partition, at in start.items()
            if self._scope.includes(partition)
        }
        return plan_splits(
            {partition: begin for partition, (begin, _) in ranges.items()},
            {partition: end for partition, (_, end) in ranges.items()},
            min_tasks=self._options.min_tasks,
        )

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Where there is nothing to read, Spark plans a partition of its own.
        if isinstance(partition, Split):
            what = _scan(self._options, self._schema, self._scope)
            yield from scan(self._log_of(self._options.home), what, partition)

    def _narrowed(
        self, log: Log, partition: int, bound: Bounds, within: tuple[int, int]
    ) -> tuple[int, int]:
        begin, end = within
        offsets, times = self._scope.offsets, self._scope.times
        if times.first > 0:
            # Whatever the order of the timestamps, no record before this one is as late.
            found = log.offset_at_time(self._options.topic, partition, times.first)
            begin = max(begin, bound.end if found is None else found)
        return max(begin, offsets.first), min(end, offsets.last + 1)


class TopicStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A topic from a position on; an offset names its id and the next of each partition."""

    def __init__(
        self, options: SourceOptions, schema: StructType, log_of: Callable[[str], Log]
    ) -> None:
        self._options = options
        self._schema = schema
        self._log_of = log_of
        self._target: Offsets | None = None
        self._idle = False
        check_readable(schema, self._log.topic(options.topic))

    @override
    def initialOffset(self) -> dict[str, Any]:
        log, topic = self._log, self._options.topic
        return self._encoded(resolve_positions(self._options.start, log, topic, self._bounds()))

    @override
    def getDefaultReadLimit(self) -> ReadLimit:
        return _LIMITED if self._options.limits.any else ReadAllAvailable()

    @override
    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._ends()

    @override
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        begin = self._decoded(start)
        end = self._ends() if self._target is None else self._target
        if self._target is None and not _has_more(begin, end):
            end = self._wait(begin)
        unlimited = isinstance(limit, ReadAllAvailable)
        limits = NO_LIMITS if unlimited else self._options.limits
        end = {partition: max(at, end[partition]) for partition, at in begin.items()}
        return self._encoded(admit(self._log, self._options.topic, begin, end, limits))

    @override
    def reportLatestOffset(self) -> dict[str, Any]:
        return self._encoded(self._ends())

    @override
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        begin, stop = self._decoded(start), self._decoded(end)
        bounds = self._bounds()
        for partition, at in begin.items():
            if at < bounds[partition].start and at < stop[partition]:
                raise OffsetError(
                    "OFFSET_EXPIRED",
                    f"the query is at offset {at} of partition"
                    f' "{self._options.topic}-{partition}", which now begins at'
                    f" {bounds[partition].start}",
                    hint="Retention took records before they were read: start a new query, or"
                    " raise the topic's retention.",
                )
        return plan_splits(begin, stop, min_tasks=self._options.min_tasks)

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Split)
        yield from scan(self._log, _scan(self._options, self._schema, Scope()), partition)

    @override
    def commit(self, end: dict[str, Any]) -> None:
        if self._options.group:
            topic = self._options.topic
            offsets = {TopicPartition(topic, p): at for p, at in self._decoded(end).items()}
            self._log.commit(self._options.group, offsets)

    @property
    def _log(self) -> Log:
        return self._log_of(self._options.home)

    def _bounds(self) -> dict[int, Bounds]:
        return _bounds(self._log, self._options.topic)

    def _ends(self) -> Offsets:
        return {partition: bound.end for partition, bound in self._bounds().items()}

    def _wait(self, begin: Offsets) -> Offsets:
        """Spend the pause before Spark's next question listening for an append."""
        if self._idle:
            topic = self._options.topic
            at = {TopicPartition(topic, partition): offset for partition, offset in begin.items()}
            self._log.wait(at, _PATIENCE)
        end = self._ends()
        self._idle = not _has_more(begin, end)
        return end

    def _encoded(self, offsets: Offsets) -> dict[str, Any]:
        topic = self._log.topic(self._options.topic)
        named = {str(partition): offset for partition, offset in sorted(offsets.items())}
        return {"topic": topic.name, "id": topic.topic_id, "offsets": named}

    def _decoded(self, offset: Mapping[str, Any]) -> Offsets:
        topic = self._log.topic(self._options.topic)
        if offset["id"] != topic.topic_id:
            raise TopicError(
                "TOPIC_REPLACED",
                f'the query has read another topic than the "{topic.name}" of today',
                hint="It was deleted and created again, or the option changed: use a new"
                " checkpointLocation.",
            )
        return {int(partition): at for partition, at in offset["offsets"].items()}


def _bounds(log: Log, topic: str) -> dict[int, Bounds]:
    snapshot = log.snapshot([topic])
    return {at.partition: bound for at, bound in sorted(snapshot.items())}


def _has_more(begin: Offsets, end: Offsets) -> bool:
    return any(end[partition] > at for partition, at in begin.items())


def _scan(options: SourceOptions, schema: StructType, scope: Scope) -> Scan:
    return Scan(
        topic=options.topic,
        columns=log_columns(schema),
        wanted=arrow_schema(schema),
        times=scope.times,
    )
