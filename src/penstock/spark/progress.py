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
    watermark = (reported.get("eventTime") or {}).get("watermark")
    return Progress(
        query_id=str(reported["id"]),
        batch=int(reported["batchId"]),
        started_at=_time(reported["timestamp"]),
        rows=int(reported["numInputRows"]),
        rows_per_second=float(reported.get("processedRowsPerSecond") or 0.0),
        lag_by_partition=_lags(reported["sources"]),
        watermark_at=_time(watermark) if watermark else None,
        duration=durations.get("triggerExecution", timedelta()),
        durations=durations,
    )


def _lags(sources: list[Mapping[str, Any]]) -> dict[TopicPartition, int]:
    lags: dict[TopicPartition, int] = {}
    for source in sources:
        end, latest = _offset(source.get("endOffset")), _offset(source.get("latestOffset"))
        # Sources of other kinds have offsets of their own making.
        if not {"topic", "offsets"} <= end.keys() or "offsets" not in latest:
            continue
        for partition, newest in latest["offsets"].items():
            place = TopicPartition(str(end["topic"]), int(partition))
            lags[place] = max(0, newest - end["offsets"].get(partition, 0))
    return lags


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
