"""Many jobs in one process: queries that share a scan, planners that share their memory."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from penstock.front.sql.statement import Started
from penstock.jobs.store import job_store
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.pressure import lag_of
from penstock.model.physical import Settings
from penstock.spark.joint.files import Group, begun, group_with, read_groups, write_group
from penstock.spark.planner.forking import Planners
from penstock.spark.planner.server import ASKED, PIPE, RUNNER
from penstock.spark.session import planner_server
from penstock.sql.query_job import query_runnable
from penstock.sql.query_place import checkpoint_of, taken
from penstock.sql.session import SqlSession
from penstock.sql.sharing import Sharing
from penstock.sql.spark_jobs import QueryJobs
from tests.spark.programs import Jobs, append, rows, stored_rows, windowed
from tests.sql.kit import opened, told
from tests.sql.kit import rows as answered

SETTINGS = Settings(buckets=1, parallelism=1)
STATEMENTS = """
CREATE STREAM orders (id STRING KEY, item STRING, amount INT, ts BIGINT)
  WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1, TIMESTAMP='ts');
CREATE TABLE per_minute AS SELECT item, COUNT(*) AS n FROM orders
  WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY item;
CREATE STREAM large AS SELECT id, amount FROM orders WHERE amount > 1;
CREATE TABLE totals AS SELECT item, SUM(amount) AS total FROM orders GROUP BY item;
"""
ORDERS = (
    "('a', 'tea', 2, 1000), ('b', 'tea', 1, 2000), ('c', 'ox', 7, 61000)",
    "('d', 'tea', 20, 3000), ('e', 'ox', 1, 62000)",
    "('f', 'tea', 5, 125000)",
)
ANSWERS = (
    "SELECT item, windowstart, n FROM per_minute ORDER BY item, windowstart;",
    "SELECT id, amount FROM large ORDER BY id;",
    "SELECT item, total FROM totals ORDER BY item;",
)


def order(session: SqlSession, number: int) -> None:
    told(session, f"INSERT INTO orders VALUES {ORDERS[number]};")


def answers(session: SqlSession) -> list[list[tuple[object, ...]]]:
    return [answered(session, text) for text in ANSWERS]


@pytest.fixture
def separate(tmp_path: Path) -> list[list[tuple[object, ...]]]:
    """What the queries give that run each by itself."""
    with opened(tmp_path / "separate", here=True) as session:
        told(session, STATEMENTS)
        for number in range(len(ORDERS)):
            order(session, number)
        session.catch_up()
        return answers(session)


def wait_for(what: Callable[[], bool], step: Callable[[], object] = lambda: None) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        step()
        time.sleep(0.05)


def caught_up(log: EmbeddedLog, queries: Sequence[Started]) -> bool:
    return all(query.id in log.groups() for query in queries) and not any(
        lag_of(log, query.id, "orders") for query in queries
    )


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_queries_that_share_give_what_they_give_alone_and_one_leaves_with_what_it_knows(
    tmp_path: Path, separate: list[list[tuple[object, ...]]]
) -> None:
    home = tmp_path / "home"
    with opened(home) as session, open_log(home) as log:
        told(session, STATEMENTS)
        order(session, 0)
        queries = session.definitions().runnable
        jobs = QueryJobs(home, SETTINGS, Sharing(home, settings=SETTINGS))
        try:
            jobs.follow(queries)
            wait_for(lambda: caught_up(log, queries), jobs.raise_failure)
            (record,) = job_store(home).jobs()
            assert record.name == "shared-1"
            # Told after its positions are committed.
            wait_for(lambda: job_store(home).progress(record.id) is not None)
            progress = job_store(home).progress(record.id)
            assert progress is not None
            # Three queries, and each row read once.
            assert {one.operator: one.taken for one in progress.accounts}["scan-orders"] == 3

            # One is paused: the others go on, and it goes on later from where it was.
            order(session, 1)
            others = [query.id for query in queries[1:]]
            jobs.follow(queries[1:])
            wait_for(lambda: list(read_groups(home)[0].members) == others, jobs.raise_failure)
            assert begun(checkpoint_of(home, queries[0].id))
            order(session, 2)
            wait_for(lambda: caught_up(log, queries), lambda: jobs.follow(queries))
            jobs.raise_failure()
        finally:
            jobs.stop()
        assert answers(session) == separate
        names = {record.name for record in job_store(home).jobs()}
        assert names == {"shared-1", queries[0].id}


def test_only_queries_that_begin_together_and_read_the_same_share(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, STATEMENTS)
        told(
            session,
            """CREATE STREAM others (id STRING KEY, n INT)
                 WITH (KAFKA_TOPIC='others', VALUE_FORMAT='JSON', PARTITIONS=1);
               CREATE STREAM copied AS SELECT id, n FROM others;""",
        )
        first, second, third, copied = session.definitions().runnable
    with taken(tmp_path, third.id, "spark"):
        pass
    sharing = Sharing(tmp_path, settings=SETTINGS)

    def named(*queries: Started) -> dict[str, str]:
        found = sharing.runnables(queries, lambda query: query_runnable(tmp_path, query))
        return {runnable.name: runnable.version for runnable in found}

    together = named(first, second, third, copied)
    assert list(together) == ["shared-1", third.id, copied.id]
    assert group_with(tmp_path, first.id) == read_groups(tmp_path)[0]
    assert group_with(tmp_path, third.id) is None
    # Asked again the answer is the same; of two one leaves, and both run by themselves.
    assert named(first, second, third, copied) == together
    apart = named(second, third)
    assert list(apart) == ["shared-1", second.id, third.id]
    assert apart["shared-1"] != together["shared-1"]


def test_a_group_is_remembered(tmp_path: Path) -> None:
    for name in ("shared-10", "shared-2"):
        write_group(tmp_path, Group(name, {"a": "1", "b": "2"}))
    assert [group.name for group in read_groups(tmp_path)] == ["shared-2", "shared-10"]


@pytest.fixture
def started(spark: SparkSession, home: Path, tmp_path: Path, log: EmbeddedLog) -> Jobs:
    append(log, rows(20))
    return Jobs(spark, home, tmp_path / "job", SETTINGS)


@pytest.mark.spark
def test_an_idle_job_waits_for_an_append_and_its_end_does_not_wait(
    started: Jobs, log: EmbeddedLog
) -> None:
    server = planner_server()
    assert server is not None
    before = {child.pid for child in psutil.Process(server).children()}
    query = started.start(windowed())
    try:
        wait_for(lambda: query.progress is not None)
        (planner,) = {child.pid for child in psutil.Process(server).children()} - before
        assert planner in {process.pid for process in query.progress.processes}  # type: ignore[union-attr]
        # By now a question waits for a second or more.
        time.sleep(1.2)
        assert not query.busy
        append(log, rows(20, first=20))
        wait_for(lambda: bool(stored_rows(log, "counts")))
    finally:
        begun_at = time.monotonic()
        query.stop()
    assert time.monotonic() - begun_at < 5
    wait_for(lambda: not psutil.pid_exists(planner))


def test_what_is_no_planner_is_passed_on_and_without_a_server_there_is_one_anyway(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    planners = Planners(folder)
    script = str(folder / "python")
    # Nobody has told it how to call Spark, so a planner ends with words, wherever it runs.
    ask = [script, "-m", RUNNER]
    try:
        assert planners.pid is not None
        told = subprocess.run([script, "-c", "print(1)"], capture_output=True, check=True)
        assert told.stdout == b"1\n"
        asked = subprocess.run(ask, capture_output=True, check=True)
        assert asked.stderr == b""
        wait_for(lambda: "PYTHON_WORKER_FACTORY" in (folder / "planners.txt").read_text())
        assert not list(folder.glob(f"{ASKED}*"))
        psutil.Process(planners.pid).kill()
        wait_for(lambda: not (folder / PIPE).exists())
        alone = subprocess.run(ask, capture_output=True, check=False)
        assert alone.returncode
        assert RUNNER.rpartition(".")[2].encode() in alone.stderr
    finally:
        planners.close()


def test_where_there_are_no_pipes_planners_are_started_as_spark_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError("no pipes here")

    monkeypatch.setattr("os.mkfifo", refused)
    planners = Planners(tmp_path)
    try:
        assert planners.pid is None
    finally:
        planners.close()
