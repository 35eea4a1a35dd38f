"""Killing the whole process of a pipeline, again and again: its output equals its input."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.log.embedded.log import EmbeddedLog
from tests.spark.conftest import VIEWS, stored, view_rows

pytestmark = [pytest.mark.spark, pytest.mark.kill]

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(600)
def test_a_pipeline_killed_writes_each_record_once(
    log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    kill_and_compare(log, home, tmp_path, kills=1)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_pipeline_killed_a_hundred_times_writes_each_record_once(
    log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    kill_and_compare(log, home, tmp_path, kills=100)


def kill_and_compare(log: EmbeddedLog, home: Path, tmp_path: Path, *, kills: int) -> None:
    moments = random.Random(7)
    log.create_topic("views", partitions=2, schema=VIEWS)
    log.create_topic("copy", partitions=3, schema=VIEWS)
    given: list[int] = []
    for number in range(kills):
        for partition in range(2):
            rows = view_rows(600, partition, first=600 * number)
            log.append("views", partition, rows)
            given += rows.column("n").to_pylist()
        batches, pause = moments.randrange(1, 4), moments.uniform(0, 0.5)
        run_pipeline(home, tmp_path / "checkpoint", kill_after=(batches, pause))
        seen = stored(log, "copy")
        assert len(set(seen)) == len(seen)
        assert set(seen) <= set(given)
    run_pipeline(home, tmp_path / "checkpoint")
    assert stored(log, "copy") == sorted(given)


def run_pipeline(
    home: Path, checkpoint: Path, *, kill_after: tuple[int, float] | None = None
) -> None:
    """Run the pipeline to its end, or kill it some time after it has done some batches."""
    command = [sys.executable, "-m", "tests.spark.pipeline", str(home), str(checkpoint)]
    # A group of its own, so that the kill takes Spark's JVM along with Python.
    child = subprocess.Popen(
        command,
        cwd=PROJECT,
        # What a killed Spark leaves behind goes with the test.
        env={**os.environ, "TMPDIR": str(checkpoint.parent)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with child:
        assert child.stdout is not None
        if kill_after is None:
            child.stdout.read()
            assert child.wait() == 0
            return
        batches, pause = kill_after
        for _ in range(batches + 1):
            child.stdout.readline()
        time.sleep(pause)
        os.killpg(child.pid, signal.SIGKILL)
