"""A stopped program is changed and started again on its checkpoint."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

import penstock as ps
from penstock.errors import RunError, StateError
from penstock.front.dsl.states import renamed
from penstock.front.dsl.stream import Stream
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.plan import Plan
from penstock.model.processor import Context
from penstock.plan.state_change import StateWarning
from penstock.schema.arrow import from_arrow
from penstock.spark.rescale import rescale
from penstock.spark.stored_states import state_tables
from tests.spark.faulty import arm, is_armed
from tests.spark.faulty_program import FAULTY
from tests.spark.programs import VISITS, Jobs, Row, append, rows, stored_rows

pytestmark = pytest.mark.spark
# Spark's workers cannot import the tests.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

OLD = ps.value_state("struct<seen: int64>")
NEW = ps.value_state(
    "struct<total: int64, note: string>",
    version=2,
    migrations={2: [renamed("seen", "total"), lambda old: {"total": old["total"] * 1000}]},
)


def adding(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
    total = (state.held.value or {"seen": 0})["seen"] + row["n"]
    state.held.value = {"seen": total}
    return {"page": ctx.key, "total": total}


def adding_now(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
    total = (state.held.value or {"total": 0})["total"] + row["n"]
    state.held.value = {"total": total}
    return {"page": ctx.key, "total": total}


def program(state: Any, function: Any, to: str, **measures: Any) -> Plan:  # noqa: ANN401
    app = ps.App("changing")
    stream: Stream = app.stream("visits", schema=from_arrow(VISITS), event_time="at")
    schema = {"page": str, "total": int}
    stream.group_by("page").process(
        function, schema=schema, state={"held": state}, name="adding"
    ).to("told")
    stream.group_by("page").agg(**measures).to(to)
    return app.plan()


def sums(found: list[Row]) -> Counter[str]:
    total: Counter[str] = Counter()
    for row in found:
        total[row["page"]] += row["n"]
    return total


def last(found: list[Row], column: str) -> dict[str, int]:
    """Give the largest value of each page, which is the last one."""
    values: dict[str, int] = {}
    for row in found:
        values[row["page"]] = max(values.get(row["page"], 0), row[column])
    return values


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::penstock.plan.state_change.StateWarning")
def test_a_changed_program_takes_its_states_over_once_whatever_fails(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    jobs = Jobs(spark, home, tmp_path / "job")
    first, second, third = rows(40), rows(40, first=40), rows(40, first=80)
    before = program(OLD, adding, "totals", total=ps.sum("n"))
    after = program(NEW, adding_now, "both", rows=ps.count(), most=ps.max("n"), total=ps.sum("n"))
    append(log, first)
    jobs.start(before, until="caught up").await_end()
    # No batch is done by this one: what is stored stays as it was.
    with pytest.warns(StateWarning, match='new measure "least"'):
        jobs.start(
            program(OLD, adding, "none", least=ps.min("n"), total=ps.sum("n")), until="caught up"
        ).await_end()
    append(log, second)
    for step in ("level 0 done", "after decide"):
        arm(home, step)
        with pytest.raises(RunError, match=f"fault at {step}"):
            jobs.start(after, until="caught up", parts=FAULTY).await_end()
        assert not is_armed(home)
    jobs.start(after, until="caught up", parts=FAULTY).await_end()
    told = stored_rows(log, "told")
    assert len(told) == len(first) + len(second)
    wanted = {page: 1000 * sums(first)[page] + total for page, total in sums(second).items()}
    assert {page: last(told, "total")[page] for page in wanted} == wanted
    counted = Counter(row["page"] for row in first + second)
    totals = sums(first + second)
    touched = {row["page"] for row in second}
    assert last(stored_rows(log, "both"), "rows") == {page: counted[page] for page in touched}
    assert last(stored_rows(log, "both"), "total") == {page: totals[page] for page in touched}
    rescale(home, jobs.checkpoint, 1, session=spark)
    jobs = jobs.with_settings(parallelism=1)
    append(log, third)
    jobs.start(after, until="caught up").await_end()
    held = state_tables(jobs.checkpoint, "process-1", session=spark)["held"].to_dicts()
    again = sums(second + third)
    assert {row["page"]: row["value"]["total"] for row in held} == {
        page: 1000 * sums(first)[page] + again[page] for page in totals | sums(third)
    }


def test_a_wrong_change_is_refused_and_nothing_is_touched(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    jobs = Jobs(spark, home, tmp_path / "job")
    append(log, rows(20))
    jobs.start(program(NEW, adding_now, "totals", total=ps.sum("n")), until="caught up").await_end()

    def files() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in jobs.checkpoint.rglob("*.json")}

    known = files()
    narrow = ps.value_state("struct<total: int32>", version=2)
    for wrong, code in (
        (program(narrow, adding_now, "others", total=ps.sum("n")), "STATE_CHANGE"),
        (program(OLD, adding, "others", total=ps.sum("n")), "STATE_VERSION"),
        (program(NEW, adding_now, "others", total=ps.max("n")), "STATE_CHANGE"),
    ):
        with pytest.raises(StateError, match=code):
            jobs.start(wrong, until="caught up")
    assert files() == known
    assert "others" not in log.topics()
