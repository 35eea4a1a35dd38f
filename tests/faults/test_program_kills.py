"""Killing the whole process of a program, Spark and all: it writes what it would have written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.model.plan import Plan
from penstock.testing.job_crash import CrashOptions, crash_job
from tests.faults.pane_run import JOBS, SETTINGS

pytestmark = [pytest.mark.spark, pytest.mark.kill]

MOMENTS = (timedelta(0), timedelta(seconds=1))
BATCHES_A_KILL = 4


@pytest.mark.timeout(600)
def test_programs_killed_twice_write_what_they_would_have_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    # Together they are one job: they read the same rows.
    kill_and_compare(spark, tmp_path, ("panes", "meetings"), kills=2)


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", JOBS)
def test_a_program_killed_200_times_writes_what_it_would_have_written(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    kill_and_compare(spark, tmp_path, (name,), kills=int(os.environ.get("SOAK_CYCLES", "200")))


def kill_and_compare(
    spark: SparkSession, folder: Path, names: Sequence[str], *, kills: int
) -> None:
    sinks = [sink for name in names for sink in JOBS[name][0]().sinks]
    batches = BATCHES_A_KILL * kills
    given = [row for number in range(batches) for row in JOBS[names[0]][1](number)]
    options = CrashOptions(
        session=spark, folder=folder, batches=batches, settings=SETTINGS, moments=MOMENTS
    )
    program = Plan("killed", tuple(sinks))
    crashes = crash_job(program, {"visits": given}, at=(), kills=kills, seed=11, options=options)
    assert crashes.kills == kills, "there was nothing left to be killed"
    assert all(crashes.written[sink.topic] for sink in sinks)
