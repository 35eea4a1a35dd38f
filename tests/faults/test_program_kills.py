"""Killing the whole process of a program, Spark and all: it writes what it would have written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.log.open import open_log
from penstock.plan.planner import plan
from penstock.spark.job_files import current_files
from penstock.spark.program_progress import program_progress
from penstock.spark.progress_file import left_before
from penstock.spark.run import PARTS
from penstock.testing.faults import KillLoop
from tests.faults.pane_job import told, written
from tests.faults.pane_run import JOBS, Calm, PaneRun, calm_run

pytestmark = [pytest.mark.spark, pytest.mark.kill]

PROJECT = Path(__file__).resolve().parents[2]
MOMENTS = (timedelta(0), timedelta(seconds=1.2))
BATCHES_A_KILL = 5


@pytest.mark.timeout(600)
def test_programs_killed_three_times_write_what_they_would_have_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_and_compare(spark, tmp_path, monkeypatch, ("panes", "meetings"), kills=3)


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", JOBS)
def test_a_program_killed_200_times_writes_what_it_would_have_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kills = int(os.environ.get("SOAK_CYCLES", "200"))
    kill_and_compare(spark, tmp_path, monkeypatch, (name,), kills=kills)


def kill_and_compare(
    spark: SparkSession,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: Sequence[str],
    *,
    kills: int,
) -> None:
    batches = BATCHES_A_KILL * kills
    calm = {
        name: calm_run(PaneRun(folder / "calm" / name, spark, PARTS, batches, *JOBS[name]))
        for name in names
    }
    killed, ready = folder / "killed", folder / "ready"
    runs = {name: PaneRun(killed / name, None, PARTS, batches, *JOBS[name]) for name in names}
    # What a killed Spark leaves behind goes with the test.
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.chdir(PROJECT)
    child = [sys.executable, "-m", "tests.faults.pane_child"]
    command = [*child, str(killed), str(ready), str(batches), *names]
    for run in runs.values():
        with open_log(run.home) as log:
            run.feed(log).begin()
    with KillLoop(command, seed=11, kills=kills, moments=MOMENTS, ready=ready) as loop:
        for cycle in loop:
            assert not cycle.ended_by_itself, "there was nothing left to be killed"
    subprocess.run(command, check=True)
    for name, run in runs.items():
        assert_as_calm(run, calm[name])


def assert_as_calm(run: PaneRun, calm: Calm) -> None:
    with open_log(run.home) as log:
        found = written(log)
    for topic, wanted in calm.written.items():
        assert found[topic] == wanted, topic
    left = left_before(current_files(run.checkpoint))
    assert left is not None
    assert told(program_progress(left, plan(run.program()))) == calm.progress
