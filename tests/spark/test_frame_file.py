"""Rows on their way from task to task are in files, which last as long as their batch."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.spark.frame_file import prepared_folder
from penstock.spark.scratch import SCRATCH
from tests.spark.faulty import arm
from tests.spark.faulty_program import FAULTY
from tests.spark.programs import Jobs, append, chained, renamed, rows, stored_rows

pytestmark = pytest.mark.spark
TOPICS = ("counts", "spread", "busy")
ROWS = 24_000
PAGES = 9_000


@pytest.fixture
def jobs(spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path) -> Jobs:
    append(log, rows(ROWS, step=0.001, pages=PAGES))
    return Jobs(spark, home, tmp_path / "job")


@pytest.fixture(autouse=True)
def _exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.spark.run.rows_of_a_whole", lambda _: None)


def in_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.spark.run.prepared_folder", lambda *_: "")


def files_of(spark: SparkSession, job: str) -> list[Path]:
    return list((Path(str(spark.conf.get(SCRATCH))) / "frames" / job).iterdir())


def given(log: EmbeddedLog, suffix: str) -> dict[str, list[dict[str, object]]]:
    return {topic: stored_rows(log, topic + suffix) for topic in TOPICS}


def test_rows_in_files_give_what_rows_in_packets_give(
    jobs: Jobs, log: EmbeddedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = jobs.run(chained(), rows=ROWS // 2)
    assert not files_of(jobs.spark, query.job)
    in_packets(monkeypatch)
    side = Jobs(jobs.spark, jobs.home, tmp_path / "packets")
    side.run(renamed(chained(), "-packets"), rows=ROWS // 2)
    wanted = given(log, "-packets")
    assert given(log, "") == wanted
    assert all(wanted.values())


def test_what_a_batch_that_failed_leaves_is_gone_at_the_next_start(
    jobs: Jobs, log: EmbeddedLog, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = jobs.start(chained(), rows=ROWS // 2, bounded=True, parts=FAULTY)
    arm(home, "level 0 done")
    with pytest.raises(RunError, match="fault at level 0 done"):
        query.await_end()
    left = files_of(jobs.spark, query.job)
    assert left
    assert prepared_folder(jobs.spark, query.job)
    assert not files_of(jobs.spark, query.job)
    jobs.run(chained(), rows=ROWS // 2)
    in_packets(monkeypatch)
    side = Jobs(jobs.spark, jobs.home, tmp_path / "packets")
    side.run(renamed(chained(), "-packets"), rows=ROWS // 2)
    assert given(log, "") == given(log, "-packets")
