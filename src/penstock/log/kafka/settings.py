"""A topic's settings as Kafka has them, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from penstock.log.topic import TopicConfig

BATCH_BYTES = 1024 * 1024
"""How much a producer sends in one batch; Kafka's limit of a record's size is that of a batch."""

_MILLISECOND = timedelta(milliseconds=1)
_FOR_EVER = 2**63 - 1
_LONGEST = timedelta.max // _MILLISECOND
# Smaller segments are refused since Kafka 4.
_SMALLEST_SEGMENT = 1024 * 1024
_OVERHEAD = 64 * 1024
_COMPRESSIONS = {"none": "producer", "lz4": "lz4", "zstd": "zstd"}


def kafka_settings(config: TopicConfig) -> dict[str, str]:
    """Give the settings that a topic of Kafka gets."""
    return {
        "cleanup.policy": config.cleanup,
        "retention.ms": _millis(config.retention, -1),
        "retention.bytes": str(-1 if config.retention_bytes is None else config.retention_bytes),
        "segment.bytes": str(max(_SMALLEST_SEGMENT, config.segment_bytes)),
        "segment.ms": _millis(config.segment_age, _FOR_EVER),
        "index.interval.bytes": str(config.index_interval_bytes),
        "compression.type": _COMPRESSIONS[config.compression],
        "max.message.bytes": str(max(config.max_record_bytes, BATCH_BYTES) + _OVERHEAD),
        "delete.retention.ms": _millis(config.tombstone_retention, 0),
        "min.compaction.lag.ms": _millis(config.min_compaction_lag, 0),
        "max.compaction.lag.ms": _millis(config.max_compaction_lag, _FOR_EVER),
        "min.cleanable.dirty.ratio": str(config.min_dirty_ratio),
        # Event times may lie anywhere, as they may on the embedded log.
        "message.timestamp.type": "CreateTime",
        "message.timestamp.after.max.ms": str(_FOR_EVER),
    }


def topic_config(found: Mapping[str, str], kept: TopicConfig | None) -> TopicConfig:
    """Read the settings of a topic; `kept` is what it was created with, where that is known.

    What another tool changed since then wins; what Kafka has no word for is as it was kept.
    """
    before = {} if kept is None else kafka_settings(kept)
    changed = {name: value for name, value in found.items() if before.get(name) != value}
    told: dict[str, Any] = {}
    for name, value in changed.items():
        told.update(_read(name, value))
    return (TopicConfig() if kept is None else kept).with_settings(**told)


def _read(name: str, value: str) -> dict[str, Any]:
    """Give one setting in our words; nothing for one that we have no word for."""
    if name in _DURATIONS:
        word, open_ended = _DURATIONS[name]
        # Longer than a timedelta holds is for ever, too.
        long = open_ended and not 0 <= int(value) < _LONGEST
        return {word: None if long else min(int(value), _LONGEST) * _MILLISECOND}
    if name in _OTHERS:
        word, read = _OTHERS[name]
        return {word: read(value)}
    return {}


def _cleanup(value: str) -> str:
    return ",".join(sorted(part.strip() for part in value.split(",") if part.strip())) or "delete"


_OTHERS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "cleanup.policy": ("cleanup", _cleanup),
    "retention.bytes": ("retention_bytes", lambda value: None if int(value) < 0 else int(value)),
    "segment.bytes": ("segment_bytes", int),
    "index.interval.bytes": ("index_interval_bytes", lambda value: max(1, int(value))),
    "compression.type": ("compression", lambda v: v if v in ("lz4", "zstd") else "none"),
    "max.message.bytes": ("max_record_bytes", int),
    "min.cleanable.dirty.ratio": ("min_dirty_ratio", float),
}
"""By Kafka's name: ours, and how its value is read."""

_DURATIONS = {
    "retention.ms": ("retention", True),
    "segment.ms": ("segment_age", True),
    "delete.retention.ms": ("tombstone_retention", False),
    "min.compaction.lag.ms": ("min_compaction_lag", False),
    "max.compaction.lag.ms": ("max_compaction_lag", True),
}
"""By Kafka's name: ours, and whether it may be without end."""


def _millis(duration: timedelta | None, otherwise: int) -> str:
    return str(otherwise if duration is None else duration // _MILLISECOND)
