"""A program of streams and tables under the name of its application: plans of the model.

Where records must meet others with the same key they go through a topic of the application's
own. There a program is cut: each part is a plan of its own, and each partition of what a part
reads can be worked on by another process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.errors import ModelError
from penstock.front.streams.lowering import Lowering
from penstock.front.streams.node import Aggregated, Codec, Topic, Written
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream


@dataclass(frozen=True, slots=True)
class Kept:
    """A store that can be asked by name: the topic that holds it, and its serdes."""

    topic: str
    codec: Codec


@dataclass(frozen=True, slots=True)
class Part:
    """What is run together: a plan, and the topics it reads."""

    plan: Plan
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class Topology:
    """All parts, each after those that write what it reads, and what can be asked for."""

    application: str
    parts: tuple[Part, ...]
    stores: Mapping[str, Kept]
    compacted: frozenset[str]
    """Topics of which only the last record of a key is needed."""


def topology(
    application: str,
    written: Sequence[Written],
    tables: Sequence[Aggregated | Topic],
    *,
    cut: bool = True,
) -> Topology:
    """Give the plans of a program; without `cut` equal keys meet inside a plan, as on Spark."""
    if not written and not tables:
        raise ModelError(
            "PROGRAM_EMPTY",
            f'application "{application}" writes nothing',
            hint='End a stream with .to("topic"), or give an aggregate a store.',
        )
    lowering = Lowering(application, cut=cut)
    # Stores are written first: who sees a result finds it in the store as well.
    stores = {node.name: Kept(lowering.keep(node), node.codec) for node in tables}
    for item in written:
        lowering.write(item)
    return Topology(
        application,
        tuple(_ordered(_parts(application, lowering.sinks))),
        stores,
        frozenset(lowering.compacted),
    )


def _parts(application: str, sinks: Sequence[Sink]) -> list[Part]:
    """Put together the sinks that read a topic in common."""
    groups: list[tuple[set[str], list[Sink]]] = []
    for sink in sinks:
        topics = {step.topic for step in sink.relation.walk() if isinstance(step, Stream)}
        same = [group for group in groups if group[0] & topics]
        groups = [group for group in groups if group not in same]
        gathered = [item for _, members in same for item in members]
        groups.append((topics.union(*(read for read, _ in same)), [*gathered, sink]))
    return [
        Part(Plan(f"{application}-{number}", tuple(members)), frozenset(topics))
        for number, (topics, members) in enumerate(groups)
    ]


def _ordered(parts: list[Part]) -> Iterable[Part]:
    """Give each part after those that write what it reads; a circle in the order of its parts."""
    left = list(parts)
    while left:
        free = [part for part in left if not _waits(part, left)]
        for part in free or left[:1]:
            yield part
            left.remove(part)


def _waits(part: Part, left: Iterable[Part]) -> bool:
    others = (other for other in left if other is not part)
    return any(sink.topic in part.topics for other in others for sink in other.plan.sinks)
