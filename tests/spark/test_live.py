from __future__ import annotations

import time

import pytest
from pyspark.sql import DataFrame

from penstock.log.embedded.log import EmbeddedLog
from tests.spark.conftest import VIEWS, view_rows
from tests.spark.pipes import Pipes

pytestmark = pytest.mark.spark


def test_a_running_query_gives_what_is_published_after_its_start(
    log: EmbeddedLog, pipes: Pipes
) -> None:
    log.create_topic("views", partitions=2, schema=VIEWS)
    seen: list[int] = []

    def gather(frame: DataFrame, _: int) -> None:
        seen.extend(row["n"] for row in frame.collect())

    writer = pipes.stream("views").writeStream.foreachBatch(gather)
    query = writer.option("checkpointLocation", str(pipes.checkpoint)).start()
    try:
        for first in (0, 50):
            given = view_rows(50, 1, first=first)
            log.append("views", 1, given)
            _wait_for(seen, given.column("n").to_pylist())
    finally:
        query.stop()
    assert len(seen) == len(set(seen)) == 100


def _wait_for(seen: list[int], expected: list[int]) -> None:
    deadline = time.monotonic() + 60
    while not set(expected) <= set(seen):
        assert time.monotonic() < deadline, f"{len(seen)} rows came"
        time.sleep(0.02)
