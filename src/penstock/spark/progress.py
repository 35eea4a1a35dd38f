"""How a query fares: one frozen value for each micro-batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.log.record import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One micro-batch: what it read, how long it took, and how far behind it leaves the query."""

    query_id: str
    batch: int
    started_at: datetime
    rows: int
    rows_per_second: float
    position_by_partition: Mapping[TopicPartition, int]
    lag_by_partition: Mapping[TopicPartition, int]
    watermark_at: datetime | None
    duration: timedelta
    durations: Mapping[str, timedelta]

    @property
    def lag(self) -> int:
        """The records that were waiting when the batch ended, over all partitions."""
        return sum(self.lag_by_partition.values())


def progress_of(reported: Mapping[str, Any]) -> Progress:
    """Read the report that Spark gives as `query.lastProgress` or as JSON to a listener."""
    durations = {
        name: timedelta(milliseconds=spent)
        for name, spent in (reported.get("durationMs") or {}).items()
    }
    positions = _offsets(reported["sources"], "endOffset")
    watermark = (reported.get("eventTime") or {}).get("watermark")
    return Progress(
        query_id=str(reported["id"]),
        batch=int(reported["batchId"]),
        started_at=_time(reported["timestamp"]),
        rows=int(reported["numInputRows"]),
        rows_per_second=float(reported.get("processedRowsPerSecond") or 0.0),
        position_by_partition=positions,
        lag_by_partition={
            place: max(0, newest - positions.get(place, 0))
            for place, newest in _offsets(reported["sources"], "latestOffset").items()
        },
        watermark_at=_time(watermark) if watermark else None,
        duration=durations.get("triggerExecution", timedelta()),
        durations=durations,
    )


def _offsets(sources: list[Mapping[str, Any]], which: str) -> dict[TopicPartition, int]:
    found: dict[TopicPartition, int] = {}
    for source in sources:
        offset = _offset(source.get(which))
        # Sources of other kinds have offsets of their own making.
        if {"topic", "offsets"} <= offset.keys():
            for partition, at in offset["offsets"].items():
                found[TopicPartition(str(offset["topic"]), int(partition))] = int(at)
    return found


def _offset(value: object) -> dict[str, Any]:
    """Spark gives an offset as JSON text or, in newer versions, as the object it stands for."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
