"""Which topic and partition each row goes to, as a producer would choose them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.clock import SYSTEM_CLOCK
from penstock.errors import SchemaError, TopicError
from penstock.log.partitioner import DefaultPartitioner
from penstock.log.port import Log
from penstock.log.record import (
    KEY_COLUMN,
    OFFSET_COLUMN,
    PARTITION_COLUMN,
    SYSTEM_COLUMNS,
    TOPIC_COLUMN,
)
from penstock.log.rows import fit_rows, integer_array, record_sizes, value_schema
from penstock.log.topic import Topic

_STICKY_BYTES = 1024 * 1024


class Routed(NamedTuple):
    """Rows for one partition, ready to append."""

    topic: str
    partition: int
    rows: pa.RecordBatch


class Router:
    """Sends the rows of one task to their partitions."""

    def __init__(self, log: Log, *, topic: str) -> None:
        self._log = log
        self._topic = topic
        self._topics: dict[str, Topic] = {}
        # Larger than a producer's batches: rows come by the thousand, and pieces cost calls.
        self._partitioner = DefaultPartitioner(batch_bytes=_STICKY_BYTES)

    def route(self, batch: pa.RecordBatch) -> Iterator[Routed]:
        """Give the rows of a batch, by topic and partition, each in their order."""
        for name, rows in self._by_topic(batch):
            topic = self._topic_of(name)
            fitted = fit_rows(_own_columns(rows, topic), topic, SYSTEM_CLOCK.now())
            if KEY_COLUMN not in rows.column_names and PARTITION_COLUMN not in rows.column_names:
                choice = self._partitioner.choice(name)
                for partition, run in choice.runs(len(fitted), fitted.nbytes, topic.partitions):
                    yield Routed(name, partition, fitted[run])
                continue
            for partition, chosen in _by_partition(self._partitions(rows, topic)):
                taken = fitted if chosen is None else fitted.take(integer_array(chosen))
                yield Routed(name, partition, taken)

    def _by_topic(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Table]]:
        rows = pa.Table.from_batches([batch])
        if not rows.num_rows:
            return
        if TOPIC_COLUMN not in rows.column_names:
            yield self._topic, rows
            return
        names = rows.column(TOPIC_COLUMN)
        if self._topic:
            names = names.fill_null(self._topic)
        for name in names.unique().to_pylist():
            if name is None:
                raise TopicError(
                    "ROW_TOPIC",
                    f'a row has no "{TOPIC_COLUMN}", and the sink has no topic of its own',
                    hint='Fill the column, or add .option("topic", ...) for such rows.',
                )
            yield name, rows.filter(pc.equal(names, name))

    def _topic_of(self, name: str) -> Topic:
        if name not in self._topics:
            self._topics[name] = self._log.topic(name)
        return self._topics[name]

    def _partitions(self, rows: pa.Table, topic: Topic) -> npt.NDArray[np.int32]:
        keys = None
        if KEY_COLUMN in rows.column_names:
            keys = _one_array(rows.column(KEY_COLUMN)).cast(pa.binary())
        # Only records without a key are spread by their size.
        keyed = keys is not None and keys.null_count == 0
        sizes = np.zeros(0, np.int64) if keyed else record_sizes(rows)
        chosen = self._partitioner.partition(topic.name, keys, sizes, topic.partitions)
        if PARTITION_COLUMN in rows.column_names:
            given = _one_array(rows.column(PARTITION_COLUMN)).cast(pa.int32())
            named = given.is_valid().to_numpy(zero_copy_only=False)
            numbers = given.fill_null(0).to_numpy(zero_copy_only=False)
            _check_partitions(numbers[named], topic)
            chosen = np.where(named, numbers, chosen)
        return chosen.astype(np.int32, copy=False)


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _own_columns(rows: pa.Table, topic: Topic) -> pa.Table:
    """Leave out what routes the row and, where topics are mixed, the empty columns of others."""
    own = {*SYSTEM_COLUMNS, *value_schema(topic).names} - {OFFSET_COLUMN}
    mixed = TOPIC_COLUMN in rows.column_names
    left_out = {PARTITION_COLUMN, TOPIC_COLUMN, OFFSET_COLUMN}
    for name in rows.column_names:
        if mixed and name not in own and rows.column(name).null_count == rows.num_rows:
            left_out.add(name)
    return rows.drop_columns([name for name in rows.column_names if name in left_out])


def _check_partitions(numbers: npt.NDArray[np.int32], topic: Topic) -> None:
    wrong = numbers[(numbers < 0) | (numbers >= topic.partitions)]
    if len(wrong):
        raise SchemaError(
            "ROW_PARTITION",
            f'a row names partition {wrong[0]} of topic "{topic.name}", which has'
            f" {topic.partitions}",
            hint=f'Drop the column "{PARTITION_COLUMN}" to have partitions chosen by key.',
        )


def _by_partition(
    partitions: npt.NDArray[np.int32],
) -> Iterator[tuple[int, npt.NDArray[np.int64] | None]]:
    """Give the rows of each partition; None stands for all rows."""
    if (partitions == partitions[0]).all():
        yield int(partitions[0]), None
        return
    order = np.argsort(partitions, kind="stable")
    numbers, starts = np.unique(partitions[order], return_index=True)
    for number, rows in zip(numbers, np.split(order, starts[1:]), strict=True):
        yield int(number), rows
