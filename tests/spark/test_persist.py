"""Results in a store, and views made again from the log, on a running Spark (D30, E21, J08)."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.errors import JobError, RunError, StateError, StoreError
from penstock.jobs.record import JobRecord, new_job
from penstock.jobs.store import job_store
from penstock.log.embedded.log import EmbeddedLog
from penstock.spark.aside import Staging, staged_outputs, store_target
from penstock.spark.rebuild import forget, is_forgetting
from tests.spark.faulty import arm
from tests.spark.faulty_program import FAULTY
from tests.spark.programs import Jobs, Row, append, folded, rows, stored_rows

pytestmark = pytest.mark.spark

COLUMNS = {"page": str, "n": int, "at": "timestamp"}
STEPS = (
    "sink called",
    "progress written",
    "decide",
    "after decide",
    "commit log not yet written",
)


def program(store: Path) -> ps.App:
    app = ps.App("views")
    visits = app.stream("visits", schema=COLUMNS, event_time="at", lateness="5s")
    visits.group_by("page").agg(total=ps.sum("n"), visits=ps.count()).to("totals").persist(
        store, "totals_by_page"
    )
    visits.select("page", "n").persist(store, "seen")
    visits.to_table("page").filter(ps.col("n") % 2 == 0).persist(store, "even")
    return app


def in_store(store: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(store)) as database:
        return sorted(database.execute(statement).fetchall())


def expected(given: Sequence[Row]) -> dict[str, list[tuple[Any, ...]]]:
    """What the tables hold in the end, by plain Python."""
    totals: dict[str, list[int]] = {}
    for row in given:
        total = totals.setdefault(row["page"], [0, 0])
        total[0] += row["n"]
        total[1] += 1
    return {
        "SELECT page, total, visits FROM totals_by_page": sorted(
            (page, *total) for page, total in totals.items()
        ),
        "SELECT page, n FROM seen": sorted((row["page"], row["n"]) for row in given),
    }


@pytest.mark.timeout(400)
def test_rows_reach_a_store_once_wherever_a_batch_is_stopped(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    store = tmp_path / "results.sqlite"
    jobs = Jobs(spark, home, tmp_path / "job")
    given: list[Row] = []
    for number, step in enumerate(STEPS):
        more = rows(12, first=12 * number)
        given += more
        append(log, more)
        arm(home, step)
        with pytest.raises(RunError, match=f"fault at {step}"):
            jobs.start(program(store).plan(), until="caught up", parts=FAULTY).await_end()
        jobs.start(program(store).plan(), until="caught up").await_end()
        for statement, wanted in expected(given).items():
            assert in_store(store, statement) == wanted, step
    assert in_store(store, "SELECT page FROM even")
    assert all(n % 2 == 0 for (n,) in in_store(store, "SELECT n FROM even"))


def test_many_rows_reach_a_store_as_few_do(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    store = tmp_path / "results.sqlite"
    # Enough for tasks to write them aside.
    given = [row | {"page": f"{row['page']:x<100}"} for row in rows(30_000, step=0.001, pages=5000)]
    append(log, given)
    physical = program(store).physical()
    seen = pl.DataFrame({"page": [row["page"] for row in given], "n": range(len(given))})
    where = Staging(str(home), "test", 0, 0)
    staged = staged_outputs([("out-seen", seen)], physical, lambda _: log, where)
    assert staged is not None
    assert {store_target(piece.topic) for piece in staged.pieces} == {"out-seen"}
    Jobs(spark, home, tmp_path / "job").run(program(store).plan())
    for statement, wanted in expected(given).items():
        assert in_store(store, statement) == wanted


def test_a_store_that_cannot_be_used_is_told_before_anything_runs(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    append(log, rows(2))
    (tmp_path / "results.sqlite").mkdir()
    with pytest.raises(StoreError, match="STORE_FAILED"):
        Jobs(spark, home, tmp_path / "job").start(program(tmp_path / "results.sqlite").plan())


# J08, and D29 on Spark: a lost state is made again from the log.
@pytest.mark.timeout(400)
def test_a_view_that_was_lost_is_made_again_with_equal_content(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    store = tmp_path / "results.sqlite"
    given = rows(60)
    append(log, given)
    app = program(store)
    raw = stored_rows(log, "visits")

    def run(*, rebuild: bool = False) -> None:
        app.run(home=home, checkpoint=tmp_path / "job", bounded=True, rebuild=rebuild)

    def content() -> list[object]:
        found: list[object] = [in_store(store, statement) for statement in expected(given)]
        return [*found, in_store(store, "SELECT page, n FROM even"), _last(log)]

    run()
    before = content()
    assert before[0]
    with closing(sqlite3.connect(store)) as database:
        database.execute("UPDATE totals_by_page SET total = -1")
        database.commit()
    shutil.rmtree(tmp_path / "job")
    run(rebuild=True)
    assert content() == before
    assert stored_rows(log, "visits") == raw
    assert len(stored_rows(log, "totals")) == len(set(map(str, stored_rows(log, "totals"))))


def _last(log: EmbeddedLog) -> dict[str, Row]:
    return {row["page"]: row for row in stored_rows(log, "totals")}


def test_a_rebuild_that_was_interrupted_is_finished_by_the_next_start(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    store, checkpoint = tmp_path / "results.sqlite", tmp_path / "job"
    given = rows(20)
    append(log, given)
    jobs = Jobs(spark, home, checkpoint)
    jobs.run(program(store).plan())
    before = folded(stored_rows(log, "totals"))

    def dies() -> None:
        raise StateError("STATE_FILE", "the power is gone")

    with pytest.raises(StateError):
        forget(program(store).physical(), log, checkpoint, dies)
    assert is_forgetting(checkpoint)
    jobs.run(program(store).plan())
    assert folded(stored_rows(log, "totals")) == before
    assert not is_forgetting(checkpoint)


def test_the_results_of_a_job_that_runs_are_not_dropped(home: Path, tmp_path: Path) -> None:
    app = program(tmp_path / "results.sqlite")
    job = new_job(app.physical(), checkpoint=str(tmp_path / "job"))
    with (
        JobRecord(job_store(home), job),
        pytest.raises(JobError, match="JOB_RUNNING"),
    ):
        app.run(home=home, checkpoint=tmp_path / "job", rebuild=True)
