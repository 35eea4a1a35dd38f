from __future__ import annotations

import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from penstock.connect.database import transaction
from penstock.errors import JobError, StateError
from penstock.jobs.circumstances import lost_inputs
from penstock.jobs.defined_job import DefinedJob
from penstock.jobs.definition import checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.rollback import earlier_version
from penstock.jobs.takeover import Rebuild, abandon, settle_before_run
from penstock.jobs.upgrade import Choice, settle, upgrade
from penstock.jobs.upgrade_file import read_upgrade, upgrading
from penstock.log.open import open_log
from penstock.log.port import Bounds
from penstock.log.record import TopicPartition
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.start import Start
from penstock.model.stateless import Named, Project
from penstock.model.store import Store
from penstock.plan.planner import plan
from penstock.plan.state_change import StateWarning
from penstock.plan.verdict import Lost
from penstock.schema.codec.format import Format
from penstock.serve.hosting import definition_runnable
from penstock.spark.retired import require_current
from tests.jobs.upgrades import Shop, sales, shop, totals

if TYPE_CHECKING:
    from penstock.log.port import Log

STEPS = (
    "building",
    "caught up",
    "levelled",
    "decided",
    "taken over",
    "switched",
    "cleaned",
)
"""Every point at which a rebuild may be cut short."""
DECIDED = ("taken over", "switched", "cleaned")


class Killed(BaseException):
    """What stands for the end of the process."""


def killed_at(step: str) -> Rebuild:
    def reached(now: str) -> None:
        if now == step:
            raise Killed

    return Rebuild(reached=reached)


@pytest.fixture
def job(tmp_path: Path) -> Shop:
    """A job that has counted sales; those of 5 and less are a mistake in it."""
    found = Shop(tmp_path)
    found.sell(1, 20, 30, 4, 50, 60)
    found.submit(shop())
    found.run()
    return found


def test_a_rebuild_gives_what_a_run_from_scratch_gives_and_history_stays(job: Shop) -> None:
    before = job.records("totals")
    found = job.upgrade(shop(5))
    assert (found.kind, job.definition.version) == ("rebuild", 2)
    scratch = Shop(job.home.parent / "scratch")
    scratch.sell(1, 20, 30, 4, 50, 60)
    scratch.submit(shop(5))
    scratch.run()
    assert job.table() == scratch.table() == {"south": 70, "west": 90}
    assert job.changelog() == scratch.changelog()
    # What was written stays where it was: the difference comes behind it.
    assert all(row in job.records("totals") for row in before)
    assert [row["amount"] for row in job.records("sold")] == [1, 30, 50, 20, 4, 60]
    assert job.topics() == tuple(sorted({"sales", *scratch.topics()}))
    job.sell(100, 7)
    job.run()
    assert job.table() == {"north": 100, "south": 77, "west": 90}


@pytest.mark.parametrize("step", STEPS)
def test_a_rebuild_cut_short_anywhere_is_finished_or_goes_on(job: Shop, step: str) -> None:
    with pytest.raises(Killed):
        job.upgrade(shop(5), killed_at(step))
    wanted = {"south": 70, "west": 90}
    assert settle(job.home, "shop") == (step in DECIDED)
    if step not in DECIDED:
        assert job.table() == {"north": 5, "south": 70, "west": 90}
        # The old version runs on until the next attempt.
        job.sell(6)
        job.run()
        assert job.table()["north"] == 11
        wanted = {"north": 6, **wanted}
    assert job.upgrade(shop(5)).kind == ("unchanged" if step in DECIDED else "rebuild")
    assert (job.table(), job.definition.version) == (wanted, 2)
    assert job.changelog() == dict.fromkeys(wanted.items(), 1)
    assert not [name for name in job.topics() if ".v2" in name]
    assert read_upgrade(job.home, "shop") is None
    job.sell(100)
    job.run()
    assert job.table()["north"] == wanted.get("north", 0) + 100


def test_a_version_whose_results_were_taken_over_writes_nothing_any_more(job: Shop) -> None:
    old = checkpoint_of(job.home, job.definition)
    with pytest.raises(Killed):
        job.upgrade(shop(5), killed_at("taken over"))
    job.sell(1000)
    # A host that knows nothing of the upgrade starts what the definition says.
    assert checkpoint_of(job.home, job.definition) == old
    with pytest.raises(Exception, match="SNAPSHOT_LOST"):
        job.run()
    assert job.table() == {"south": 70, "west": 90}


def test_rows_that_come_while_it_is_built_are_counted_once_in_both_versions(job: Shop) -> None:
    def reached(step: str) -> None:
        if step == "building":
            job.sell(7, 8)
            job.run()
        if step == "caught up":
            # The old version is ahead now; what comes last neither has read.
            job.sell(9)
            job.run()
            job.sell(1000)

    job.upgrade(shop(5), Rebuild(reached=reached))
    assert job.table() == {"north": 16, "south": 78, "west": 90}
    job.run()
    assert job.table() == {"north": 1016, "south": 78, "west": 90}


def test_the_old_version_reads_up_to_where_the_new_one_is(job: Shop) -> None:
    job.sell(7)
    job.upgrade(shop(5))
    assert job.table() == {"north": 7, "south": 70, "west": 90}
    # What the old version made of the last row was written before the new one took over.
    assert [row["amount"] for row in job.records("sold")].count(7) == 1


def test_a_reader_sees_every_key_at_every_moment_and_no_row_twice(job: Shop) -> None:
    seen: list[dict[str, int]] = []
    counts: list[set[int]] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            seen.append(job.table())
            counts.append(set(job.changelog().values()))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        job.upgrade(shop(measure="max"))
    finally:
        over.set()
        reader.join()
    before, after = {"north": 5, "south": 70, "west": 90}, {"north": 4, "south": 50, "west": 60}
    assert {str(item) for item in (*seen, job.table())} <= {str(before), str(after)}
    assert all(found == {1} for found in counts)
    assert job.table() == after


def test_a_new_output_gets_the_whole_history_and_a_table_of_a_database_is_replaced(
    job: Shop, tmp_path: Path
) -> None:
    store = Store("sqlite", str(tmp_path / "results.sqlite"))
    assert job.upgrade(shop(0, store=store)).kind == "rebuild"

    def stored() -> dict[str, int]:
        with transaction(store) as session:
            return dict(session.run("SELECT region, total FROM stored ORDER BY region"))  # type: ignore[arg-type]

    assert stored() == {"north": 5, "south": 70, "west": 90}
    big = Sink(sales(25), "big")
    assert job.upgrade(shop(5, big, store=store)).kind == "rebuild"
    assert stored() == {"south": 70, "west": 90}
    assert sorted(row["amount"] for row in job.records("big")) == [30, 50, 60]
    with transaction(store) as session:
        assert session.columns("stored.v3") is None
    job.sell(100)
    job.run()
    assert stored() == {"north": 100, "south": 70, "west": 90}


def test_rows_that_are_only_added_are_made_again_where_that_is_asked_for(job: Shop) -> None:
    job.upgrade(shop(5), Rebuild(replaces=True), Choice(replaces=True))
    assert sorted(row["amount"] for row in job.records("sold")) == [20, 30, 50, 60]


def test_a_topic_that_nobody_reads_is_made_anew_with_other_columns(job: Shop) -> None:
    amounts = Project(sales(25), (Named("price", Column("amount")),))
    kept = totals(25)
    sinks = (Sink(kept, "totals", ("region",), upsert=True), Sink(kept, "changes"))
    other = plan(Plan("shop", (*sinks, Sink(amounts, "sold"))), Settings())
    refused = job.judge(other)
    assert (refused.kind, "which a topic with a schema has" in refused.reason) == ("refuse", True)
    found = job.upgrade(other, Rebuild(replaces=True), Choice(replaces=True))
    assert found.kind == "rebuild"
    assert sorted(row["price"] for row in job.records("sold")) == [30, 50, 60]
    with open_log(job.home) as log:
        log.commit("reader", {TopicPartition("sold", 0): 1})
    assert '"reader" reads it' in job.judge(shop(), Choice(replaces=True)).reason


def test_a_rebuild_can_be_given_up_and_another_program_begins_anew(job: Shop) -> None:
    with pytest.raises(Killed):
        job.upgrade(shop(5), killed_at("caught up"))
    assert [name for name in job.topics() if name == "totals.v2"]
    # Another program: what was built of the first is of no use.
    job.upgrade(shop(25))
    assert job.table() == {"south": 50, "west": 90}
    with pytest.raises(Killed):
        job.upgrade(shop(5), killed_at("caught up"))
    abandon(job.home, "shop")
    assert not [name for name in job.topics() if ".v" in name]
    assert job.table() == {"south": 50, "west": 90}


def test_a_job_goes_back_to_the_version_before(job: Shop) -> None:
    job.upgrade(shop(5))
    version, program = earlier_version(job.home, "shop")
    assert version == 1
    job.upgrade(program, Rebuild(what="rolled back"))
    assert job.table() == {"north": 5, "south": 70, "west": 90}
    assert definition_store(job.home).history("shop")[-1].what == "rolled back"
    assert (job.definition.version, earlier_version(job.home, "shop", 2)[0]) == (3, 2)
    with pytest.raises(JobError, match="JOB_VERSION"):
        earlier_version(job.home, "shop", 9)


def test_what_cannot_be_had_is_refused_and_nothing_is_touched(job: Shop) -> None:
    other = Shop(job.home, "other")
    other.submit(shop())
    found = job.judge(shop(5))
    assert found.kind == "refuse"
    assert 'job "other" writes "totals" already' in found.reason
    with pytest.raises(JobError, match="UPGRADE_REFUSED"):
        upgrade(job.home, "shop", shop(5), found, job.engine, Rebuild())
    assert job.definition.version == 1


def test_two_processes_do_not_upgrade_at_once(job: Shop) -> None:
    with upgrading(job.home), pytest.raises(JobError, match="UPGRADE_BUSY"), upgrading(job.home):
        pass


def test_a_job_that_has_read_nothing_becomes_anything_at_once(tmp_path: Path) -> None:
    job = Shop(tmp_path)
    job.sell(1, 20)
    job.submit(shop())
    assert job.upgrade(shop(5)).kind == "compatible"
    job.run()
    assert job.table() == {"south": 20}


def test_a_compatible_change_keeps_the_state(job: Shop) -> None:
    found = job.upgrade(shop(5), choice=Choice(from_now=True))
    assert found.kind == "compatible"
    job.sell(3, 100)
    job.run()
    assert job.table() == {"north": 5, "south": 170, "west": 90}


def test_a_measure_more_goes_on_with_the_state_there_is(job: Shop) -> None:
    both = Shop(job.home, "both")
    sums = Measure("total", "sum", (Column("amount"),))
    most = Measure("most", "max", (Column("amount"),))

    def counting(*measures: Measure) -> Physical:
        by_region = Aggregate(sales(), ("region",), measures)
        return plan(Plan("both", (Sink(by_region, "both", format=Format("json")),)), Settings())

    both.submit(counting(sums))
    both.run()
    assert both.upgrade(counting(sums, most)).kind == "migrate"
    both.sell(2)
    with pytest.warns(StateWarning, match="from now on"):
        both.run()
    told = [json.loads(row["value"]) for row in both.records("both")]
    assert {"region": "north", "total": 7, "most": 2} in told


def test_what_retention_took_is_found_before_a_rebuild_is_begun(job: Shop) -> None:
    class Cut:
        """A log whose first records are gone."""

        def topics(self) -> tuple[str, ...]:
            return ("sales",)

        def snapshot(self, topics: list[str]) -> dict[TopicPartition, Bounds]:
            return {TopicPartition(name, 1): Bounds(2, 9) for name in topics}

    log = cast("Log", Cut())
    at = TopicPartition("sales", 1)
    assert lost_inputs(log, shop(), {}) == (Lost("sales", 1, 2),)
    assert lost_inputs(log, shop(), {at: 2}) == ()
    latest = replace(shop().scans[0].stream, start=Start("latest"))
    cut = replace(shop(), scans=(replace(shop().scans[0], stream=latest),))
    assert lost_inputs(log, cut, {}) == (Lost("sales", 1, 2),)
    assert lost_inputs(log, cut, {at: 5}) == ()


def test_a_host_that_finds_an_upgrade_decided_finishes_it_before_it_begins(job: Shop) -> None:
    with pytest.raises(Killed):
        job.upgrade(shop(5), killed_at("taken over"))
    runnable = definition_runnable(job.home, job.definition)
    with pytest.raises(JobError, match="JOB_BUSY"):
        runnable.begin(lambda _: None)
    assert (job.definition.version, read_upgrade(job.home, "shop")) == (2, None)
    assert definition_runnable(job.home, job.definition).version != runnable.version


def test_a_host_begins_a_version_that_is_switched_to_and_leaves_the_rest_to_who_upgrades(
    job: Shop,
) -> None:
    settled: list[bool] = []

    def reached(step: str) -> None:
        if step in ("switched", "cleaned"):
            settled.append(settle_before_run(DefinedJob(job.home, "shop")))

    job.upgrade(shop(5), Rebuild(reached=reached))
    assert (settled, job.definition.version) == ([False, False], 2)
    assert read_upgrade(job.home, "shop") is None


def test_nobody_goes_on_where_a_job_was_before_its_upgrade(job: Shop) -> None:
    stale = definition_runnable(job.home, job.definition)
    old = checkpoint_of(job.home, job.definition)
    job.upgrade(shop(5))
    with pytest.raises(JobError, match="JOB_BUSY"):
        stale.begin(lambda _: None)
    with pytest.raises(StateError, match="CHECKPOINT_OVER"):
        job.engine.run(shop(), old)
    job.upgrade(shop(25))
    assert len(list((job.home / "jobs").glob("shop.v*"))) == 2
    assert job.table() == {"south": 50, "west": 90}
    # Where the job is no more, the place is free for another.
    job.upgrade(shop(5))
    definition_store(job.home).remove("shop")
    shutil.rmtree(job.home / "jobs")
    assert require_current(old) == old
