"""What was asked for of programs, on a running Spark: C01 to C45, D12, G05 to G10."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock.front.dsl.stream import Stream
from penstock.jobs.record import new_job
from penstock.jobs.running import pids_of
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.progress import Progress
from penstock.plan.explain import Running, explain
from penstock.spark.admission import BatchLimits
from penstock.spark.query import ProgramQuery
from penstock.spark.run import start
from tests.eventually import eventually
from tests.spark.programs import VISITS, Row, append, folded, rows, stored_rows

pytestmark = pytest.mark.spark

COLUMNS = {"page": str, "n": int, "at": "timestamp"}


def program(describe: Callable[[Stream], Stream], *, topic: str = "visits") -> ps.App:
    app = ps.App("check")
    describe(app.stream(topic, schema=COLUMNS, event_time="at", lateness="5s")).to("out")
    return app


def by_window(stream: Stream) -> Stream:
    return stream.group_by("page").window(ps.tumbling("10s")).agg(total=ps.sum("n"), n=ps.count())


@pytest.fixture
def started(spark: SparkSession) -> Iterator[list[ProgramQuery]]:
    """Queries that are stopped when the test ends."""
    found: list[ProgramQuery] = []
    yield found
    for query in found:
        query.stop()


# C01, C29
def test_a_query_runs_until_it_is_stopped_and_tells_its_watermark(
    log: EmbeddedLog, home: Path, started: list[ProgramQuery]
) -> None:
    app = program(lambda stream: stream.agg(n=ps.count()))
    append(log, [])
    query = app.start(home=home)
    started.append(query)
    # The first batch finds an empty topic.
    eventually(lambda: query.progress is not None)
    for count in (0, 2, 4, 6):
        eventually(lambda: stored_rows(log, "out")[-1:] == ([{"n": count}] if count else []))  # noqa: B023
        append(log, rows(2, first=count))
    eventually(lambda: stored_rows(log, "out")[-1:] == [{"n": 8}])
    assert query.spark.isActive
    progress = query.progress
    assert progress is not None
    latest = max(row["at"] for part in range(0, 8, 2) for row in rows(2, first=part)[::2])
    assert progress.watermark is not None
    assert progress.watermark <= latest.timestamp() * 1000
    query.stop()
    assert query.status == "stopped"
    append(log, rows(2, first=8))
    assert stored_rows(log, "out")[-1:] == [{"n": 8}]


# C08, C25, C45
def test_every_batch_has_an_id_a_size_a_watermark_and_the_skew_of_its_rows(
    log: EmbeddedLog, home: Path, tmp_path: Path, spark: SparkSession
) -> None:
    seen: list[Progress] = []
    append(log, rows(120))
    began = round(time.time() * 1000)
    query = start(
        program(by_window).physical(),
        home=home,
        checkpoint=tmp_path / "job",
        session=spark,
        bounded=True,
        limits=BatchLimits(rows=50),
        on_progress=seen.append,
    )
    query.await_end()
    assert [progress.batch for progress in seen] == list(range(len(seen)))
    sizes = [progress.batch_rows for progress in seen]
    assert sum(sizes) == 120
    assert max(sizes) <= 50
    pairs = [(pair.clock, pair.watermark) for pair in seen[-1].history]
    assert pairs == sorted(pairs)
    assert [watermark for _, watermark in pairs] == sorted(watermark for _, watermark in pairs)
    assert all(clock >= began for clock, _ in pairs)
    for progress in seen:
        if progress.skew is not None:
            # The visits are of 1970: that far is the clock ahead of them.
            assert began - 100_000 < progress.skew.least <= progress.skew.mean
            assert progress.skew.mean <= progress.skew.greatest <= time.time() * 1000
    assert any(progress.skew is not None for progress in seen)


# C04
def test_the_same_program_over_files_gives_what_it_gives_over_a_topic(
    log: EmbeddedLog, home: Path, tmp_path: Path, spark: SparkSession
) -> None:
    given = rows(90)
    append(log, given)
    program(by_window).start(home=home, checkpoint=tmp_path / "topic", bounded=True).await_end()
    for number in range(3):
        table = pa.Table.from_pylist(given[number::3], VISITS)
        pq.write_table(table, tmp_path / f"visits-{number}.parquet", row_group_size=10)
    app = ps.App("batch")
    by_window(app.files(tmp_path / "visits-*.parquet", schema=COLUMNS, event_time="at")).to(
        "from-files"
    )
    query = app.start(home=home, checkpoint=tmp_path / "files")
    query.await_end()
    assert query.status == "ended"
    assert folded(stored_rows(log, "from-files")) == folded(stored_rows(log, "out"))


def without_memory(stream: Stream) -> Stream:
    return stream.filter(ps.col("n") % 3 > 0).map(
        lambda row: {"twice": 2 * row["n"]}, schema={"twice": int}
    )


# D12, G06
@pytest.mark.parametrize("describe", [without_memory, by_window])
def test_other_settings_give_another_plan_and_the_same_output(
    log: EmbeddedLog,
    home: Path,
    tmp_path: Path,
    spark: SparkSession,
    describe: Callable[[Stream], Stream],
) -> None:
    append(log, rows(80))
    found, plans = [], set()
    for number, settings in enumerate(
        (ps.Settings(parallelism=1), ps.Settings(parallelism=4, buckets=5, fuse=False))
    ):
        app = ps.App("check")
        stream = app.stream("visits", schema=COLUMNS, event_time="at", lateness="5s")
        describe(stream).to(f"out-{number}")
        plans.add(app.explain("physical", settings=settings).replace(f"out-{number}", "out"))
        app.start(
            home=home, checkpoint=tmp_path / f"job-{number}", bounded=True, settings=settings
        ).await_end()
        found.append(folded(stored_rows(log, f"out-{number}")))
    assert len(plans) == 2
    assert found[0] == found[1]
    assert found[0]


# D12
def test_a_program_without_memory_is_started_again_with_nothing_to_recover(
    log: EmbeddedLog, home: Path, tmp_path: Path, started: list[ProgramQuery]
) -> None:
    app = program(without_memory)
    assert app.physical().operators == ()
    append(log, rows(30))
    first = app.start(home=home, checkpoint=tmp_path / "job")
    started.append(first)
    eventually(lambda: len(stored_rows(log, "out")) == 20)
    first.stop()
    append(log, rows(30, first=30))
    app.start(home=home, checkpoint=tmp_path / "job", bounded=True).await_end()
    twice = sorted(row["twice"] for row in stored_rows(log, "out"))
    assert twice == [2 * n for n in range(60) if n % 3]
    assert not list((tmp_path / "job").rglob("state/**/*.delta"))


# G05
def test_the_physical_plan_of_a_running_program_has_the_ids_of_its_processes(
    log: EmbeddedLog, home: Path, tmp_path: Path, started: list[ProgramQuery]
) -> None:
    app = program(by_window)
    append(log, rows(40))
    query = app.start(home=home, checkpoint=tmp_path / "job")
    started.append(query)
    eventually(lambda: query.progress is not None)
    progress = query.progress
    assert progress is not None
    job = replace(new_job(app.physical()), state="running")
    told = explain(app.plan(), stage="physical", running=Running(pids_of(job, progress), progress))
    assert f"driver (pid {os.getpid()})" in told
    jvm, worker = (
        next(item.pid for item in progress.processes if item.role == role)
        for role in ("jvm", "worker")
    )
    assert f"jvm (pid {jvm})" in told
    assert f"worker 1 (pid {worker})" in told
    assert "java" in psutil.Process(jvm).name()
    assert "jvm -> worker 1: Arrow over a socket" in told


def traced(folder: Path, name: str, seconds: float) -> Callable[[Row], Row]:
    """A step that takes its time and leaves a note of when it worked."""

    def work(row: Row) -> Row:
        began = time.time()
        time.sleep(seconds)
        with (folder / f"{name}-{os.getpid()}").open("a") as notes:
            notes.write(f"{began} {time.time()}\n")
        return row

    return work


def spans_of(folder: Path, name: str) -> list[tuple[float, float]]:
    return [
        (float(began), float(ended))
        for file in folder.glob(f"{name}-*")
        for began, ended in (line.split() for line in file.read_text().splitlines())
    ]


# G09
def test_two_branches_of_a_program_run_at_once(
    log: EmbeddedLog, home: Path, tmp_path: Path, spark: SparkSession
) -> None:
    app = ps.App("check")
    for name in ("left", "right"):
        # One partition and so one task each: those of one branch cannot take all cores.
        log.create_topic(name, schema=VISITS)
        append(log, rows(20), topic=name)
        branch = app.stream(name, schema=COLUMNS, event_time="at", lateness="5s")
        branch.map(traced(tmp_path, name, 0.02), schema=COLUMNS).to(f"{name}-out")
    app.start(home=home, checkpoint=tmp_path / "job", bounded=True).await_end()
    left, right = spans_of(tmp_path, "left"), spans_of(tmp_path, "right")
    assert len(left) == len(right) == 20
    assert any(a[0] < b[1] and b[0] < a[1] for a in left for b in right)


# G10
def test_an_operator_in_more_instances_works_on_several_rows_at_once(
    log: EmbeddedLog, home: Path, tmp_path: Path, spark: SparkSession
) -> None:
    append(log, rows(60, pages=40))

    def most_at_once(settings: ps.Settings, name: str) -> int:
        app = ps.App(name)
        stream = app.stream("visits", schema=COLUMNS, event_time="at", lateness="5s")
        totals = stream.group_by("page").agg(n=ps.sum("n"))
        totals.map(traced(tmp_path, name, 0.02), schema={"page": str, "n": int}).to(name)
        app.start(
            home=home, checkpoint=tmp_path / f"job-{name}", bounded=True, settings=settings
        ).await_end()
        spans = spans_of(tmp_path, name)
        return max(sum(begin <= at < end for begin, end in spans) for at, _ in spans)

    assert most_at_once(ps.Settings(parallelism=1), "alone") == 1
    assert most_at_once(ps.Settings(parallelism=2), "together") == 2


def test_explain_ends_with_the_plan_that_spark_made(
    log: EmbeddedLog, home: Path, tmp_path: Path, spark: SparkSession
) -> None:
    append(log, rows(4))
    query = program(by_window).start(home=home, checkpoint=tmp_path / "job", bounded=True)
    query.await_end()
    read, _, levels = query.explain().partition("What follows")
    assert "MicroBatchScan" in read
    assert "MapInArrow" in levels
    assert "Exchange" in levels
