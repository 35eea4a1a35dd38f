from __future__ import annotations

import pyarrow as pa
import pytest
from typing_extensions import override

from penstock.errors import OffsetError, SchemaError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import Chunk, ReadLimit
from penstock.spark.filters import Span
from penstock.spark.scan import Scan, scan
from penstock.spark.split import Split

TIME = pa.timestamp("us", tz="UTC")


class Watched(EmbeddedLog):
    """A log that remembers which columns it was asked for."""

    asked: list[tuple[str, ...] | None]

    @override
    def read(self, topic: str, partition: int, offset: int, limit: ReadLimit) -> Chunk:
        self.asked.append(limit.columns)
        return super().read(topic, partition, offset, limit)


@pytest.fixture
def watched(log: EmbeddedLog) -> Watched:
    log.create_topic("t", schema=pa.schema([("n", pa.int64()), ("wide", pa.string())]))
    for first in range(0, 100, 10):
        numbers = range(first, first + 10)
        rows = {"_timestamp": [1000 * n for n in numbers], "n": numbers, "wide": ["w"] * 10}
        log.append("t", 0, pa.table(rows))
    opened = Watched(log.storage)
    opened.asked = []
    return opened


def rows_of(log: EmbeddedLog, what: Scan, split: Split) -> pa.Table:
    return pa.Table.from_batches(scan(log, what, split), what.wanted)


def test_columns_not_wanted_are_not_read(watched: Watched) -> None:
    what = Scan(topic="t", columns=("n",), wanted=pa.schema([("n", pa.int64())]))
    assert rows_of(watched, what, Split(0, 5, 95)).column("n").to_pylist() == list(range(5, 95))
    assert set(watched.asked) == {("n",)}


def test_times_are_selected_before_rows_leave_python(watched: Watched) -> None:
    wanted = pa.schema([("n", pa.int64())])
    what = Scan(topic="t", columns=("n",), wanted=wanted, times=Span(20_000, 22_999))
    assert rows_of(watched, what, Split(0, 0, 100)).column("n").to_pylist() == [20, 21, 22]
    assert set(watched.asked) == {("n", "_timestamp")}


def test_rows_are_in_the_types_that_spark_expects(watched: Watched) -> None:
    wanted = pa.schema([("_partition", pa.int32()), ("_timestamp", TIME), ("n", pa.string())])
    what = Scan(topic="t", columns=("_timestamp", "n"), wanted=wanted)
    rows = rows_of(watched, what, Split(0, 7, 8))
    assert rows.column("_partition").to_pylist() == [0]
    assert rows.column("_timestamp").cast(pa.int64()).to_pylist() == [7_000_000]
    assert rows.column("n").to_pylist() == ["7"]


def test_many_small_batches_are_put_together(watched: Watched) -> None:
    what = Scan(topic="t", columns=("n",), wanted=pa.schema([("n", pa.int64())]))
    assert [batch.num_rows for batch in scan(watched, what, Split(0, 0, 100))] == [100]


def test_a_column_that_cannot_be_cast_is_named(watched: Watched) -> None:
    what = Scan(topic="t", columns=("wide",), wanted=pa.schema([("wide", pa.int64())]))
    with pytest.raises(SchemaError, match="COLUMN_TYPE"):
        rows_of(watched, what, Split(0, 0, 100))


def test_records_that_were_promised_and_are_gone_are_missed(watched: Watched) -> None:
    what = Scan(topic="t", columns=("n",), wanted=pa.schema([("n", pa.int64())]))
    with pytest.raises(OffsetError, match="SPLIT_UNREADABLE"):
        rows_of(watched, what, Split(0, 90, 120))
