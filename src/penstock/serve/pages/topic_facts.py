"""What a topic is: partitions, columns, settings, and who reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from penstock.log.amount import Amount, amount_of
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.topic import Topic, TopicConfig
from penstock.serve.pages.job_words import NOTHING, ago_text
from penstock.text.known import NOT_KNOWN, or_not_known
from penstock.text.schema_text import type_text
from penstock.text.sizes import size_text
from penstock.text.times import time_text
from penstock.text.topic_settings import setting_text


@dataclass(frozen=True, slots=True)
class Reader:
    """A consumer group that reads a topic."""

    group: str
    members: int
    committed: dict[int, int]
    lag: int


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """A topic as it is now."""

    topic: Topic
    amount: Amount
    partitions: tuple[tuple[Any, ...], ...]
    readers: tuple[Reader, ...]


PARTITION_COLUMNS = ("Partition", "Start", "End", "Records", "Size", "Segments", "Oldest", "Newest")


def topic_facts(log: EmbeddedLog, name: str) -> TopicFacts:
    """Look at a topic."""
    topic = log.topic(name)
    parts = [log.segments(name, number) for number in range(topic.partitions)]
    bounds = [log.bounds(name, number) for number in range(topic.partitions)]
    rows = [
        (number, bound.start, bound.end, *_amount_cells(amount_of(segments)))
        for number, (segments, bound) in enumerate(zip(parts, bounds, strict=True))
    ]
    return TopicFacts(
        topic,
        amount_of(item for segments in parts for item in segments),
        tuple(rows),
        tuple(_readers(log, name, [bound.end for bound in bounds])),
    )


def column_rows(topic: Topic) -> list[tuple[str, str, str]]:
    """Give the columns of a typed topic in words."""
    fields = () if topic.schema is None else topic.schema
    return [(f.name, type_text(f.type), "yes" if f.nullable else "no") for f in fields]


def setting_rows(topic: Topic) -> list[tuple[str, str, str]]:
    """Give the settings of a topic in words, and which were set."""
    defaults = asdict(TopicConfig())
    return [
        (name, setting_text(value), "default" if value == defaults[name] else "set")
        for name, value in asdict(topic.config).items()
    ]


def _amount_cells(amount: Amount) -> tuple[Any, ...]:
    no_time = NOT_KNOWN if amount.records is None else None
    return (
        or_not_known(amount.records, count_of),
        or_not_known(amount.size, size_text),
        or_not_known(amount.segments),
        no_time if amount.oldest is None else _moment(amount.oldest),
        no_time if amount.newest is None else _moment(amount.newest),
    )


def last_text(amount: Amount, now: int) -> str:
    """Say how long ago the newest record came; that there is none, or that nobody tells."""
    if amount.newest is not None:
        return f"{ago_text(now - amount.newest)} ago"
    return NOT_KNOWN if amount.records is None else NOTHING


def count_of(number: int) -> str:
    """Write a number whole, as pages do."""
    return f"{number:,}"


def _readers(log: EmbeddedLog, name: str, ends: list[int]) -> Iterator[Reader]:
    for group in log.groups():
        info = log.group(group)
        committed = {
            at.partition: next_ for at, next_ in info.committed.items() if at.topic == name
        }
        members = sum(name in member.topics for member in info.members)
        if committed or members:
            lag = sum(max(0, ends[number] - at) for number, at in committed.items())
            yield Reader(group, members, committed, lag)


def _moment(timestamp: int) -> str:
    return time_text(timestamp, timespec="seconds")
