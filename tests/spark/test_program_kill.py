"""Killing the whole process of a program, again and again: it gives what an unkilled one gives."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.spark.file_clock import FileClock
from tests.spark.programs import Row, append, chained, rows, stored_rows, with_panes

pytestmark = [pytest.mark.spark, pytest.mark.kill]

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.soak  # tests/faults kills programs of more kinds in every run
@pytest.mark.timeout(600)
def test_a_program_killed_three_times_gives_every_pane_once(tmp_path: Path) -> None:
    kill_and_compare(tmp_path, kills=3)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_program_killed_two_hundred_times_gives_every_pane_once(tmp_path: Path) -> None:
    kill_and_compare(tmp_path, kills=200)


def kill_and_compare(folder: Path, *, kills: int) -> None:
    given = rows(80 * kills)
    moments = random.Random(7)
    for name in ("killed", "whole"):
        (folder / name).mkdir()
        with open_log(folder / name / "home") as log:
            append(log, given)
        FileClock(folder / name / "clock").set(100_000)
    for _ in range(kills):
        run_program(folder / "killed", kill_after=(moments.randrange(4), moments.uniform(0, 0.5)))
    run_program(folder / "killed")
    run_program(folder / "whole")
    for sink in with_panes(chained()).sinks:
        killed, whole = (
            written(folder / "killed", sink.topic),
            written(folder / "whole", sink.topic),
        )
        assert sorted(map(str, killed)) == sorted(map(str, whole)), sink.topic
        assert killed, sink.topic


def written(folder: Path, topic: str) -> list[Row]:
    with open_log(folder / "home") as log:
        return stored_rows(log, topic)


def run_program(folder: Path, *, kill_after: tuple[int, float] | None = None) -> None:
    """Run the program to its end, or kill it some time after it has done some batches."""
    places = (str(folder / "home"), str(folder / "job"))
    # A group of its own, so that the kill takes Spark's JVM along with Python.
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.spark.program_process", *places],
        cwd=PROJECT,
        # What a killed Spark leaves behind goes with the test.
        env={**os.environ, "TMPDIR": str(folder)},
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
