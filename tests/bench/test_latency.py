from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.catalog import ROOT
from bench.latency import waits
from bench.result import load

MILLISECOND = 1_000_000


def test_an_event_waits_for_the_first_result_it_is_in() -> None:
    sent = [(1, 10), (2, 20), (1, 30), (1, 40)]
    reactions = [(1, 10, 15), (1, 30, 50), (2, 20, 60), (1, 30, 65), (1, 40, 70)]
    found = waits(
        [(user, at * MILLISECOND) for user, at in sent],
        [(user, at * MILLISECOND, seen * MILLISECOND) for user, at, seen in reactions],
    )
    assert found == [5.0, 40.0, 20.0, 30.0]


# In a process of its own, since it ends its Spark session.
@pytest.mark.soak
@pytest.mark.parametrize("name", ["latency", "scaling"])
def test_benches_of_programs_run_at_small_sizes(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", name, "--quick", "--results", str(tmp_path)]
    subprocess.run([*command, "--folder", str(tmp_path / "files")], check=True, cwd=ROOT)
    measures = load(tmp_path / f"{name}.json").measures
    assert all(value > 0 for measure in measures for value in measure.ours)
