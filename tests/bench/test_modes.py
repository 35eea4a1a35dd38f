from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from bench import modes
from bench.catalog import ROOT
from bench.result import load
from bench.scale import Scale
from penstock.log.open import open_log

MILLISECOND = 1_000_000


def test_an_event_waits_for_the_first_result_that_counts_it(tmp_path: Path) -> None:
    modes._create_topics(tmp_path)
    sent = [("a", 10), ("b", 20), ("a", 30), ("a", 40)]
    columns = [[user for user, _ in sent], [1.0] * 4, [at * MILLISECOND for _, at in sent]]
    rows = pa.Table.from_arrays([pa.array(column) for column in columns], schema=modes._EVENTS)
    with open_log(tmp_path) as log:
        log.append("events", 0, rows)
    reactions = [("a", 1, 15 * MILLISECOND), ("a", 3, 50 * MILLISECOND), ("b", 1, 60 * MILLISECOND)]
    assert modes._waited(tmp_path, reactions) == [5.0, 40.0, 20.0, 10.0]


@pytest.mark.slow
def test_events_taken_one_at_a_time_are_reacted_to_one_by_one(tmp_path: Path) -> None:
    latencies = modes._latencies(Scale(quick=True, folder=tmp_path), modes._EVENT, 20, 50)
    assert len(latencies) == 20
    assert all(latency > 0 for latency in latencies)


# In a process of its own, since it ends its Spark session.
@pytest.mark.soak
def test_both_modes_have_percentiles_of_latency_and_throughput(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "modes", "--quick", "--results", str(tmp_path)]
    subprocess.run([*command, "--folder", str(tmp_path / "files")], check=True, cwd=ROOT)
    measures = load(tmp_path / "modes.json").measures
    assert {measure.unit for measure in measures} == {"ms", "events/s", "s"}
    both = [measure for measure in measures if measure.baseline]
    assert [measure.label[:3] for measure in both] == ["p50", "p99", "thr"]
    assert all(measure.judged > 1 for measure in both if measure.unit == "ms")
