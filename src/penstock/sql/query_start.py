"""Where a query begins: what LATEST means is known when it is written down, and stays so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from penstock.front.sql.rewiring import with_streams
from penstock.front.sql.statement import Started
from penstock.log.port import Log
from penstock.model.source import Stream

Starts: TypeAlias = Mapping[str, Sequence[Sequence[int]]]
"""The next offset of each partition, as pairs, by topic."""


def latest_starts(query: Started, log: Log) -> Starts:
    """Give how far the topics are that a query reads from their end on."""
    topics = sorted(
        step.topic
        for step in query.plan.walk()
        if isinstance(step, Stream) and step.start.place == "latest" and step.files is None
    )
    found: dict[str, list[list[int]]] = {}
    for at, bound in log.snapshot(topics).items() if topics else ():
        found.setdefault(at.topic, []).append([at.partition, bound.end])
    return found


def with_starts(query: Started, starts: Starts) -> Started:
    """Let a query begin where its topics were when it was written down."""
    if not starts:
        return query

    def known(stream: Stream) -> Stream:
        pairs = starts.get(stream.topic)
        if pairs is None or stream.start.place != "latest":
            return stream
        offsets = tuple((int(number), int(offset)) for number, offset in pairs)
        return replace(stream, start=replace(stream.start, known=offsets))

    sinks = (
        replace(sink, relation=with_streams(sink.relation, known)) for sink in query.plan.sinks
    )
    return replace(query, plan=replace(query.plan, sinks=tuple(sinks)))
