"""Many small batches leave no more files than few, and a job starts again as fast."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.spark.job_files import current_files
from tests.spark.programs import Jobs, append, rows, windowed

pytestmark = pytest.mark.spark
# Two stores, each with the last 10 versions, some of them whole, and with what these need.
MOST, PATIENCE = 120, 90.0


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with open_log(tmp_path / "home") as opened:
        yield opened


def counted(folder: Path) -> int:
    return sum(1 for path in folder.rglob("*") if path.is_file())


def wait_until(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not met() and time.monotonic() < deadline:
        time.sleep(0.2)


@pytest.mark.timeout(400)
def test_the_files_of_a_job_do_not_grow_in_number_with_its_batches(
    spark: SparkSession, log: EmbeddedLog, tmp_path: Path
) -> None:
    jobs = Jobs(spark, tmp_path / "home", tmp_path / "job")
    batches = 80
    append(log, rows(2 * batches, step=0.1))
    found: list[tuple[int, int]] = []
    files = current_files(jobs.checkpoint)

    def look(_: object) -> None:
        whole, states = counted(tmp_path), counted(files.spark / "state")
        found.append((whole - states, states))

    query = jobs.start(windowed(), rows=2, on_progress=look)
    try:
        wait_until(lambda: len(found) >= batches)
        assert len(found) >= batches
        others = [others for others, _ in found]
        # Two files come with each batch, and go some batches later, in the background.
        assert max(others[batches // 2 :]) <= max(others[: batches // 2]) + batches // 4
        states = files.spark / "state"
        wait_until(lambda: counted(states) < MOST)
        assert counted(states) < MOST
    finally:
        query.stop()
    assert not (tmp_path / "home" / "staging").exists() or counted(tmp_path / "home/staging") == 0


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
def test_twenty_thousand_batches_leave_files_and_start_up_flat(
    spark: SparkSession, log: EmbeddedLog, tmp_path: Path
) -> None:
    jobs = Jobs(spark, tmp_path / "home", tmp_path / "job")
    done, found = 0, []
    for upto in (1000, *range(4000, 20_001, 4000)):
        append(log, rows(2 * (upto - done), first=2 * done, step=0.1))
        jobs.start(windowed(), rows=2, until="caught up").await_end()
        done = upto
        append(log, rows(2, first=2 * done, step=0.1))
        begun = time.monotonic()
        jobs.start(windowed(), rows=2, until="caught up").await_end()
        seconds = time.monotonic() - begun
        wait_until(lambda: counted(tmp_path / "job") <= 300)
        found.append((done, counted(tmp_path), round(seconds, 2)))
        done += 1
    # Said in the record of the soak.
    print(found)  # noqa: T201
    files, spent = [item[1] for item in found], [item[2] for item in found]
    assert max(files[1:]) <= files[0] + 60, found
    assert max(spent[1:]) <= 2 * spent[0] + 1, found
