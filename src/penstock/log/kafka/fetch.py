"""One read: as many rows as are asked for, in the columns that are asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from penstock.log.kafka.offsets import Offsets
from penstock.log.kafka.reader import Block, PartitionReader, Readers, no_rows
from penstock.log.kafka.typed import TypedTopics
from penstock.log.port import Bounds, Chunk, ReadLimit
from penstock.log.record import DELETED_COLUMN, SYSTEM_COLUMNS, VALUE_COLUMN, TopicPartition
from penstock.log.rows import row_schema
from penstock.log.topic import Topic
from penstock.log.topic_refusals import offset_outside


class Fetch:
    """Reads of partitions; threads may share it."""

    def __init__(
        self, offsets: Offsets, readers: Readers, typed: Callable[[], TypedTopics]
    ) -> None:
        self._offsets = offsets
        self._readers = readers
        self._typed = typed

    def read(self, topic: Topic, partition: int, offset: int, limit: ReadLimit) -> Chunk:
        """Give the rows from an offset on; an offset outside the partition is refused."""
        place = TopicPartition(topic.name, partition)
        with self._readers.of(topic.topic_id, place, limit.isolation) as reader:
            if not reader.has(offset):
                self._look(reader, place, offset, limit)
            end = reader.known_end if limit.stop is None else min(reader.known_end, limit.stop)
            blocks, next_offset = _gathered(reader, offset, end, limit)
        return Chunk(self._shown(topic, blocks, limit.columns), next_offset)

    def _look(
        self, reader: PartitionReader, place: TopicPartition, offset: int, limit: ReadLimit
    ) -> None:
        """Ask where the partition ends now."""
        bounds = self._offsets.bounds([place], limit.isolation)[place]
        if offset > bounds.end and limit.isolation == "committed":
            last = self._offsets.ends([place], "uncommitted")[place]
            bounds = Bounds(bounds.start, max(bounds.end, last))
            if bounds.start <= offset <= last:
                return
        if not bounds.start <= offset <= bounds.end:
            raise offset_outside(place, offset, bounds)
        reader.known_end = bounds.end

    def _shown(
        self, topic: Topic, blocks: list[pa.RecordBatch], names: tuple[str, ...] | None
    ) -> pa.Table:
        raw = pa.Table.from_batches(blocks or [no_rows()])
        schema = row_schema(topic)
        wanted = schema if names is None else pa.schema([schema.field(name) for name in names])
        if topic.schema is None:
            return raw.select(wanted.names).cast(wanted)
        raw = raw.combine_chunks()
        values = raw.column(VALUE_COLUMN)
        value = values.chunk(0) if values.num_chunks else pa.nulls(0, pa.binary())
        own = tuple(name for name in wanted.names if name not in SYSTEM_COLUMNS)
        made = dict(zip(own, self._typed().decode(topic, value, own), strict=True)) if own else {}
        if DELETED_COLUMN in wanted.names:
            made[DELETED_COLUMN] = value.is_null()
        columns = [made[name] if name in made else raw.column(name) for name in wanted.names]
        return pa.table(columns, schema=wanted)


def _gathered(
    reader: PartitionReader, offset: int, end: int, limit: ReadLimit
) -> tuple[list[pa.RecordBatch], int]:
    """Take blocks until there is enough; what is too much stays with the reader."""
    taken: list[pa.RecordBatch] = []
    size, left = 0, limit.records
    for block in reader.blocks(offset, end):
        kept = block.before(end) if block.next_offset > end else block
        if left is not None:
            kept = kept.first(left)
            left -= kept.rows.num_rows
        kept, size = _fitting(kept, size, limit.bytes)
        taken += [kept.rows] if kept.rows.num_rows else []
        offset = kept.next_offset
        if kept.next_offset < block.next_offset:
            reader.keep(block.after(offset))
            break
        if size >= limit.bytes or left == 0:
            break
    return taken, offset


def _fitting(block: Block, size: int, most: int) -> tuple[Block, int]:
    """Cut a block where there is enough; the first row is always given."""
    more = block.rows.nbytes
    if size + more <= most or not block.rows.num_rows:
        return block, size + more
    share = max(1, int(block.rows.num_rows * (most - size) / max(more, 1)))
    share = share if size == 0 else max(0, share)
    kept = block.first(int(np.clip(share, 1, block.rows.num_rows)))
    return kept, max(size + kept.rows.nbytes, most)
