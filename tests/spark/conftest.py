"""One Spark session for all tests of a run; a log of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.spark.session import spark_session, stop_session
from tests.spark.pipes import Pipes

VIEWS = pa.schema([("userid", pa.string()), ("n", pa.int64())])


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    yield spark_session(master="local[2]")
    stop_session()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def log(home: Path) -> Iterator[EmbeddedLog]:
    with open_log(home) as opened:
        yield opened


@pytest.fixture
def pipes(spark: SparkSession, home: Path, tmp_path: Path) -> Pipes:
    return Pipes(spark, home, tmp_path / "checkpoint")


@pytest.fixture
def views(log: EmbeddedLog) -> EmbeddedLog:
    """A log with 300 records in topic `views`, partition 0 and 1, one second apart."""
    log.create_topic("views", partitions=2, schema=VIEWS)
    for partition in range(2):
        log.append("views", partition, view_rows(150, partition))
    return log


def view_rows(count: int, partition: int = 0, first: int = 0) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "_timestamp": pa.array([1_000_000 + 1000 * n for n in numbers], pa.int64()),
            "_key": [f"u{n % 7}".encode() for n in numbers],
            "userid": [f"u{n % 7}" for n in numbers],
            "n": [partition * 1_000_000 + n for n in numbers],
        }
    )


def values(frame: DataFrame) -> list[int]:
    return sorted(int(row[0]) for row in frame.select("n").collect())


def stored(log: EmbeddedLog, topic: str) -> list[int]:
    """The numbers `n` that a reader without Spark finds in a topic."""
    found: list[int] = []
    for place, bound in log.snapshot([topic]).items():
        offset = bound.start
        while offset < bound.end:
            chunk = log.read(*place, offset, ReadLimit(columns=("n",), stop=bound.end))
            found += chunk.rows.column("n").to_pylist()
            offset = chunk.next_offset
    return sorted(found)
