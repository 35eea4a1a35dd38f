from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import measure
from bench.catalog import NAMES, ROOT
from bench.result import Result, load
from bench.scale import Scale

# Those below have a test of their own, or need Spark.
SPARK = {
    *(
        "endurance",
        "formats",
        "functions",
        "back_pressure",
        "guarantees",
        "joins",
        "kafka",
        "latency",
        "many_jobs",
        "modes",
        "nexmark",
        "realtime",
        "recovery",
        "scaling",
        "smoke",
        "spark_read",
        "state_size",
        "windowed",
    ),
}
OTHERS = [name for name in NAMES if name not in {"volume", "clients", *SPARK}]


def quick(name: str, folder: Path) -> Result:
    result = measure(name, Scale(quick=True, folder=folder))
    assert list(folder.iterdir()) == [], "a bench leaves nothing behind"
    return result


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_a_bench_runs_at_small_sizes(name: str, tmp_path: Path) -> None:
    result = quick(name, tmp_path)
    assert result.name == name
    assert all(value >= 0 for measure in result.measures for value in measure.ours)


@pytest.mark.slow
def test_volume_is_measured_at_three_sizes_and_compared(tmp_path: Path) -> None:
    measures = quick("volume", tmp_path).measures
    appends = [item for item in measures if item.label.startswith("append,")]
    assert sum("stored" in item.label for item in appends) == 6
    assert {item.target.limit for item in appends if item.target is not None} == {1.5}


@pytest.mark.slow
def test_clients_are_counted_in_megabytes_and_records(tmp_path: Path) -> None:
    measures = quick("clients", tmp_path).measures
    assert {item.unit for item in measures} == {"MB/s", "records/s", "s"}
    assert any("producers 2, consumers 2" in item.label for item in measures)
    assert any("group of 3 against 1" in item.label for item in measures)


@pytest.mark.soak
def test_spark_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "spark_read", "--quick", "--results", str(tmp_path)]
    subprocess.run([*command, "--folder", str(tmp_path / "files")], check=True, cwd=ROOT)
    units = {item.unit for item in load(tmp_path / "spark_read.json").measures}
    assert units == {"rows/s", "rows/batch-s", "rows/CPU-s", "ms"}


@pytest.mark.soak
def test_kafka_is_measured_beside_the_embedded_log_and_sparks_connector(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "kafka", "--quick", "--results", str(tmp_path)]
    subprocess.run([*command, "--folder", str(tmp_path / "files")], check=True, cwd=ROOT)
    measures = load(tmp_path / "kafka.json").measures
    assert [item.target is not None for item in measures] == [False, True, True]
