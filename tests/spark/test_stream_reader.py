"""The driver's side of the stream, without Spark: offsets, limits, waiting."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from penstock.errors import OffsetError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import Bounds
from penstock.log.record import TopicPartition
from penstock.spark.options import source_options
from penstock.spark.schema import spark_schema
from penstock.spark.source import TopicStreamReader
from tests.spark.conftest import view_rows


def a_reader(log: EmbeddedLog, **options: str) -> TopicStreamReader:
    chosen = source_options({"home": "h", "topic": "views", **options})
    return TopicStreamReader(chosen, spark_schema(log.topic("views")), lambda _: log)


def test_all_is_read_where_spark_asks_for_all_whatever_the_limits(views: EmbeddedLog) -> None:
    reader = a_reader(views, maxRowsPerBatch="100")
    start = reader.initialOffset()
    assert isinstance(reader.getDefaultReadLimit(), ReadMaxRows)
    limited = reader.latestOffset(start, reader.getDefaultReadLimit())
    assert limited["offsets"] == {"0": 50, "1": 50}
    assert reader.latestOffset(start, ReadAllAvailable())["offsets"] == {"0": 150, "1": 150}


def test_an_idle_reader_waits_for_an_append_by_another_process(
    views: EmbeddedLog, home: Path
) -> None:
    reader = a_reader(views, start="latest")
    start = reader.initialOffset()
    assert reader.latestOffset(start, ReadAllAvailable()) == start
    with open_log(home) as other:
        appending = threading.Timer(0.01, other.append, ("views", 1, view_rows(3)))
        appending.start()
        end = start
        for _ in range(100):
            end = reader.latestOffset(start, ReadAllAvailable())
            if end != start:
                break
        appending.join()
    assert end["offsets"] == {"0": 150, "1": 153}


def test_records_removed_before_they_were_read_are_missed(
    views: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = a_reader(views)
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadAllAvailable())
    trimmed = {TopicPartition("views", number): Bounds(20, 150) for number in range(2)}
    monkeypatch.setattr(views, "snapshot", lambda _: trimmed)
    with pytest.raises(OffsetError, match="OFFSET_EXPIRED"):
        reader.partitions(start, end)
