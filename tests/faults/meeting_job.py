"""A program of joins, a process with timers and a pattern, and the rows it is fed.

All of it reads the topic of visits: pairs within a time with rows alone, visits with the last
one of their page, the counts of pages beside their last visits as a table, a watch that speaks
after a pause of either clock, and rising numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from pyspark import cloudpickle
from typing_extensions import override

import penstock as ps
from penstock.model.plan import Plan
from penstock.schema.arrow import from_arrow
from tests.faults.pane_job import batch_rows
from tests.spark.programs import VISITS, Row

PAUSE = {"page": "string", "seen": "int64", "clock": "string"}


class Watch(ps.Processor[Row]):
    """Tells of a page that was not visited for a while, by event time and by the clock."""

    seen = ps.value_state(int, default=0)

    @override
    def process(self, row: Row, ctx: ps.Context) -> None:
        if row["n"] % 10 == 7:
            message = f"seven in {row['n']}"
            raise ValueError(message)
        self.seen.value += 1
        ctx.set_timer(ctx.time + 6_000, name="event")
        ctx.set_timer(ctx.clock + 5_000, name="clock", domain="processing")

    @override
    def on_timer(self, timer: ps.Timer, ctx: ps.Context) -> Iterator[Row]:
        yield {"page": ctx.key, "seen": self.seen.value, "clock": timer.name}


def meeting_program() -> Plan:
    """All kinds of joins, a process and a pattern over one topic."""
    app = ps.App("meetings")
    visits = app.stream("visits", schema=from_arrow(VISITS), event_time="at", lateness="5s")
    even = visits.filter(ps.col("n") % 2 == 0)
    odd = visits.filter(ps.col("n") % 2 == 1)
    even.join(odd, on="page", how="full", within=("3s", "6s")).to("pairs")
    even.join(odd, on="page", how="left", within="4s", eager=True).to("eager")
    last = visits.to_table("page")
    even.join(last, on="page", how="left").to("known")
    counts = visits.group_by("page").refine(ps.retracting()).count().to_table()
    counts.join(last.select("page", "n"), on="page", how="full").to("pages")
    visits.group_by("page").process(Watch, schema=PAUSE).to("pauses")
    rise = ps.step("a").then(ps.step("b", ps.col("n") > ps.last("a", "n")))
    rises = ps.pattern(rise).within("8s")
    emit = {"first": ps.last("a", "n"), "second": ps.last("b", "n")}
    visits.group_by("page").match(rises, emit).to("rises")
    return app.plan()


def meeting_rows(number: int) -> list[Row]:
    """The rows of a batch: as for panes."""
    return batch_rows(number)


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
