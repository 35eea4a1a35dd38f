"""A job on a standalone cluster of three processes, by configuration alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.log.open import open_log
from tests.spark.cluster.job import BATCH_ROWS
from tests.spark.cluster.standalone import Standalone, bare_python, standalone
from tests.spark.programs import Row, stored_rows

pytestmark = [pytest.mark.spark, pytest.mark.kill, pytest.mark.slow]

PROJECT = Path(__file__).resolve().parents[3]
BATCHES = 14
USERS = 3_000
START = 1_700_000_000_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with standalone(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture
def project(tmp_path: Path, cluster: Standalone) -> Path:
    """A project whose only word about the cluster is its settings; Penstock is not there."""
    settings = f"""
home = "shared"

[spark]
master = "{cluster.address}"

[cluster]
python = "{bare_python(tmp_path / "python")}"

[cluster.spark]
spark.executor.memory = "500m"
"""
    (tmp_path / "penstock.toml").write_text(settings, encoding="utf-8")
    return tmp_path


@pytest.mark.timeout(240)
def test_a_job_takes_its_package_along_and_a_killed_worker_costs_nothing(
    project: Path, cluster: Standalone
) -> None:
    given = visits(BATCHES * BATCH_ROWS)
    with open_log(project / "shared") as log:
        log.create_topic("visits", partitions=2, schema=given.schema)
        for partition in range(2):
            log.append("visits", partition, given.slice(partition).take(every_second(given)))
    found = run_and_kill(project, cluster, after=4)
    assert found.startswith("2 executors with Penstock from penstock-")
    assert found.endswith(".zip")
    with open_log(project / "shared") as log:
        pages, users = stored_rows(log, "pages"), stored_rows(log, "users")
    by_window = totals(given, lambda row: (row["page"], window(row)))
    assert sorted(windows(pages)) == sorted((*key, *found) for key, found in by_window.items())
    # A table tells every change once; what it says of a user last is what counts.
    assert len({(row["user"], row["visits"]) for row in users}) == len(users)
    last = {row["user"]: (row["visits"], row["total"]) for row in sorted(users, key=by_visits)}
    assert last == totals(given, lambda row: row["user"])


def windows(pages: list[Row]) -> Iterator[tuple[Any, ...]]:
    for row in pages:
        yield row["page"], millis(row["window_start"]), row["visits"], row["total"]


def by_visits(row: Row) -> int:
    return int(row["visits"])


def millis(moment: datetime) -> int:
    return round(1000 * moment.timestamp())


def window(row: Row) -> int:
    return millis(row["at"]) // 10_000 * 10_000


def totals(given: pa.Table, key: Callable[[Row], Any]) -> dict[Any, tuple[int, int]]:
    """Count the rows of each key, and sum their numbers, with nothing of ours."""
    found: dict[Any, tuple[int, int]] = {}
    for row in given.to_pylist():
        visits, total = found.get(key(row), (0, 0))
        found[key(row)] = (visits + 1, total + row["n"])
    return found


def every_second(given: pa.Table) -> pa.Array:
    return pa.array(range(0, len(given) - 1, 2))


def visits(count: int) -> pa.Table:
    numbers = range(count)
    return pa.table(
        {
            "page": [f"p{n % 50}" for n in numbers],
            "user": [n * 7 % USERS for n in numbers],
            "n": list(numbers),
            "at": pa.array([START + 10 * n for n in numbers], pa.timestamp("ms", tz="UTC")),
        }
    )


def run_and_kill(project: Path, cluster: Standalone, *, after: int) -> str:
    """Run the job to its end; after some batches a worker is gone. Give what executors said."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.spark.cluster.job"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(project)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        found = child.stdout.readline().strip()
        for _ in range(after):
            child.stdout.readline()
        cluster.kill_worker(0)
        said, words = child.communicate()
        assert child.returncode == 0, words[-3000:]
        # The end of the input is a batch of its own, or part of the last one.
        assert int(said.split()[-1]) >= BATCHES - 1
        return found
