"""Want 4: of four partitions one is silent and one is ten minutes behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from penstock.kernel.watermark import explain_text
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.plan import Plan, Sink
from penstock.plan.planner import plan
from penstock.spark.batch_time import watermarks_of
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import current_files
from penstock.spark.progress_file import left_before
from tests.spark.programs import VISITS, Jobs, by_page, stored_rows, visits

pytestmark = pytest.mark.spark
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SILENT, SLOW = 2, 3


def held(checkpoint: Path, program: Plan) -> list[str]:
    """Give the partitions that hold the watermark, as they are explained."""
    left = left_before(current_files(checkpoint))
    assert left is not None
    text = explain_text(watermarks_of(left.marks, plan(program).scans), left.at.clock)
    return [line.split(":")[0].strip() for line in text.splitlines() if "holds" in line]


@pytest.mark.timeout(300)
def test_windows_close_without_the_silent_partition_and_no_row_of_the_slow_one_is_late(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    log.create_topic("visits", partitions=4, schema=VISITS)
    jobs, clock = Jobs(spark, home, tmp_path / "job"), FileClock(tmp_path / "clock")
    source = visits(delay=timedelta(0), idle=timedelta(seconds=30))
    program = Plan("slow", (Sink(by_page(source, 60), "counts"),))
    wanted = 0

    def arrive(second: int, **minutes: float) -> None:
        """Let one visit come to each partition named, at minutes after noon, and run."""
        nonlocal wanted
        clock.set(round(1000 * (NOON.timestamp() + second)))
        for name, minute in minutes.items():
            at = NOON + timedelta(minutes=minute)
            row = {"page": f"/{name}", "n": 1, "at": at}
            log.append("visits", int(name[1:]), pa.Table.from_pylist([row], VISITS))
        wanted += len(minutes)
        jobs.start(program, clock=clock, until="caught up").await_end()

    def holding() -> list[str]:
        return held(jobs.checkpoint, program)

    arrive(0, p0=0, p1=0.1, p2=0.2, p3=-10)
    assert holding() == ["scan-visits[3]"]
    arrive(20, p0=2, p1=2.1, p3=-8.9)
    closed = {row["page"] for row in stored_rows(log, "counts")}
    assert closed == {"/p3"}
    # The silent one is left out from now on; the slow one still holds all others.
    arrive(40, p0=3, p1=3.1, p3=-7.9)
    assert holding() == [f"scan-visits[{SLOW}]"]
    assert {row["page"] for row in stored_rows(log, "counts")} == {"/p3"}
    arrive(55, p0=4, p1=4.1, p3=4.2)
    found = stored_rows(log, "counts")
    assert {row["page"] for row in found} == {"/p0", "/p1", f"/p{SILENT}", "/p3"}
    assert stored_rows(log, "counts.late") == []
    # The last minute is open: one row of each but the silent one.
    assert sum(row["visits"] for row in found) == wanted - 3
