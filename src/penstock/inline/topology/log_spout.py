"""A spout that reads a topic, and commits what is done of it and nothing else."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from penstock.errors import RunError
from penstock.log.consumer import Consumer
from penstock.log.open import open_log
from penstock.log.record import Record, TopicPartition
from penstock.model.topology_settings import Config
from penstock.model.topology_work import OutputDeclarer, Spout, SpoutCollector, TaskContext

if TYPE_CHECKING:
    from penstock.log.port import Log

FIELDS = ("key", "value", "timestamp", "partition", "offset")


class _Place(NamedTuple):
    partition: int
    offset: int


class LogSpout(Spout):
    """Emits the records of a topic with `key`, `value`, `timestamp`, `partition`, `offset`.

    The partitions are shared by the spout's tasks. What fails is emitted again, before anything
    new; with `most_tries`, the run stops at a record that failed so often. The group's offset in
    a partition is that of the first record which is not done, so that a run which was killed
    goes on there: no record is missing, and some may come twice. A group has one run at a time.
    """

    def __init__(
        self,
        topic: str,
        *,
        group: str,
        home: Path | str | None = None,
        commit_every: int = 500,
        most_tries: int | None = None,
    ) -> None:
        self._topic = topic
        self._group = group
        self._home = home
        self._commit_every = commit_every
        self._most_tries = most_tries

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        """The fields of a record."""
        declarer.declare(*FIELDS)

    @override
    def open(self, config: Config, context: TaskContext, collector: SpoutCollector) -> None:
        """Go on where the group is, in this task's partitions."""
        self._collector = collector
        self._log: Log = open_log(self._home) if self._home is None else open_log(str(self._home))
        count = self._log.topic(self._topic).partitions
        mine = range(context.index, count, len(context.brothers))
        self._consumer = Consumer(
            self._log, partitions=[TopicPartition(self._topic, number) for number in mine]
        )
        for place, offset in self._log.committed(self._group).items():
            if place in self._consumer.assignment:
                self._consumer.seek(place, offset)
        self._read: deque[Record] = deque()
        self._again: deque[_Place] = deque()
        # In the order of emission, so the first of a partition is the earliest that is not done.
        self._open_records: dict[int, dict[int, Record]] = {number: {} for number in mine}
        self._emitted = {
            number: self._consumer.position(TopicPartition(self._topic, number)) for number in mine
        }
        self._committed: dict[TopicPartition, int] = {}
        self._tries: dict[_Place, int] = {}
        self._done = 0

    @override
    def next_tuple(self) -> None:
        """Emit a record again that failed, or else the next one."""
        if self._again:
            place = self._again.popleft()
            self._emit(self._open_records[place.partition][place.offset])
            return
        if not self._read:
            self._read.extend(self._consumer.poll(0))
        if not self._read:
            self._commit()
            return
        record = self._read.popleft()
        self._open_records[record.partition][record.offset] = record
        self._emitted[record.partition] = record.offset + 1
        self._emit(record)

    @override
    def ack(self, message_id: object) -> None:
        """Forget a record; now and then commit."""
        assert isinstance(message_id, _Place)
        self._open_records[message_id.partition].pop(message_id.offset, None)
        self._tries.pop(message_id, None)
        self._done += 1
        if self._done >= self._commit_every:
            self._commit()

    @override
    def fail(self, message_id: object) -> None:
        """Emit a record again soon; one that failed too often stops the run."""
        assert isinstance(message_id, _Place)
        tries = self._tries[message_id] = self._tries.get(message_id, 0) + 1
        if self._most_tries is not None and tries >= self._most_tries:
            raise RunError(
                "SPOUT_GAVE_UP",
                f'record {message_id.offset} of partition {message_id.partition} of "{self._topic}"'
                f" failed {tries} times",
                hint="The log tells what the bolts said; mend them, or move the group past it.",
            )
        self._again.append(message_id)

    @override
    def close(self) -> None:
        """Commit what is done, and let go of the log."""
        try:
            self._commit()
        finally:
            self._consumer.close()
            self._log.close()

    def _emit(self, record: Record) -> None:
        values = (record.key, record.value, record.timestamp, record.partition, record.offset)
        self._collector.emit(values, message_id=_Place(record.partition, record.offset))

    def _commit(self) -> None:
        self._done = 0
        first = {
            TopicPartition(self._topic, number): min(records, default=self._emitted[number])
            for number, records in self._open_records.items()
        }
        moved = {place: at for place, at in first.items() if self._committed.get(place) != at}
        if moved:
            self._log.commit(self._group, moved)
            self._committed.update(moved)
