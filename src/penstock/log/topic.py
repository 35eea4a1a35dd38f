"""What a topic is: its name, partitions, schema and settings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from penstock.errors import TopicError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

Cleanup = Literal["delete", "compact", "compact,delete"]
Fsync = Literal["always", "interval", "os"]
Compression = Literal["none", "lz4", "zstd"]

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_CHOICES: dict[str, tuple[str, ...]] = {
    "cleanup": ("delete", "compact", "compact,delete"),
    "fsync": ("always", "interval", "os"),
    "compression": ("none", "lz4", "zstd"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """The settings of one topic; the defaults keep the whole history, safe on disk."""

    cleanup: Cleanup = "delete"
    retention: timedelta | None = None
    retention_bytes: int | None = None
    segment_bytes: int = 128 * 1024 * 1024
    segment_age: timedelta | None = timedelta(days=7)
    index_interval_bytes: int = 64 * 1024
    fsync: Fsync = "always"
    fsync_interval: timedelta = timedelta(seconds=1)
    compression: Compression = "none"
    max_record_bytes: int = 16 * 1024 * 1024
    tombstone_retention: timedelta = timedelta(days=1)
    min_compaction_lag: timedelta = timedelta(0)
    max_compaction_lag: timedelta | None = None
    min_dirty_ratio: float = 0.5
    guard: str = ""

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise TopicError(
                    "TOPIC_SETTING",
                    f'topic setting {name}="{getattr(self, name)}" does not exist',
                    hint=f"Choose one of: {', '.join(allowed)}.",
                )
        for name in ("segment_bytes", "index_interval_bytes", "max_record_bytes"):
            if getattr(self, name) <= 0:
                raise TopicError(
                    "TOPIC_SETTING",
                    f"topic setting {name}={getattr(self, name)} is not positive",
                    hint="Give a number of bytes above 0.",
                )

    @property
    def compacts(self) -> bool:
        """Whether only the last record of each key is promised."""
        return "compact" in self.cleanup

    @property
    def deletes(self) -> bool:
        """Whether old segments go by retention time or size."""
        return "delete" in self.cleanup

    @property
    def cleans(self) -> bool:
        """Whether anything ever goes; by default the whole history stays."""
        limited = self.retention is not None or self.retention_bytes is not None
        return self.compacts or (self.deletes and limited)

    def with_settings(self, **changes: object) -> TopicConfig:
        """Give a changed copy; a misspelt setting is named and corrected."""
        known = [item.name for item in fields(self)]
        for name in changes:
            if name not in known:
                raise TopicError(
                    "TOPIC_SETTING",
                    f'topic setting "{name}" does not exist',
                    hint=did_you_mean(name, known) or f"Settings: {', '.join(known)}.",
                )
        return replace(self, **changes)  # type: ignore[arg-type]  # checked by __post_init__


@dataclass(frozen=True, slots=True)
class Topic:
    """A named feed of records, split into partitions whose number never changes."""

    name: str
    partitions: int
    schema: pa.Schema | None = None
    config: TopicConfig = field(default_factory=TopicConfig)
    created_at: int = 0
    topic_id: str = ""


def check_topic_name(name: str) -> None:
    """Refuse a name that could not be a directory, a Kafka topic or a SQL word in quotes."""
    if not _NAME.fullmatch(name) or name in {".", ".."}:
        raise TopicError(
            "TOPIC_NAME",
            f'topic name "{name}" has characters or a length that names do not have',
            hint="Use 1 to 249 letters, digits, dots, dashes and underscores.",
        )


def check_partition_count(count: int) -> None:
    """Refuse a topic without partitions."""
    if count < 1:
        raise TopicError(
            "PARTITION_COUNT",
            f"a topic with {count} partitions cannot hold records",
            hint="Give 1 or more partitions; the number is fixed at creation.",
        )
