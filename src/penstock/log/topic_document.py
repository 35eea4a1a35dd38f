"""A topic as a JSON document: how it is kept on disk and sent over a socket."""

from __future__ import annotations

import base64
from dataclasses import asdict, fields
from datetime import timedelta
from typing import Any

import pyarrow as pa

from penstock.log.topic import Topic, TopicConfig

_DURATIONS = {
    "retention",
    "segment_age",
    "fsync_interval",
    "tombstone_retention",
    "min_compaction_lag",
    "max_compaction_lag",
}


def topic_to_document(topic: Topic) -> dict[str, object]:
    """Give a topic as a document that `topic_from_document` reads."""
    config = {
        name: value.total_seconds() if isinstance(value, timedelta) else value
        for name, value in asdict(topic.config).items()
    }
    schema = None if topic.schema is None else topic.schema.serialize().to_pybytes()
    return {
        "name": topic.name,
        "topic_id": topic.topic_id,
        "partitions": topic.partitions,
        "created_at": topic.created_at,
        "config": config,
        "columns": None if topic.schema is None else topic.schema.to_string(),
        "arrow_schema": None if schema is None else base64.b64encode(schema).decode(),
    }


def topic_from_document(saved: dict[str, Any]) -> Topic:
    """Read a topic; settings that a newer Penstock added are left out."""
    known = {item.name for item in fields(TopicConfig)}
    config: dict[str, Any] = {
        name: timedelta(seconds=value) if name in _DURATIONS and value is not None else value
        for name, value in saved["config"].items()
        if name in known
    }
    schema = None
    if saved["arrow_schema"] is not None:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(saved["arrow_schema"])))
    return Topic(
        saved["name"],
        saved["partitions"],
        schema,
        TopicConfig(**config),
        saved["created_at"],
        saved["topic_id"],
    )
