"""A version of a program that is built beside the one that runs: it writes to topics of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from penstock.connect.results import drop_tables, stored_tables
from penstock.errors import GroupError, TopicError
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.log.topic import Topic
from penstock.model.physical import Output, Physical, Scan
from penstock.model.plan import Sink
from penstock.model.source import Stream
from penstock.model.start import Start
from penstock.spark.outlet import Outlet
from penstock.spark.output import outlets


def shadowed(physical: Physical, mark: str, *, named: bool = True) -> Physical:
    """Give a program that writes `<topic>.<mark>` wherever it would write a topic or a table.

    Where it is `named` so, too, how far it is shows beside the job and not as the job's.
    """
    outputs = tuple(replace(item, sink=_sink(item.sink, mark)) for item in physical.outputs)
    name = shadow_name(physical.name, mark) if named else physical.name
    return replace(physical, name=name, outputs=outputs)


def shadow_name(place: str, mark: str) -> str:
    """Give the name of what is written in the place of a topic or a table."""
    return f"{place}.{mark}"


def begun_at(physical: Physical, starts: Mapping[TopicPartition, int]) -> Physical:
    """Give a program that begins to read at these offsets, where they are given."""

    def begun(scan: Scan) -> Scan:
        stream = scan.stream
        known = tuple((at.partition, to) for at, to in starts.items() if at.topic == stream.topic)
        return replace(scan, stream=_begun(stream, known)) if known else scan

    return replace(physical, scans=tuple(map(begun, physical.scans)))


def make_shadows(log: Log, physical: Physical, mark: str) -> None:
    """Create topics for a shadow that are made as those are that it stands for.

    So a key has the same partition in both, and a record can go from one to the other.
    """
    known = set(log.topics())
    for outlet in {outlet.topic: outlet for outlet in outlets(physical).values()}.values():
        shadow = shadow_name(outlet.topic, mark)
        if outlet.topic in known and shadow not in known:
            real = log.topic(outlet.topic)
            schema = real.schema if _fits(outlet, real) else outlet.schema
            log.create_topic(shadow, partitions=real.partitions, schema=schema, config=real.config)


def drop_shadows(log: Log, physical: Physical, mark: str) -> None:
    """Remove all that a shadow has written."""
    known = set(log.topics())
    for topic in _topics(physical):
        if shadow_name(topic, mark) in known:
            # Another may clean up as well: what is gone is gone.
            with contextlib.suppress(TopicError):
                log.delete_topic(shadow_name(topic, mark))
    drop_tables(stored_tables(shadowed(physical, mark)).values())
    group = shadow_name(physical.name, mark)
    if group in log.groups():
        with contextlib.suppress(GroupError):
            log.delete_group(group)


def output_at(physical: Physical, place: str) -> Output | None:
    """Give the output that writes a topic or a table, if there is one."""
    return next((item for item in physical.outputs if item.sink.place == place), None)


def _topics(physical: Physical) -> Iterator[str]:
    yield from sorted({outlet.topic for outlet in outlets(physical).values()})


def _fits(outlet: Outlet, topic: Topic) -> bool:
    """Whether a topic has the columns of what is written; else it is to be made anew."""
    if outlet.untyped or topic.schema is None:
        return True
    taken = {field.name: field.type for field in topic.schema}
    return all(taken.get(field.name) == field.type for field in outlet.schema)


def _sink(sink: Sink, mark: str) -> Sink:
    late, dead = sink.late_topic, sink.dead_topic
    return replace(
        sink,
        topic=shadow_name(sink.topic, mark),
        late=None if late is None else shadow_name(late, mark),
        dead=None if dead is None else shadow_name(dead, mark),
    )


def _begun(stream: Stream, known: tuple[tuple[int, int], ...]) -> Stream:
    return replace(stream, start=Start("latest", known=known))
