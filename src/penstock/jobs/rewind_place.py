"""Where a job is to begin, as people write it."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import UsageError
from penstock.log.record import TopicPartition
from penstock.spark.rewind import To
from penstock.text.times import parse_time


def parse_to(words: Sequence[str]) -> To:
    """Read where a job is to begin: one word or time, or offsets of partitions."""
    if any("=" in word for word in words):
        return dict(_offset(word) for word in words)
    if len(words) > 1:
        raise UsageError(
            "REWIND_PLACE",
            f"{len(words)} places are given",
            hint="Give --to once, or offsets of several partitions as --to TOPIC:N=OFFSET.",
        )
    (word,) = words
    return word if word in {"beginning", "end"} or word.startswith("{") else parse_time(word)


def _offset(word: str) -> tuple[TopicPartition, int]:
    place, _, offset = word.partition("=")
    topic, _, partition = place.rpartition(":")
    if not (topic and partition.isdecimal() and offset.isdecimal()):
        raise UsageError(
            "REWIND_PLACE",
            f'"{word}" is no place in a topic',
            hint="Write the offset of a partition as TOPIC:N=OFFSET, such as clicks:0=42.",
        )
    return TopicPartition(topic, int(partition)), int(offset)
