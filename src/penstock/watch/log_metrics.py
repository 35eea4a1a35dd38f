"""Measurements of the log: topics, groups, dead letters, and what producers did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from penstock.jobs.dead_letters import dead_topics
from penstock.log.amount import Amount, amount_of
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.overflow import SUFFIX
from penstock.log.producer import ProducerStats
from penstock.log.record import TopicPartition
from penstock.watch.sample import Family, Sample


@dataclass(frozen=True, slots=True)
class _Part:
    """A partition and how much it holds."""

    place: TopicPartition
    amount: Amount
    end: int

    @property
    def labels(self) -> dict[str, str]:
        return {"topic": self.place.topic, "partition": str(self.place.partition)}


def ends_of(log: EmbeddedLog) -> dict[TopicPartition, int]:
    """Give the ends of all partitions."""
    return {place: bounds.end for place, bounds in log.snapshot(log.topics()).items()}


def log_families(log: EmbeddedLog, ends: Mapping[TopicPartition, int]) -> Iterator[Family]:
    """Give the families of a log; what it does not tell has no sample."""
    parts = tuple(_Part(at, amount_of(log.segments(*at)), end) for at, end in ends.items())
    yield Family(
        "penstock_topic_bytes", "gauge", "Bytes that a partition takes on disk.",
        tuple(_told((p, p.amount.size) for p in parts)),
    )  # fmt: skip
    yield Family(
        "penstock_topic_records", "gauge", "Records that a partition holds.",
        tuple(_told((p, p.amount.records) for p in parts)),
    )  # fmt: skip
    yield Family(
        "penstock_topic_segments", "gauge", "Segments of a partition.",
        tuple(_told((p, p.amount.segments) for p in parts)),
    )  # fmt: skip
    yield Family(
        "penstock_topic_end_offset", "gauge", "The offset that comes next in a partition.",
        tuple(Sample(p.labels, p.end) for p in parts),
    )  # fmt: skip
    yield Family(
        "penstock_group_lag_records", "gauge", "Records that a consumer group has not read yet.",
        tuple(_lags(log, ends)),
    )  # fmt: skip
    dead = set(dead_topics(log))
    yield Family(
        "penstock_dead_letters", "gauge", "Dead letters in a topic.",
        tuple(_by_topic(log, parts, dead)),
    )  # fmt: skip
    overflow = {part.place.topic for part in parts if part.place.topic.endswith(SUFFIX)}
    yield Family(
        "penstock_spilled_records", "gauge", "Records in a topic to which producers spilled.",
        tuple(_by_topic(log, parts, overflow)),
    )  # fmt: skip


def producer_families(producers: Mapping[str, ProducerStats]) -> Iterator[Family]:
    """Give the families of producers of this process, by the names they are given."""
    counted = {
        "sent": "Records given to a producer.",
        "acknowledged": "Records of a producer that are in the log.",
        "failed": "Records of a producer that the log did not take.",
        "dropped": "Records that a producer dropped under pressure.",
        "spilled": "Records that a producer put aside under pressure.",
        "drained": "Records that were put aside and have followed.",
        "blocked_seconds": "How long a producer was held back.",
    }
    for field, told in counted.items():
        yield Family(
            f"penstock_producer_{field}_total",
            "counter",
            told,
            tuple(Sample({"producer": n}, getattr(s, field)) for n, s in producers.items()),
        )


def _lags(log: EmbeddedLog, ends: Mapping[TopicPartition, int]) -> Iterator[Sample]:
    for group in log.groups():
        for place, committed in sorted(log.committed(group).items()):
            if place in ends:
                labels = {"group": group, "topic": place.topic, "partition": str(place.partition)}
                yield Sample(labels, max(0, ends[place] - committed))


def _told(parts: Iterable[tuple[_Part, int | None]]) -> Iterator[Sample]:
    return (Sample(part.labels, fact) for part, fact in parts if fact is not None)


def _by_topic(log: EmbeddedLog, parts: tuple[_Part, ...], topics: set[str]) -> Iterator[Sample]:
    for topic in sorted(topics):
        mine = [part for part in parts if part.place.topic == topic]
        yield Sample({"topic": topic}, sum(_records(log, part) for part in mine))


def _records(log: EmbeddedLog, part: _Part) -> int:
    """Count records; where the log does not tell, offsets: an alert must not fall silent."""
    known = part.amount.records
    return part.end - log.bounds(*part.place).start if known is None else known
