from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from bench import flink
from bench.catalog import ROOT
from bench.join_rows import KEYS, TOPICS, Rows, write_rows
from bench.result import Measure, load
from penstock.log.open import open_log
from penstock.log.port import ReadLimit

HOPELESS = (sys.executable, "-c", "raise SystemExit('no Java')")


def in_its_own_process(name: str, folder: Path) -> tuple[Measure, ...]:
    command = [sys.executable, "-m", "bench", name, "--quick", "--results", str(folder)]
    subprocess.run([*command, "--folder", str(folder / "files")], check=True, cwd=ROOT)
    return load(folder / f"{name}.json").measures


@pytest.mark.parametrize("rows", TOPICS, ids=lambda rows: rows.topic)
def test_a_topic_and_its_files_hold_the_same_rows(rows: Rows, tmp_path: Path) -> None:
    write_rows(tmp_path, rows, 2, 1000)
    size = 100 if rows.tenth else 1000
    with open_log(tmp_path) as log:
        found = [log.read(rows.topic, number, 0, ReadLimit()).rows for number in range(2)]
    for partition, table in enumerate(found):
        files = sorted((tmp_path / "files" / rows.topic).glob(f"*-{partition}.parquet"))
        assert [pq.read_metadata(file).num_rows for file in files] == [size // 2, size // 2]
        written = [row for file in files for row in pq.read_table(file).to_pylist()]
        assert table.select(rows.schema.names).to_pylist() == written


def test_a_tenth_of_the_orders_comes_twice_and_a_key_stays_in_its_partition(tmp_path: Path) -> None:
    write_rows(tmp_path, TOPICS[0], 1, 20_000)
    parts = [
        pq.read_table(tmp_path / "files" / "orders" / f"00000-{partition}.parquet")
        for partition in range(2)
    ]
    numbers = np.concatenate([part["order"].to_numpy() for part in parts])
    assert len(np.unique(numbers)) == 18_000
    users = [
        {int(name.removeprefix("user-")) for name in part["user"].to_pylist()} for part in parts
    ]
    assert all(user % 2 == partition for partition, some in enumerate(users) for user in some)
    assert max(users[0] | users[1]) < KEYS


def test_pyflink_is_left_out_with_a_word_where_none_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(flink.PYTHON, raising=False)
    assert flink.flink_here() is None
    assert flink.PYTHON in capsys.readouterr().err


def test_what_a_job_of_pyflink_died_of_is_told() -> None:
    with pytest.raises(RuntimeError, match="ended with 1: no Java"):
        flink._answer(list(HOPELESS))


# In processes of their own, since they end their Spark session.
@pytest.mark.soak
def test_each_join_is_measured_and_those_spark_has_are_compared(tmp_path: Path) -> None:
    measures = in_its_own_process("joins", tmp_path)
    assert {item.unit for item in measures} == {"events/s", "events/CPU-s"}
    compared = {item.label for item in measures if item.baseline and "PyFlink" not in item.label}
    assert len({item.label for item in measures} - compared) >= 2
    assert [item.label for item in measures if item.target and not item.baseline] == []


@pytest.mark.soak
def test_functions_and_patterns_are_measured(tmp_path: Path) -> None:
    measures = in_its_own_process("functions", tmp_path)
    limits = [item.target.limit for item in measures if item.target is not None]
    assert limits == [200_000, 200_000, 300_000, 300_000, 300_000]
    assert [item.label for item in measures if item.baseline] == [
        "a function a row, two states and a timer, beside Spark's"
    ]
