"""What the log holds: records, addressed by topic, partition and offset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from typing_extensions import override

Headers: TypeAlias = tuple[tuple[str, bytes | None], ...]
Value: TypeAlias = bytes | Mapping[str, object] | None

OFFSET_COLUMN = "_offset"
TIMESTAMP_COLUMN = "_timestamp"
KEY_COLUMN = "_key"
HEADERS_COLUMN = "_headers"
DELETED_COLUMN = "_deleted"
VALUE_COLUMN = "value"
TOPIC_COLUMN = "_topic"
PARTITION_COLUMN = "_partition"
RESERVED_COLUMNS = (TOPIC_COLUMN, PARTITION_COLUMN)
SYSTEM_COLUMNS = (OFFSET_COLUMN, TIMESTAMP_COLUMN, KEY_COLUMN, HEADERS_COLUMN, DELETED_COLUMN)


class TopicPartition(NamedTuple):
    """The unit of order and of ownership."""

    topic: str
    partition: int

    @override
    def __str__(self) -> str:
        """Read as Kafka prints it: topic-partition."""
        return f"{self.topic}-{self.partition}"


class Record(NamedTuple):
    """One record as a consumer sees it; the timestamp is in milliseconds since 1970.

    The value is bytes, or a mapping of columns where the topic has a schema;
    None is a tombstone.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: Value
    headers: Headers = ()
