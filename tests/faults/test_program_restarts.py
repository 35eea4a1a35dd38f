"""A program stopped at any commit step and started again writes what it would have written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.log.open import open_log
from penstock.spark.job_files import current_files
from penstock.spark.progress_file import left_before
from penstock.spark.run import PARTS
from tests.faults.large_job import LARGE_BATCHES, large_program, large_rows
from tests.faults.pane_job import BATCHES, told, written
from tests.faults.pane_run import JOBS, Calm, PaneRun, calm_run
from tests.faults.restarting import restarted
from tests.faults.stopping import BEFORE_OFFSETS, COMMIT_STEPS, STOPPING
from tests.spark.programs import Row

pytestmark = pytest.mark.spark

PROGRESS_FROM = COMMIT_STEPS.index("progress written")
MEETINGS = ("pairs", "eager", "known", "pages", "pauses", "rises")
LARGE_STEPS: list[list[str]] = [
    ["level 0 done", "level 1", "commit log not yet written"],
    ["level 1 done", "level 1 done"],
    ["level 0 done", "after decide"],
    ["level 0", "commit log not yet written"],
    ["progress written"],
    [],
]


@pytest.mark.timeout(400)
def test_a_restart_at_every_commit_step_changes_nothing_that_is_written(
    spark: SparkSession, tmp_path: Path, calm: Calm
) -> None:
    run = PaneRun(tmp_path, spark, STOPPING)
    files = current_files(run.checkpoint)

    def look(batch: int, step: str) -> None:
        """See that the fault was where its name says it was."""
        place = COMMIT_STEPS.index(step)
        assert files.begun == (batch - 1 if step == BEFORE_OFFSETS else batch), step
        assert files.committed == batch - 1, step
        left = left_before(files)
        assert (-1 if left is None else left.batch) == batch - (place < PROGRESS_FROM), step

    with open_log(run.home) as log:
        # All steps, dealt out over the batches in their order.
        steps = [COMMIT_STEPS[number::BATCHES] for number in range(BATCHES)]
        query = restarted(run, run.feed(log), steps, look)
        assert_same(written(log), calm)
        assert told(query.progress) == calm.progress
        assert not list((run.home / "staging").rglob("*.arrows"))


@pytest.mark.timeout(400)
def test_a_restart_changes_nothing_that_joins_processes_and_patterns_write(
    spark: SparkSession, tmp_path: Path
) -> None:
    program, rows_of = JOBS["meetings"]
    calm, faulty = (
        PaneRun(tmp_path / name, spark, parts, BATCHES, program, rows_of)
        for name, parts in (("calm", PARTS), ("faulty", STOPPING))
    )
    wanted = calm_run(calm)
    assert all(wanted.written[topic] for topic in MEETINGS)
    with open_log(faulty.home) as log:
        # It writes nothing that is large enough to be staged.
        reached = [step for step in COMMIT_STEPS if step != "staging rows"]
        steps = [reached[number::BATCHES] for number in range(BATCHES)]
        query = restarted(faulty, faulty.feed(log), steps, lambda *_: None)
        assert_same(written(log), wanted)
        assert told(query.progress) == wanted.progress


@pytest.mark.timeout(400)
def test_a_restart_finds_the_large_states_of_the_batch_before(
    spark: SparkSession, tmp_path: Path
) -> None:
    calm, faulty = (
        PaneRun(tmp_path / name, spark, parts, LARGE_BATCHES, large_program, large_rows)
        for name, parts in (("calm", PARTS), ("faulty", STOPPING))
    )
    wanted = calm_run(calm)
    with open_log(faulty.home) as log:
        query = restarted(faulty, faulty.feed(log), LARGE_STEPS, lambda *_: None)
        assert_same(written(log), wanted)
        assert told(query.progress) == wanted.progress
    # What failed attempts have written does not stay.
    assert state_files(faulty) == state_files(calm)
    assert max(state_files(calm).values()) > 1
    assert any(name.endswith(".part") for name in state_files(calm))


def state_files(run: PaneRun) -> dict[str, int]:
    """How many files of each kind each bucket has."""
    memory = current_files(run.checkpoint).memory
    found = [file for kind in ("*.state", "*.part") for file in memory.rglob(kind)]
    return dict(Counter(f"{file.parent.relative_to(memory)}{file.suffix}" for file in found))


def assert_same(found: dict[str, list[Row]], calm: Calm) -> None:
    assert found.keys() == calm.written.keys()
    for topic, wanted in calm.written.items():
        assert found[topic] == wanted, topic
