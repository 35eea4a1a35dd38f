"""Results, late rows and dead letters as records of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl
import pyarrow as pa

from penstock.errors import SchemaError
from penstock.kernel.letter import LATE_COLUMNS
from penstock.kernel.parcel import dead_target, late_target
from penstock.kernel.port import DEAD_COLUMNS, END_OF_TIME, START_OF_TIME, TIME, WEIGHT, Frame
from penstock.kernel.record_key import NO_KEY, key_text
from penstock.kernel.settle import settle
from penstock.log.port import Log
from penstock.log.record import DELETED_COLUMN, KEY_COLUMN, PARTITION_COLUMN, TIMESTAMP_COLUMN
from penstock.log.rows import BYTES_SCHEMA, value_schema
from penstock.log.topic import TopicConfig
from penstock.model.physical import Output, Physical, Stateful
from penstock.model.plan import Sink
from penstock.model.relation import Relation
from penstock.model.stateless import Rekey
from penstock.schema.arrow import to_arrow
from penstock.spark.route import Routed, Router


@dataclass(frozen=True)
class Outlet:
    """Where the frames of one target go, and how their rows become records."""

    target: str
    topic: str
    schema: pa.Schema
    keys: tuple[str, ...] = ()
    upsert: bool = False
    """Whether the last record of a key is its row, or a tombstone."""
    raw: bool = False
    """Whether key and value are bytes as they are: the topic has no schema."""

    def records(self, frame: Frame, clock: int) -> pa.Table:
        """Give rows with their key and timestamp; without a usable event time it is the clock."""
        if self.upsert:
            frame = settle(frame, self.keys, self._own)
        usable = pl.col(TIME).is_between(START_OF_TIME + 1, END_OF_TIME - 2)
        stamp = (
            pl.when(usable).then(pl.col(TIME)).otherwise(clock) if self._timed else pl.lit(clock)
        )
        added = [stamp.cast(pl.Int64).alias(TIMESTAMP_COLUMN)]
        if self.keys:
            key = key_text(frame, self.keys)
            if self.upsert:
                # A compacted topic takes no record without a key.
                key = key.fill_null(pl.lit(NO_KEY))
            added.append(key.alias(KEY_COLUMN))
            if not self.raw:
                # Rows whose key is null are one group, too, and keep their order in one place.
                place = pl.when(key.is_null()).then(0)
                added.append(place.cast(pl.Int32).alias(PARTITION_COLUMN))
        if self.upsert:
            there = pl.col(WEIGHT) > 0
            added.append((~there).alias(DELETED_COLUMN))
            values = [pl.when(there).then(pl.col(name)).alias(name) for name in self.schema.names]
            chosen = frame.select(*values, *added)
        else:
            chosen = frame.select(*self.schema.names, *added)
        table: pa.Table = chosen.to_arrow(compat_level=pl.CompatLevel.oldest())
        return table

    def routed(self, log: Log, frame: Frame, clock: int) -> Iterator[Routed]:
        """Give the records of a frame by partition."""
        table = self.records(frame, clock).combine_chunks()
        for batch in table.to_batches():
            yield from Router(log, topic=self.topic).route(batch)

    @cached_property
    def columns(self) -> list[str]:
        """The columns of a frame that its records are made of."""
        control = [TIME] if self._timed else []
        return [*self._own, *control, *([WEIGHT] if self.upsert else [])]

    @cached_property
    def _own(self) -> list[str]:
        return [*self.schema.names, *(self.keys if self.raw else ())]

    @cached_property
    def _timed(self) -> bool:
        return self.target.partition(":")[0] not in {"late", "dead"}


def outlets(physical: Physical) -> Mapping[str, Outlet]:
    """Give where everything goes that a program writes to topics, by target."""
    found: dict[str, Outlet] = {}
    for output in physical.outputs:
        for outlet in _of_output(output):
            found[outlet.target] = outlet
    return found


def ensure_topics(log: Log, physical: Physical) -> None:
    """Create the topics a program writes; one that exists must be able to take its rows."""
    known = set(log.topics())
    partitions = max(
        (log.topic(scan.stream.topic).partitions for scan in physical.scans), default=1
    )
    for outlet in outlets(physical).values():
        if outlet.topic in known:
            _require_fitting(log, outlet)
            continue
        log.create_topic(
            outlet.topic,
            partitions=partitions if outlet.keys else 1,
            schema=None if outlet.raw else outlet.schema,
            config=TopicConfig(cleanup="compact") if outlet.upsert else None,
        )
        known.add(outlet.topic)


def record_keys(sink: Sink) -> tuple[str, ...]:
    """Give the columns that decide a record's partition: those asked for, or the group's."""
    if sink.keys:
        return sink.keys
    relation: Relation | None = sink.relation
    while relation is not None:
        if isinstance(relation, Stateful | Rekey):
            known = sink.relation.schema.names
            return relation.keys if all(key in known for key in relation.keys) else ()
        relation = relation.inputs[0] if len(relation.inputs) == 1 else None
    return ()


def _of_output(output: Output) -> Iterator[Outlet]:
    sink = output.sink
    schema = BYTES_SCHEMA if sink.raw else to_arrow(sink.relation.schema)
    if sink.relation.retracts and not sink.upsert:
        schema = schema.append(pa.field(WEIGHT, pa.int32(), nullable=False))
    if sink.store is None:
        yield Outlet(output.id, sink.topic, schema, record_keys(sink), sink.upsert, sink.raw)
    if sink.late_topic:
        yield Outlet(late_target(output.id), sink.late_topic, _plain(LATE_COLUMNS))
    if sink.dead_topic:
        yield Outlet(dead_target(output.id), sink.dead_topic, _plain(DEAD_COLUMNS))


def _plain(columns: Mapping[str, pl.DataType]) -> pa.Schema:
    types = {pl.String(): pa.string(), pl.Int64(): pa.int64()}
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def _require_fitting(log: Log, outlet: Outlet) -> None:
    topic = log.topic(outlet.topic)
    taken = value_schema(topic)
    for field in outlet.schema:
        if field.name not in taken.names or taken.field(field.name).type != field.type:
            has = ", ".join(f"{item.name} {item.type}" for item in taken)
            raise SchemaError(
                "OUTPUT_SCHEMA",
                f'topic "{outlet.topic}" cannot take column "{field.name}" of type {field.type}:'
                f" it has ({has})",
                hint="Write to another topic, or select the columns that it has.",
            )
    for field in taken:
        if not field.nullable and field.name not in outlet.schema.names:
            raise SchemaError(
                "OUTPUT_SCHEMA",
                f'topic "{outlet.topic}" needs column "{field.name}", which the program does not'
                " give",
                hint="Add the column, or write to another topic.",
            )
