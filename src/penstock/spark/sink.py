"""Rows from Spark into the log: once each, all of a batch at one instant.

Tasks only stage their rows. `commit` appends them in one transaction whose note is the
batch's number; a batch that Spark runs again finds its number noted and is dropped.
docs/decisions/0001-spark-sink.md says what else was weighed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType
from typing_extensions import override

from penstock.errors import SchemaError, UsageError, did_you_mean
from penstock.log.bulk import append_all
from penstock.log.port import Log
from penstock.log.record import PARTITION_COLUMN, SYSTEM_COLUMNS, TOPIC_COLUMN
from penstock.log.rows import value_schema
from penstock.spark.options import SinkOptions
from penstock.spark.route import Router
from penstock.spark.stage import Staged, discard, stage, staged_rows

if TYPE_CHECKING:
    import pyarrow as pa

_QUERY_PROPERTY = "sql.streaming.queryId"
_BATCH_PROPERTY = "streaming.sql.batchId"


class TopicWriter(DataSourceArrowWriter):
    """One write of a batch job: readers see all its rows or none."""

    def __init__(
        self, options: SinkOptions, schema: StructType, log_of: Callable[[str], Log]
    ) -> None:
        self._options = options
        self._log_of = log_of
        self._owner = f"batch-{uuid4().hex}"
        check_writable(options, schema, log_of(options.home))

    @override
    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return _staged(self._log_of, self._options, iterator, self._owner)

    @override
    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        staged = _arrived(messages)
        if any(message.pieces for message in staged):
            # By process: no other one alive has it, and ids do not pile up.
            _publish(self._log_of(self._options.home), f"spark-batch-{os.getpid()}", staged)
        discard(self._options.home, self._owner, staged)

    @override
    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        discard(self._options.home, self._owner, _arrived(messages))


class TopicStreamWriter(DataSourceStreamArrowWriter):
    """The writes of a streaming query: every batch once, whatever is run again."""

    def __init__(
        self, options: SinkOptions, schema: StructType, log_of: Callable[[str], Log]
    ) -> None:
        self._options = options
        self._log_of = log_of
        check_writable(options, schema, log_of(options.home))

    @override
    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        context = TaskContext.get()
        assert context is not None
        query = context.getLocalProperty(_QUERY_PROPERTY)
        batch = context.getLocalProperty(_BATCH_PROPERTY)
        return _staged(self._log_of, self._options, iterator, f"{query}/{batch}")

    @override
    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        staged = _arrived(messages)
        if not staged:
            return
        owner = staged[0].owner
        # Without rows there is nothing to be seen twice, so nothing to note either.
        if any(message.pieces for message in staged):
            # The query's id is in its checkpoint: a new checkpoint is a new query, from batch 0.
            query = owner.partition("/")[0]
            _publish(self._log_of(self._options.home), f"spark-{query}", staged, batch=batchId)
        discard(self._options.home, owner, staged)

    @override
    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        staged = _arrived(messages)
        if staged:
            discard(self._options.home, staged[0].owner, staged)


def check_writable(options: SinkOptions, schema: StructType, log: Log) -> None:
    """Refuse at the start what could only fail at the first row."""
    names = schema.fieldNames()
    if not options.topic:
        if TOPIC_COLUMN not in names:
            raise UsageError(
                "SINK_TOPIC",
                "the sink does not know which topic to write",
                hint=f'Add .option("topic", ...), or a column "{TOPIC_COLUMN}" to choose by row.',
            )
        return
    topic = log.topic(options.topic)
    if TOPIC_COLUMN in names:
        return
    known = [*SYSTEM_COLUMNS, PARTITION_COLUMN, *value_schema(topic).names]
    for name in names:
        if name not in known:
            raise SchemaError(
                "COLUMN_UNKNOWN",
                f'column "{name}" does not exist in topic "{topic.name}"',
                hint=did_you_mean(name, known) or f"Its columns: {', '.join(known)}.",
            )


def _staged(
    log_of: Callable[[str], Log],
    options: SinkOptions,
    batches: Iterator[pa.RecordBatch],
    owner: str,
) -> Staged:
    context = TaskContext.get()
    task = 0 if context is None else context.partitionId()
    log = log_of(options.home)
    router = Router(log, topic=options.topic)
    routed = (item for batch in batches for item in router.route(batch))
    return stage(log, options.home, owner, task, routed)


def _publish(
    log: Log, transactional_id: str, staged: Sequence[Staged], *, batch: int | None = None
) -> None:
    transaction = log.transaction(transactional_id)
    try:
        if batch is not None and transaction.note and int(transaction.note) >= batch:
            return
        transaction.begin()
        append_all(transaction, staged_rows(staged))
        transaction.commit("" if batch is None else str(batch))
    finally:
        transaction.close()


def _arrived(messages: Sequence[WriterCommitMessage | None]) -> list[Staged]:
    # A task that failed has no message.
    return [message for message in messages if isinstance(message, Staged)]
