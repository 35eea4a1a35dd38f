"""Checkpoints of releases that let Spark keep the states are gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import current_files
from penstock.spark.run import PARTS
from penstock.spark.stored_states import state_tables
from tests.spark.earlier_release import forget_notes, run_as_before
from tests.spark.faulty import arm
from tests.spark.faulty_program import FAULTY
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


@pytest.mark.parametrize("step", ["", "decide"], ids=["done", "half done"])
def test_a_job_of_an_earlier_release_goes_on_with_all_that_it_knew(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path, step: str
) -> None:
    program = with_panes(chained())
    jobs = Jobs(spark, home, tmp_path / "job")
    clock = FileClock(tmp_path / "clock")
    batches: list[tuple[int, list[Row]]] = []

    def more() -> None:
        number = len(batches)
        batches.append((100_000 + 7_000 * number, rows(12, first=12 * number)))
        clock.set(batches[-1][0])
        append(log, batches[-1][1])

    def run() -> None:
        parts = FAULTY if step else PARTS
        jobs.start(program, clock=clock, until="caught up", parts=parts).await_end()

    with pytest.MonkeyPatch.context() as patch:
        run_as_before(patch)
        for _ in range(2):
            more()
            run()
        if step:
            more()
            arm(home, step)
            with pytest.raises(RunError, match=f"fault at {step}"):
                run()
    forget_notes(jobs.checkpoint)
    known = state_tables(jobs.checkpoint, "agg-1", session=spark)
    assert sum(table.height for table in known.values()) > 0
    for _ in range(2):
        more()
        run()
    assert not (current_files(jobs.checkpoint).spark / "state").exists()
    for topic, wanted in batched(program, batches).items():
        found = stored_rows(log, topic)
        assert sorted(map(str, found)) == sorted(map(str, wanted)), topic
        assert folded(found) == folded(wanted), topic
