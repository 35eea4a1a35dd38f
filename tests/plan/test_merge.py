from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import polars as pl
import pytest

from penstock.kernel.arrival import needed_columns
from penstock.kernel.batch import Arrival, Input, Memory, run_batch
from penstock.kernel.port import START_OF_TIME, TAKEN, Frame, Time
from penstock.kernel.program import Program
from penstock.kernel.watermark import Watermarks
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column, Literal
from penstock.model.measure import Measure
from penstock.model.member import member_of, of_member, own_id
from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter, Named, Project
from penstock.model.trigger import EACH_ROW, WhenClosed
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Tumbling
from penstock.plan.merge import may_merge, members, merge, part_of
from penstock.plan.planner import plan
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING, TIMESTAMP
from penstock.testing.outbox import Outbox

VISITS = Schema((Field("page", STRING), Field("n", INT64), Field("at", TIMESTAMP)))


def visits(topic: str = "visits", delay: float = 5) -> Stream:
    mark = BoundedDisorder(timedelta(seconds=delay))
    return Stream(topic, VISITS, event_time="at", watermark=mark)


def by_page(source: Relation, **more: object) -> Aggregate:
    count = Measure("visits", "count")
    return Aggregate(source, ("page",), (count,), Tumbling(timedelta(seconds=10)), **more)  # type: ignore[arg-type]


def counts() -> Physical:
    return plan(Plan("counts", (Sink(by_page(visits()), "counts"),)))


def chained() -> Physical:
    early = by_page(
        visits(),
        trigger=WhenClosed(early=EACH_ROW, late=EACH_ROW),
        refinement=Refinement("retracting", keep_late=timedelta(seconds=30)),
    )
    spread = Aggregate(
        early, ("visits",), (Measure("pages", "count"),), refinement=Refinement("retracting")
    )
    return plan(Plan("chained", (Sink(early, "early"), Sink(spread, "spread"))))


def large() -> Physical:
    some = Filter(visits(), Call("gt", (Column("n"), Literal(5))))
    names = Project(some, (Named("page", Column("page")), Named("n", Column("n"))))
    return plan(Plan("large", (Sink(names, "large"),)))


ALONE = {"counts": counts, "chained": chained, "large": large}


@pytest.fixture
def merged() -> Physical:
    return merge("group", {name: make() for name, make in ALONE.items()})


def results(physical: Physical) -> dict[str, list[dict[str, object]]]:
    """What a program gives for some batches, by topic."""
    program = Program(physical)
    memory = Memory(Watermarks.start(physical.scans, 0), Time(START_OF_TIME, 0))
    outbox = Outbox(physical.outputs)
    for batch in range(4):
        arrivals = [
            Arrival((scan.id, 0), rows(batch).select(*needed_columns(scan), TAKEN))
            for scan in physical.scans
        ]
        done = run_batch(program, memory, Input(100_000 * batch, arrivals))
        memory = done.memory
        outbox.put(done.parcels)
    found = {topic: outbox.rows(topic, outbox.frame(topic)) for topic in outbox.topics}
    late = {f"{topic}.late": outbox.late(topic) for topic in outbox.topics}
    # A letter holds the columns that were read, which are those of all who share a scan.
    dead = {
        f"{topic}.dead": [{**letter, "row": None} for letter in outbox.dead(topic)]
        for topic in outbox.topics
    }
    return {**found, **late, **dead}


def rows(batch: int) -> Frame:
    numbers = range(10 * batch, 10 * batch + 10)
    times = [None if n % 9 == 8 else 1000 * (3 * n - 40 * (n % 7 == 6)) for n in numbers]
    return pl.DataFrame(
        {
            "page": [f"/{n % 3}" for n in numbers],
            "n": [n % 11 for n in numbers],
            "at": pl.Series(times, dtype=pl.Datetime("ms", "UTC")),
            TAKEN: [100_000 * batch] * 10,
        },
        schema_overrides={"n": pl.Int64, TAKEN: pl.Int64},
    )


def test_each_program_gives_the_rows_that_it_gives_alone(merged: Physical) -> None:
    together = results(merged)
    for make in ALONE.values():
        for topic, found in results(make()).items():
            assert together[topic] == found
    assert all(together[f"{name}.dead"] for name in ("counts", "early", "large"))
    assert together["counts.late"]


def test_one_scan_reads_for_all_and_names_tell_whose_a_step_is(merged: Physical) -> None:
    assert [scan.id for scan in merged.scans] == ["scan-visits"]
    assert merged.scans[0].columns == ("page", "n")
    assert [[keyed.id for keyed in level] for level in merged.levels] == [
        ["counts~agg-1", "chained~agg-1"],
        ["chained~agg-2"],
    ]
    assert members(merged) == ("counts", "chained", "large")
    assert members(counts()) == ()
    assert (member_of("counts~agg-1"), own_id("counts~agg-1")) == ("counts", "agg-1")
    assert (member_of("agg-1"), own_id("agg-1")) == ("", "agg-1")
    assert of_member("counts", "agg-1") == "counts~agg-1"


@pytest.mark.parametrize("name", ALONE)
def test_a_part_is_again_the_program_it_was(merged: Physical, name: str) -> None:
    alone, part = ALONE[name](), part_of(merged, name)
    assert [keyed.id for keyed in part.operators] == [keyed.id for keyed in alone.operators]
    assert results(part) == results(alone)


def test_programs_share_only_what_they_all_read() -> None:
    one = counts()
    assert may_merge(one, chained())
    assert not may_merge(one, replace(one, settings=Settings(buckets=8)))
    for other in (visits("others"), visits(delay=6)):
        assert not may_merge(one, plan(Plan("other", (Sink(by_page(other), "other"),))))
