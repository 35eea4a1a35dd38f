"""Processes of the user on Spark: what they give, after faults and after changes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from typing_extensions import override

import penstock as ps
from penstock.errors import RunError, StateError, UsageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.model.plan import Plan
from penstock.model.processor import Context, Timer
from penstock.schema.arrow import from_arrow
from penstock.spark.file_clock import FileClock
from penstock.spark.stored_states import state_tables
from tests.spark.faulty import arm, is_armed
from tests.spark.faulty_program import FAULTY, PROGRAM_STEPS
from tests.spark.programs import VISITS, Jobs, Row, append, batched, rows, stored_rows

pytestmark = pytest.mark.spark
# Spark's workers cannot import the tests.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

TOLD = {"page": str, "what": str, "total": int}


class Watch(ps.Processor[Any]):
    """Sums up, tells pauses by event time and by the clock, and puts some rows aside."""

    total = ps.value_state(int, default=0)
    last = ps.list_state(int)
    seen = ps.map_state(int, int)

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        self.total.value += row["n"]
        self.last.append(row["n"])
        del self.last[:-3]
        self.seen[row["n"] % 3] = self.seen.get(row["n"] % 3, 0) + 1
        ctx.set_timer(ctx.time + 1_000)
        ctx.set_timer(ctx.clock + 5_000, name="pause", domain="processing")
        if row["n"] % 7 == 0:
            ctx.side("odd", {"n": row["n"]})
        if row["n"] % 11 == 0:
            raise ValueError(row["n"])
        yield {"page": ctx.key, "what": "row", "total": self.total.value}

    @override
    def on_timer(self, timer: Timer, ctx: Context) -> Any:
        what = f"{timer.name or timer.time} {list(self.last)} {sorted(self.seen.items())}"
        return {"page": ctx.key, "what": what, "total": self.total.value}


def watching() -> Plan:
    app = ps.App("watch")
    stream = app.stream("visits", schema=from_arrow(VISITS), event_time="at", lateness="5s")
    told = stream.group_by("page").process(Watch, schema=TOLD, sides={"odd": {"n": int}})
    told.to("told")
    told.side("odd").to("odd")
    ordered = stream.group_by("page").process(
        Watch, schema=TOLD, sides={"odd": {"n": int}}, in_order=True, name="ordered"
    )
    ordered.to("ordered")
    return app.plan()


@pytest.mark.soak  # tests/faults restarts a process among others in every run
@pytest.mark.timeout(400)
def test_processes_stopped_at_every_step_of_a_batch_give_every_row_once(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    jobs = Jobs(spark, home, tmp_path / "job")
    clock = FileClock(tmp_path / "clock")
    program = watching()
    batches: list[tuple[int, list[Row]]] = []

    def run() -> None:
        jobs.start(program, clock=clock, until="caught up", parts=FAULTY).await_end()

    for number, step in enumerate(PROGRAM_STEPS):
        batches.append((100_000 + 7_000 * number, rows(12, first=12 * number)))
        clock.set(batches[-1][0])
        append(log, batches[-1][1])
        arm(home, step)
        with pytest.raises(RunError, match=f"fault at {step}"):
            run()
        assert not is_armed(home), step
        run()
    for topic, wanted in batched(program, batches).items():
        found = stored_rows(log, topic)
        assert sorted(map(str, found)) == sorted(map(str, wanted)), topic
        assert found
    assert stored_rows(log, "told.dead")


def counting(state: dict[str, Any], *, field: str) -> Plan:
    def count(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        held = getattr(state, field)
        held.value = (held.value or 0) + 1
        return {"page": ctx.key, "what": type(held.value).__name__, "total": int(held.value)}

    app = ps.App("count")
    stream = app.stream("visits", schema=from_arrow(VISITS), event_time="at", lateness="5s")
    stream.group_by("page").process(count, schema=TOLD, state=state, name="count").to("counts")
    return app.plan()


def test_a_stored_state_survives_a_declared_change_and_a_wrong_one_is_refused(
    spark: SparkSession, log: EmbeddedLog, home: Path, tmp_path: Path
) -> None:
    jobs = Jobs(spark, home, tmp_path / "job")

    def run(**state: Any) -> list[Row]:  # noqa: ANN401
        before = len(stored_rows(log, "counts")) if "counts" in log.topics() else 0
        append(log, rows(8, pages=1))
        program = counting(state, field=next(iter(state)))
        jobs.start(program, until="caught up").await_end()
        return sorted(stored_rows(log, "counts"), key=lambda row: row["total"])[before:]

    assert [row["total"] for row in run(n=ps.value_state("int32"))] == list(range(1, 9))
    held = state_tables(jobs.checkpoint, "process-1", session=spark)
    assert held["n"].to_dicts() == [{"page": "/0", "value": 8}]
    with pytest.raises(UsageError, match="OPERATOR_MISSING"):
        state_tables(jobs.checkpoint, "process-2", session=spark)
    with pytest.raises(StateError, match="STATE_CHANGE"):
        run(n=ps.value_state(str))
    after = run(total=ps.value_state(float, was="n"), extra=ps.list_state(int))
    assert [(row["what"], row["total"]) for row in after] == [("float", n) for n in range(9, 25)]
