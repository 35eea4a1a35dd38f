"""Where rows go that a program writes to topics: the topics, and whether they can take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.errors import SchemaError
from penstock.kernel.letter import LATE_COLUMNS
from penstock.kernel.parcel import dead_target, late_target
from penstock.kernel.port import WEIGHT
from penstock.log.port import Log
from penstock.log.record import HEADERS_COLUMN
from penstock.log.rows import BYTES_SCHEMA, value_schema
from penstock.log.topic import Topic, TopicConfig
from penstock.model.physical import Output, Physical, Stateful
from penstock.model.plan import Sink
from penstock.model.relation import Relation
from penstock.model.stateless import Rekey
from penstock.schema.arrow import to_arrow
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32
from penstock.spark.outlet import LETTERS, Outlet, Writing, plain_columns

_OF_RECORDS = ("topic", "partition", "offset", "timestamp", "key", "headers", "raw")
"""Columns of dead letters that topics of earlier versions do not have."""


def outlets(physical: Physical) -> Mapping[str, Outlet]:
    """Give where everything goes that a program writes to topics, by target."""
    found: dict[str, Outlet] = {}
    for output in physical.outputs:
        for outlet in _of_output(output):
            found[outlet.target] = outlet
    return found


def ensure_topics(log: Log, physical: Physical) -> None:
    """Create the topics a program writes; one that exists must be able to take its rows."""
    unread = any(scan.stream.format is not None for scan in physical.scans)
    known = set(log.topics())
    partitions = max(
        (log.topic(scan.stream.topic).partitions for scan in physical.scans), default=1
    )
    for outlet in outlets(physical).values():
        if outlet.topic in known:
            _require_fitting(log, outlet, unread=unread)
            continue
        log.create_topic(
            outlet.topic,
            partitions=partitions if outlet.keys else 1,
            schema=None if outlet.untyped else outlet.schema,
            config=TopicConfig(cleanup="compact") if outlet.upsert or outlet.gone else None,
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
    columns = sink.relation.schema
    if sink.relation.retracts and not sink.upsert:
        columns = Schema((*columns.fields, Field(WEIGHT, INT32, nullable=False)))
    if sink.gone is not None:
        columns = Schema(tuple(field for field in columns.fields if field.name != sink.gone))
    if sink.store is None:
        yield Outlet(
            output.id,
            sink.topic,
            BYTES_SCHEMA if sink.raw else to_arrow(columns),
            record_keys(sink),
            sink.upsert,
            sink.raw,
            _writing(sink, columns),
            headers=sink.raw and HEADERS_COLUMN in columns.names,
            gone=sink.gone,
        )
    if sink.late_topic:
        yield Outlet(late_target(output.id), sink.late_topic, plain_columns(LATE_COLUMNS))
    if sink.dead_topic:
        yield Outlet(dead_target(output.id), sink.dead_topic, LETTERS)


def _writing(sink: Sink, columns: Schema) -> Writing | None:
    if sink.format is None:
        return None
    return Writing(sink.format, columns, sink.key_format, sink.site, sink.dead_topic)


def _require_fitting(log: Log, outlet: Outlet, *, unread: bool) -> None:
    """Refuse a topic that cannot take the rows; `unread` is whether letters may hold records."""
    topic = log.topic(outlet.topic)
    taken = value_schema(topic)
    if outlet.untyped:
        _require_bytes(topic)
        return
    for field in outlet.schema:
        if outlet.schema is LETTERS and not unread and field.name in _OF_RECORDS:
            continue
        if field.name not in taken.names or taken.field(field.name).type != field.type:
            has = ", ".join(f"{item.name} {item.type}" for item in taken)
            raise SchemaError(
                "OUTPUT_SCHEMA",
                f'topic "{outlet.topic}" cannot take column "{field.name}" of type {field.type}:'
                f" it has ({has})",
                hint='It is from before letters held records: name another, as in dead="parked".'
                if outlet.schema is LETTERS and field.name in _OF_RECORDS
                else "Write to another topic, or select the columns that it has.",
            )
    for field in taken:
        if not field.nullable and field.name not in outlet.schema.names:
            raise SchemaError(
                "OUTPUT_SCHEMA",
                f'topic "{outlet.topic}" needs column "{field.name}", which the program does not'
                " give",
                hint="Add the column, or write to another topic.",
            )


def _require_bytes(topic: Topic) -> None:
    if topic.schema is not None:
        raise SchemaError(
            "OUTPUT_SCHEMA",
            f'topic "{topic.name}" has columns, and the program writes bytes to it',
            hint="Write to another topic, or leave out the format.",
        )
