"""What an application needs before it can be run: its topics, and partitions that fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.errors import PlanError
from penstock.log.embedded.lock import FlockLock
from penstock.log.port import Log
from penstock.log.topic import TopicConfig
from penstock.model.join import Join
from penstock.model.physical import Physical
from penstock.spark.output import ensure_topics


def lay_ground(
    log: Log, parts: Sequence[Physical], compacted: frozenset[str], folder: Path
) -> None:
    """Make the topics that parts write, in their order; instances that start at once take turns."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FlockLock(str(folder / "topics.lock"))
    lock.acquire()
    try:
        for part in parts:
            require_fitting_partitions(log, part)
            _make_compacted(log, part, compacted)
            ensure_topics(log, part)
    finally:
        lock.close()


def leading_topics(log: Log, parts: Sequence[Physical]) -> dict[str, int]:
    """Give for each part the topic whose partitions are shared out: the one that has most."""
    return {
        max(_topics(part), key=lambda topic: log.topic(topic).partitions): number
        for number, part in enumerate(parts)
    }


def require_fitting_partitions(log: Log, part: Physical) -> None:
    """Refuse to join topics whose partitions do not correspond."""
    if not any(isinstance(keyed.relation, Join) for keyed in part.operators):
        return
    counts = {topic: log.topic(topic).partitions for topic in _topics(part)}
    if len(set(counts.values())) > 1:
        told = ", ".join(f'"{topic}" has {count}' for topic, count in counts.items())
        raise PlanError(
            "STREAMS_PARTITIONS",
            f'program "{part.name}" joins topics that differ in their partitions: {told}',
            hint="Send one of them through a topic with as many partitions as the other.",
        )


def _make_compacted(log: Log, part: Physical, compacted: frozenset[str]) -> None:
    partitions = max(log.topic(topic).partitions for topic in _topics(part))
    known = set(log.topics())
    for output in part.outputs:
        topic = output.sink.topic
        if topic in compacted and topic not in known:
            log.create_topic(topic, partitions=partitions, config=TopicConfig(cleanup="compact"))


def _topics(part: Physical) -> list[str]:
    return sorted({scan.stream.topic for scan in part.scans})
