"""Want 6: what a batch has given is noted with its results, whatever Spark forgets of the batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.connect.database import transaction
from penstock.errors import RunError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.model.job_settings import JobSettings
from penstock.model.store import store_of
from penstock.spark.job_files import JobFiles, current_files
from tests.connect.server import missing, postgres
from tests.spark.programs import Jobs, append, records, rows

pytestmark = pytest.mark.spark

COLUMNS = {"page": str, "n": int, "at": "timestamp"}
TOPICS = ("seen", "totals", "latest")
TABLES = ("seen", "totals")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """A database file, and a server where the machine has one."""
    file = str(tmp_path_factory.mktemp("stores") / "results.sqlite")
    if missing():
        yield [file]
    else:
        with postgres() as address:
            yield [file, address]


def program(stores: list[str]) -> ps.App:
    """Rows that are added, a result by key, and a table by key; to topics and to stores."""
    app = ps.App("forgetful")
    visits = app.stream("visits", schema=COLUMNS, event_time="at", lateness="5s")
    seen = visits.select("page", "n").to("seen")
    totals = visits.group_by("page").agg(total=ps.sum("n"), visits=ps.count()).to("totals")
    visits.to_table("page").to("latest")
    for number, store in enumerate(stores):
        seen.persist(store, f"seen_{number}")
        totals.persist(store, f"totals_{number}")
    return app


def in_store(store: str, table: str) -> list[Any]:
    if store.startswith("postgresql"):
        with transaction(store_of(store)) as session:
            return sorted(map(tuple, session.run(f"SELECT * FROM {table}")))
    with closing(sqlite3.connect(store)) as database:
        return sorted(database.execute(f"SELECT * FROM {table}").fetchall())


def content(log: EmbeddedLog, stores: list[str]) -> dict[str, list[Any]]:
    """All that the program has written, record by record and row by row."""
    topics: dict[str, list[Any]] = {topic: records(log, topic) for topic in TOPICS}
    return topics | {
        f"{table}_{number}": in_store(store, f"{table}_{number}")
        for number, store in enumerate(stores)
        for table in TABLES
    }


def lose_commit(files: JobFiles) -> None:
    (files.spark / "commits" / str(files.committed)).unlink()


def lose_progress(files: JobFiles) -> None:
    files.progress.unlink()


def lose_batch(files: JobFiles) -> None:
    (files.spark / "offsets" / str(files.begun)).unlink()
    lose_commit(files)


@pytest.mark.timeout(400)
def test_a_batch_that_spark_has_forgotten_is_given_once_to_every_sink(
    spark: SparkSession, tmp_path: Path, stores: list[str]
) -> None:
    jobs = Jobs(spark, tmp_path / "home", tmp_path / "job")
    app = program(stores)
    losses: list[Callable[[JobFiles], None]] = [lose_commit, lose_progress, lose_batch]
    with open_log(jobs.home) as log:
        for number, loss in enumerate(losses):
            append(log, rows(12, first=12 * number))
            jobs.start(app.plan(), until="caught up", rows=6).await_end()
            before = content(log, stores)
            assert all(before.values())
            files = current_files(jobs.checkpoint)
            done = files.committed
            loss(files)
            jobs.start(app.plan(), until="caught up").await_end()
            assert content(log, stores) == before, loss.__name__
            assert files.begun == files.committed == done, loss.__name__
        append(log, rows(12, first=36))
        jobs.start(app.plan(), until="caught up").await_end()
        after = content(log, stores)
    assert sorted(row["n"] for row in after["seen"]) == list(range(48))
    for number in range(len(stores)):
        assert sorted(n for _, n in after[f"seen_{number}"]) == list(range(48))
        assert sum(row[-1] for row in after[f"totals_{number}"]) == 48


def test_what_can_be_given_once_only_is_not_run_again_on_a_guess(
    spark: SparkSession, tmp_path: Path
) -> None:
    jobs = Jobs(spark, tmp_path / "home", tmp_path / "job")
    how = JobSettings(guarantee="at-most-once")
    app = ps.App("careful")
    app.stream("visits", schema=COLUMNS, event_time="at").select("n").to("seen")
    with open_log(jobs.home) as log:
        append(log, rows(6))
        jobs.start(app.plan(), until="caught up", how=how).await_end()
        lose_commit(current_files(jobs.checkpoint))
        append(log, rows(6, first=6))
        jobs.start(app.plan(), until="caught up", how=how).await_end()
        assert sorted(row["n"] for row in records(log, "seen")) == list(range(12))
        lose_progress(current_files(jobs.checkpoint))
        append(log, rows(6, first=12))
        with pytest.raises(RunError, match="PROGRESS_MISMATCH"):
            jobs.start(app.plan(), until="caught up", how=how).await_end()
        assert len(records(log, "seen")) == 12
