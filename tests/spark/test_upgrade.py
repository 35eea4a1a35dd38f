"""A job is upgraded while it runs on Spark: state kept, carried over, or made from the log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typing_extensions import override

from penstock.errors import JobError
from penstock.jobs.run import run_job
from penstock.jobs.store import job_store
from penstock.jobs.takeover import Rebuild
from penstock.jobs.upgrade import settle
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.job_settings import JobSettings
from penstock.model.measure import Measure
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.source import Stream
from penstock.plan.planner import plan
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING
from penstock.serve.hosting import definition_runnable
from penstock.spark.shadow.run import SparkEngine
from tests.jobs.test_takeover import Killed, killed_at
from tests.jobs.upgrades import Shop, shop, totals

pytestmark = pytest.mark.spark


class OnSpark(Shop):
    """The job as a host runs it."""

    @property
    @override
    def engine(self) -> SparkEngine:  # type: ignore[override]
        return SparkEngine(self.home)

    @contextmanager
    def hosted(self) -> Iterator[list[str]]:
        """Run the job again and again as its definition says; give the runs that there were."""
        runs: list[str] = []
        over = threading.Event()

        def host() -> None:
            while not over.is_set():
                runnable = definition_runnable(self.home, self.definition)
                try:
                    store, job = job_store(self.home), runnable.describe()
                    done = run_job(runnable.begin, store, job, ending=over.is_set)
                    runs.append(done.id)
                except JobError:
                    # Somebody wants it quiet, or it has become another version meanwhile.
                    over.wait(0.2)

        thread = threading.Thread(target=host)
        thread.start()
        try:
            yield runs
        finally:
            over.set()
            thread.join()


def downstream() -> Physical:
    """The number of regions by total, of the table that the shop keeps."""
    columns = Schema((Field("region", STRING), Field("total", INT64)))
    table = Stream("changes", columns, changelog=True)
    counted = Aggregate(
        table, ("total",), (Measure("regions", "count"),), refinement=Refinement("retracting")
    )
    return plan(Plan("spread", (Sink(counted, "spread", ("total",), upsert=True),)), Settings())


@pytest.mark.timeout(300)
def test_a_bug_is_corrected_by_a_rebuild_while_jobs_behind_it_run_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    del spark
    job = OnSpark(tmp_path)
    job.sell(1, 20, 30, 4, 50, 60)
    job.submit(shop())
    behind = OnSpark(tmp_path, "spread")
    job.run()
    behind.submit(downstream())
    with job.hosted() as runs, behind.hosted() as others:
        seen: list[dict[str, int]] = []

        def reached(step: str) -> None:
            seen.append(job.table())
            if step == "building":
                job.sell(7, 8)

        found = job.upgrade(shop(5), Rebuild(reached=reached))
        assert found.kind == "rebuild"
        job.sell(100, 3)
        wait_until(lambda: job.table() == {"north": 107, "south": 78, "west": 90})
        wait_until(lambda: spread(behind) == {"107": 1, "78": 1, "90": 1})
    assert all(set(table) == {"north", "south", "west"} for table in seen[:-2])
    assert (len(runs), len(others)) == (2, 1)
    assert job.changelog() == {("north", 107): 1, ("south", 78): 1, ("west", 90): 1}
    assert not [name for name in job.topics() if ".v" in name]
    # Killed after it was decided: the next one who looks finishes it.
    with pytest.raises(Killed):
        job.upgrade(shop(25), killed_at("taken over"))
    job.sell(1000)
    job.run()
    assert job.table() == {"north": 100, "south": 50, "west": 90}
    assert settle(tmp_path, "shop")
    job.run()
    assert job.table() == {"north": 1100, "south": 50, "west": 90}


@pytest.mark.timeout(300)
def test_states_are_carried_over_where_operators_move_or_tasks_are_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    del spark
    job = OnSpark(tmp_path)
    job.sell(1, 20, 30)
    most = Aggregate(
        totals().source,
        (),
        (Measure("most", "max", (Column("amount"),)),),
        refinement=Refinement("retracting"),
    )
    kept = Sink(totals(), "totals", ("region",), upsert=True)
    both = plan(Plan("shop", (Sink(most, "most"), kept)), Settings())
    alone = plan(Plan("shop", (kept,)), Settings(parallelism=1))
    job.submit(both)
    job.run()
    found = job.upgrade(alone)
    assert (found.kind, dict(found.operators)) == ("migrate", {"agg-1": "agg-2"})
    job.sell(10)
    job.run()
    assert job.table() == {"north": 11, "south": 20, "west": 30}
    assert job.upgrade(alone).kind == "unchanged"


@pytest.mark.timeout(300)
def test_a_job_that_recovers_from_the_log_alone_is_built_again_as_well(
    spark: SparkSession, tmp_path: Path
) -> None:
    del spark
    job = OnSpark(tmp_path)
    job.sell(1, 20, 30)
    job.submit(shop(), JobSettings(recovery="upstream"))
    job.run()
    job.sell(5, 40)
    job.upgrade(shop(5))
    assert job.table() == {"south": 60, "west": 30}
    job.sell(10)
    job.run()
    assert job.table() == {"north": 10, "south": 60, "west": 30}


def spread(job: Shop) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in job.records("spread"):
        found.pop(row["_key"].decode(), None)
        if not row["_deleted"]:
            found[row["_key"].decode()] = row["regions"]
    return found


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)
