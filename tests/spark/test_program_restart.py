"""A program that stops at any step and is started again gives what it would have given."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.spark.file_clock import FileClock
from tests.spark.faulty import arm, is_armed
from tests.spark.faulty_program import FAULTY, PROGRAM_STEPS
from tests.spark.programs import (
    Jobs,
    Row,
    append,
    batched,
    chained,
    folded,
    rows,
    stored_rows,
    with_panes,
)

pytestmark = pytest.mark.spark
TWICE = ("level 0 done", "progress written", "decide")


@pytest.mark.soak  # tests/faults restarts programs of more kinds in every run
@pytest.mark.timeout(400)
def test_a_program_stopped_at_every_step_of_a_batch_gives_every_pane_once(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    program = with_panes(chained())
    jobs = Jobs(spark, home, tmp_path / "job")
    clock = FileClock(tmp_path / "clock")
    batches: list[tuple[int, list[Row]]] = []

    def run() -> None:
        jobs.start(program, clock=clock, until="caught up", parts=FAULTY).await_end()

    for number, step in enumerate(PROGRAM_STEPS):
        batches.append((100_000 + 7_000 * number, rows(12, first=12 * number)))
        clock.set(batches[-1][0])
        append(log, batches[-1][1])
        # Some batches fail a second time when they are run again.
        for _ in range(2 if step in TWICE else 1):
            arm(home, step)
            with pytest.raises(RunError, match=f"fault at {step}"):
                run()
            assert not is_armed(home), step
        run()
    expected = batched(program, batches)
    for topic, wanted in expected.items():
        found = stored_rows(log, topic)
        assert sorted(map(str, found)) == sorted(map(str, wanted)), topic
        assert folded(found) == folded(wanted), topic
    assert expected["panes"]
    assert not list((home / "staging").rglob("*.arrows"))
