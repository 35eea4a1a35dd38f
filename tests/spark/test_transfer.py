"""States that move: through a savepoint into a changed program, and over other numbers of tasks."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

import penstock as ps
from penstock.front.dsl.states import renamed
from penstock.front.dsl.stream import Stream
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.plan import Plan
from penstock.model.processor import Context
from penstock.plan.planner import plan
from penstock.schema.arrow import from_arrow
from penstock.spark.rescale import rescale
from penstock.spark.savepoint import restore, save
from tests.spark.programs import VISITS, Jobs, Row, append, rows, stored_rows

pytestmark = pytest.mark.spark
# Spark's workers cannot import the tests.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

OLD = ps.value_state("struct<seen: int32, gone: string, first: int64>")
# A field is dropped, one renamed, one wider, and one is new.
NEW = ps.value_state(
    "struct<seen: int64, begun: int64, note: string>",
    version=2,
    migrations={2: renamed("first", "begun")},
)


def before(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
    held = state.held.value or {"seen": 0, "gone": "x", "first": row["n"]}
    state.held.value = {**held, "seen": held["seen"] + 1}
    return {"page": ctx.key, "seen": held["seen"] + 1, "begun": held["first"]}


def after(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
    held = state.held.value or {"seen": 0, "begun": row["n"]}
    assert "gone" not in held
    state.held.value = {**held, "seen": held["seen"] + 1, "note": "new"}
    return {"page": ctx.key, "seen": held["seen"] + 1, "begun": held["begun"]}


def program(state: Any, function: Any, suffix: str = "", **measures: Any) -> Plan:  # noqa: ANN401
    app = ps.App(f"moving{suffix}")
    stream: Stream = app.stream("visits", schema=from_arrow(VISITS), event_time="at")
    stream.group_by("page").process(
        function,
        schema={"page": str, "seen": int, "begun": int},
        state={"held": state},
        name="counting",
    ).to(f"told{suffix}")
    stream.group_by("page").agg(**measures).to(f"totals{suffix}")
    return app.plan()


def counted(found: list[Row]) -> dict[str, int]:
    """Give how many rows each page has."""
    return Counter(row["page"] for row in found)


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::penstock.plan.state_change.StateWarning")
def test_states_take_another_form_on_their_way_through_a_savepoint(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    jobs = Jobs(spark, home, tmp_path / "job")
    first, second = rows(40), rows(40, first=40)
    append(log, first)
    old = program(OLD, before, total=ps.sum("n"), least=ps.min("n"))
    jobs.start(old, until="caught up").await_end()
    point = save(home, jobs.checkpoint, tmp_path / "point", session=spark)
    # A measure is dropped, one renamed, one is new.
    new = program(NEW, after, "-new", whole=ps.sum("n"), rows=ps.count())
    append(log, second)
    other = Jobs(spark, home, tmp_path / "new")
    done = restore(point.folder, other.checkpoint, home=home, physical=plan(new, other.settings))
    assert done.states.empty == ()
    other.start(new, until="caught up").await_end()
    wanted, touched = counted(first + second), {row["page"] for row in second}
    told = stored_rows(log, "told-new")
    assert len(told) == len(second)
    seen = {page: max(row["seen"] for row in told if row["page"] == page) for page in touched}
    assert seen == {page: wanted[page] for page in touched}
    begun = {row["page"]: row["begun"] for row in stored_rows(log, "told")}
    assert all(row["begun"] == begun.get(row["page"], row["begun"]) for row in told)
    assert begun.keys() & touched
    for row in stored_rows(log, "totals-new"):
        page = [item["n"] for item in first + second if item["page"] == row["page"]]
        if row["rows"] == len(page):
            assert row["whole"] == sum(page)


@pytest.mark.timeout(300)
def test_a_job_goes_from_four_tasks_to_eight_and_to_three(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    jobs = Jobs(spark, home, tmp_path / "job").with_settings(parallelism=4)
    made = program(OLD, before, total=ps.sum("n"))
    found: list[Row] = []
    for tasks in (4, 8, 3):
        if found:
            done = rescale(home, jobs.checkpoint, tasks, session=spark)
            assert (done.before, done.after) == (jobs.settings.parallelism, tasks)
            assert done.states > 0
            assert 0 < done.milliseconds < 30_000
            jobs = jobs.with_settings(parallelism=tasks)
        more = rows(30, first=len(found))
        append(log, more)
        found += more
        jobs.start(made, until="caught up").await_end()
    told = stored_rows(log, "told")
    assert len(told) == len(found)
    last = {
        page: max(row["seen"] for row in told if row["page"] == page) for page in counted(found)
    }
    assert last == counted(found)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_million_keys_stand_still_for_less_than_half_a_minute(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    app = ps.App("keys")
    stream: Stream = app.stream("visits", schema=from_arrow(VISITS), event_time="at")
    stream.group_by("page").agg(total=ps.sum("n")).to("totals")
    made, jobs = app.plan(), Jobs(spark, home, tmp_path / "job").with_settings(parallelism=4)
    log.create_topic("visits", partitions=2, schema=VISITS)
    keys = 1_000_000
    numbers = pa.array(range(keys), pa.int64())
    many = pa.table(
        {
            "page": pa.array([f"/{n}" for n in range(keys)]),
            "n": numbers,
            "at": numbers.cast(VISITS.field("at").type),
        },
        VISITS,
    )
    log.append("visits", 0, many)
    jobs.start(made, until="caught up").await_end()
    spent: list[float] = []
    for tasks in (8, 3):
        log.append("visits", 1, many.slice(0, 10))
        begun = time.monotonic()
        rescale(home, jobs.checkpoint, tasks, session=spark)
        jobs = jobs.with_settings(parallelism=tasks)
        jobs.start(made, until="caught up").await_end()
        spent.append(time.monotonic() - begun)
    # From the stop to the end of the first batch after it.
    print(f"stood still for {spent} s")  # noqa: T201
    assert max(spent) < 30
    assert last(log) == {f"/{n}": 3 * n for n in range(10)}


def last(log: EmbeddedLog) -> dict[str, int]:
    """Give the last total of each of the first ten pages."""
    found = [row for row in stored_rows(log, "totals") if len(row["page"]) == len("/1")]
    return {
        row["page"]: max(r["total"] for r in found if r["page"] == row["page"]) for row in found
    }
