"""Programs to run on Spark, the rows they read, and short ways to run and to compare them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession

from penstock.kernel.arrival import needed_columns
from penstock.kernel.batch import Arrival, Input, Memory, run_batch
from penstock.kernel.port import START_OF_TIME, TAKEN, Frame, Time
from penstock.kernel.program import Program
from penstock.kernel.watermark import Watermarks
from penstock.log.port import Log, ReadLimit
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column, Literal
from penstock.model.measure import Measure
from penstock.model.physical import Scan, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter
from penstock.model.trigger import EACH_ROW, AfterDelay, Repeat, WhenClosed
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Tumbling
from penstock.plan.planner import plan
from penstock.schema.arrow import from_arrow
from penstock.spark.admission import BatchLimits
from penstock.spark.query import ProgramQuery
from penstock.spark.run import start
from penstock.testing.driver import TestDriver
from penstock.testing.outbox import Outbox

VISITS = pa.schema([("page", pa.string()), ("n", pa.int64()), ("at", pa.timestamp("ms", tz="UTC"))])
COUNT = Measure("visits", "count")
TOTAL = Measure("total", "sum", (Column("n"),))

Row = dict[str, Any]


def visits(
    topic: str = "visits",
    *,
    delay: timedelta = timedelta(seconds=5),
    **watermark: Any,  # noqa: ANN401
) -> Stream:
    mark = BoundedDisorder(delay, **watermark)
    return Stream(topic, from_arrow(VISITS), event_time="at", watermark=mark)


def by_page(source: Relation, size: float = 10, **more: Any) -> Aggregate:  # noqa: ANN401
    """Visits and their total a page in tumbling windows of some seconds."""
    return Aggregate(source, ("page",), (COUNT, TOTAL), Tumbling(timedelta(seconds=size)), **more)


def windowed(topic: str = "counts") -> Plan:
    return Plan("windowed", (Sink(by_page(visits()), topic),))


def chained() -> Plan:
    """A retracting count a page and window, and how many pages have how many visits."""
    early = by_page(
        visits(),
        trigger=WhenClosed(early=EACH_ROW, late=EACH_ROW),
        refinement=Refinement("retracting", keep_late=timedelta(seconds=30)),
    )
    pages = Aggregate(
        early,
        ("visits",),
        (Measure("pages", "count"), Measure("total", "sum", (Column("total"),))),
        refinement=Refinement("retracting"),
    )
    busy = Filter(early, Call("gt", (Column("visits"), Literal(1))))
    return Plan("chained", (Sink(early, "counts"), Sink(pages, "spread"), Sink(busy, "busy")))


def with_panes(program: Plan) -> Plan:
    """The same program, and panes that only the clock brings out."""
    every = Repeat(AfterDelay(timedelta(seconds=5)))
    panes = by_page(visits(), trigger=every, refinement=Refinement("retracting"))
    return Plan(program.name, (*program.sinks, Sink(panes, "panes")))


def rows(
    count: int, *, first: int = 0, step: float = 0.5, pages: int = 7, seed: int = 1
) -> list[Row]:
    """Visits some time apart, within five seconds of their order."""
    chance = random.Random(seed * 1_000_003 + first)
    return [
        {
            "page": f"/{chance.randrange(pages)}",
            "n": number,
            "at": datetime.fromtimestamp(
                round(max(0.0, number * step - chance.uniform(0, 4.9)), 3), UTC
            ),
        }
        for number in range(first, first + count)
    ]


def append(log: Log, found: Sequence[Row], *, topic: str = "visits") -> None:
    """Write rows to a topic, dealt out over its partitions."""
    if topic not in log.topics():
        log.create_topic(topic, partitions=2, schema=VISITS)
    partitions = log.topic(topic).partitions
    for partition in range(partitions):
        share = list(found[partition::partitions])
        if share:
            log.append(topic, partition, pa.Table.from_pylist(share, VISITS))


def stored_rows(log: Log, topic: str) -> list[Row]:
    """All records of a topic without what the log adds, by partition and offset."""
    return [
        {name: value for name, value in row.items() if name == "_weight" or name[0] != "_"}
        for row in records(log, topic)
    ]


def records(log: Log, topic: str) -> list[Row]:
    found: list[Row] = []
    for place, bound in sorted(log.snapshot([topic]).items()):
        offset = bound.start
        while offset < bound.end:
            chunk = log.read(*place, offset, ReadLimit(stop=bound.end))
            found += chunk.rows.to_pylist()
            offset = chunk.next_offset
    return found


def folded(found: Sequence[Row]) -> dict[tuple[Any, ...], int]:
    """The table that a changelog amounts to: rows and how often each is there."""
    table: dict[tuple[Any, ...], int] = {}
    for row in found:
        key = tuple(sorted((name, str(v)) for name, v in row.items() if name != "_weight"))
        table[key] = table.get(key, 0) + row.get("_weight", 1)
        if not table[key]:
            del table[key]
    return table


def driven(program: Plan, found: Sequence[Row]) -> TestDriver:
    """The same program over the same rows without Spark, in one batch, to its end."""
    driver = TestDriver(program)
    driver.push("visits", list(found))
    driver.finish()
    return driver


def batched(program: Plan, batches: Sequence[tuple[int, Sequence[Row]]]) -> dict[str, list[Row]]:
    """The same program over the same batches, each at a time of the clock, without Spark."""
    physical = plan(program)
    machine = Program(physical)
    memory = Memory(Watermarks.start(physical.scans, batches[0][0]), Time(START_OF_TIME, 0))
    outbox = Outbox(physical.outputs)
    for clock, found in batches:
        arrivals = [
            Arrival((scan.id, partition), arrived(scan, found[partition::2], clock))
            for scan in physical.scans
            for partition in range(2)
            if found[partition::2]
        ]
        done = run_batch(machine, memory, Input(clock, arrivals))
        memory = done.memory
        outbox.put(done.parcels)
    return {topic: outbox.rows(topic, outbox.frame(topic)) for topic in outbox.topics}


def arrived(scan: Scan, found: Sequence[Row], clock: int) -> Frame:
    frame = pl.from_arrow(pa.Table.from_pylist(list(found), VISITS))
    assert isinstance(frame, pl.DataFrame)
    return frame.select(*needed_columns(scan), pl.lit(clock, pl.Int64).alias(TAKEN))


@dataclass(frozen=True)
class Jobs:
    """A session, a log and a checkpoint that belong together."""

    spark: SparkSession
    home: Path
    checkpoint: Path
    settings: Settings = field(default_factory=Settings)

    def start(self, program: Plan, *, rows: int | None = None, **more: Any) -> ProgramQuery:  # noqa: ANN401
        return start(
            plan(program, self.settings),
            home=self.home,
            checkpoint=self.checkpoint,
            session=self.spark,
            limits=BatchLimits(rows=rows),
            **more,
        )

    def run(self, program: Plan, *, rows: int | None = None, **more: Any) -> ProgramQuery:  # noqa: ANN401
        """Run a program over what its topics hold, and close every window."""
        query = self.start(program, rows=rows, bounded=True, **more)
        query.await_end()
        return query

    def with_settings(self, **changes: Any) -> Jobs:  # noqa: ANN401
        return replace(self, settings=replace(self.settings, **changes))


def renamed(program: Plan, suffix: str) -> Plan:
    """The same program, writing to topics of other names."""
    sinks = (replace(sink, topic=sink.topic + suffix) for sink in program.sinks)
    return Plan(program.name + suffix, tuple(sinks))
