"""What every log refuses about topics, in the same words."""

from __future__ import annotations

import pyarrow as pa

from penstock.errors import OffsetError, SchemaError, TopicError, did_you_mean
from penstock.log.port import Bounds
from penstock.log.record import RESERVED_COLUMNS, SYSTEM_COLUMNS, TopicPartition


def missing_topic(name: str, known: tuple[str, ...]) -> TopicError:
    """The error for a topic that is not there."""
    return TopicError(
        "TOPIC_MISSING",
        f'topic "{name}" does not exist',
        hint=did_you_mean(name, known) or f"Create it: penstock topics create {name}",
    )


def existing_topic(name: str) -> TopicError:
    """The error for a name that is taken."""
    return TopicError(
        "TOPIC_EXISTS",
        f'topic "{name}" exists already',
        hint="Choose another name, or delete the topic first.",
    )


def missing_partition(place: TopicPartition, count: int) -> TopicError:
    """The error for a partition that a topic does not have."""
    return TopicError(
        "PARTITION_RANGE",
        f'partition {place.partition} of topic "{place.topic}" does not exist',
        hint=f"It has {count}, counted from 0.",
    )


def offset_outside(place: TopicPartition, offset: int, bounds: Bounds) -> OffsetError:
    """The error for an offset that a partition does not have."""
    return OffsetError(
        "OFFSET_RANGE",
        f'offset {offset} of partition "{place}" is outside {bounds.start} to {bounds.end}',
        hint="Read from the earliest or the latest offset instead.",
    )


def check_topic_schema(name: str, schema: pa.Schema | None) -> None:
    """Refuse columns that no log stores."""
    if schema is None:
        return
    reserved = (*SYSTEM_COLUMNS, *RESERVED_COLUMNS)
    for field in schema:
        if field.name in reserved or schema.names.count(field.name) > 1:
            raise SchemaError(
                "COLUMN_NAME",
                f'column "{field.name}" of topic "{name}" is reserved or stands twice',
                hint=f"Rename it; reserved are {', '.join(reserved)}.",
            )
        if pa.types.is_dictionary(field.type):
            raise SchemaError(
                "COLUMN_TYPE",
                f'column "{field.name}" of topic "{name}" is a dictionary, which the log does'
                " not store",
                hint=f"Use {field.type.value_type} in the schema; rows may still be encoded.",
            )
