from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.log.record import TopicPartition
from penstock.spark.progress import progress_of


def a_report(**changes: object) -> dict[str, Any]:
    offsets = {"topic": "t", "id": "i"}
    report: dict[str, Any] = {
        "id": "q",
        "batchId": 3,
        "timestamp": "2026-11-16T01:02:03.500Z",
        "numInputRows": 10,
        "processedRowsPerSecond": 2.5,
        "durationMs": {"triggerExecution": 4000, "addBatch": 3500},
        "eventTime": {"watermark": "2026-11-16T01:00:00.000Z"},
        "sources": [
            {
                "endOffset": {**offsets, "offsets": {"0": 5, "1": 7}},
                "latestOffset": {**offsets, "offsets": {"0": 9, "1": 7}},
            }
        ],
    }
    return {**report, **changes}


def test_a_report_becomes_a_value() -> None:
    progress = progress_of(a_report())
    assert (progress.query_id, progress.batch, progress.rows) == ("q", 3, 10)
    assert progress.started_at == datetime(2026, 11, 16, 1, 2, 3, 500_000, tzinfo=UTC)
    assert progress.watermark_at == datetime(2026, 11, 16, 1, tzinfo=UTC)
    assert progress.duration == timedelta(seconds=4)
    assert progress.durations["addBatch"] == timedelta(seconds=3.5)
    assert progress.lag_by_partition == {TopicPartition("t", 0): 4, TopicPartition("t", 1): 0}
    assert progress.lag == 4
    assert progress.position_by_partition == {TopicPartition("t", 0): 5, TopicPartition("t", 1): 7}


def test_offsets_may_come_as_text_and_sources_may_be_of_other_kinds() -> None:
    source = a_report()["sources"][0]
    texts = {name: json.dumps(offset) for name, offset in source.items()}
    others = [{"endOffset": "7", "latestOffset": None}, {"endOffset": "not json"}, {}]
    assert progress_of(a_report(sources=[texts, *others])).lag == 4


def test_what_spark_leaves_out_is_empty() -> None:
    bare = a_report(durationMs={}, eventTime={}, processedRowsPerSecond=None, sources=[])
    progress = progress_of(bare)
    assert (progress.watermark_at, progress.lag, progress.duration) == (None, 0, timedelta(0))
