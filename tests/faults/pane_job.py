"""A program with all that a restart could lose, and the rows and clock readings it is fed.

Counts with early panes by the clock, late panes and retractions; a count of these counts;
rows that come too late, rows that make a function fail, and rows wide enough to be staged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from pyspark import cloudpickle

from penstock.log.embedded.log import EmbeddedLog
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.progress import Progress
from penstock.model.refine import Refinement
from penstock.model.source import Stream
from penstock.model.stateless import Apply
from penstock.model.trigger import EACH_ROW, AfterDelay, Repeat, WhenClosed
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Tumbling
from penstock.schema.arrow import from_arrow
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING
from penstock.spark.file_clock import FileClock
from tests.spark.programs import COUNT, TOTAL, VISITS, Row, records, rows

TOPICS = ("counts", "spread", "wide")
BATCHES = 6
ROWS_A_BATCH = 14
_WIDE = 200_000


def refuse_sevens(row: Row) -> Row:
    if row["n"] % 10 == 7:
        message = f"seven in {row['n']}"
        raise ValueError(message)
    return row


def widen(row: Row) -> Row:
    # Wide enough for a task to stage what it has read; in a long run not always.
    wide = row["n"] // 12 % 20 < BATCHES
    return {"n": row["n"], "text": "x" * (_WIDE if wide else 1)}


def pane_program() -> Plan:
    """Two levels of windows that retract, each with early panes by the clock and late ones."""
    source = Stream(
        "visits",
        from_arrow(VISITS),
        event_time="at",
        watermark=BoundedDisorder(timedelta(seconds=5)),
    )
    checked = Apply(source, "refuse_sevens", refuse_sevens, "map", source.schema)
    counts = Aggregate(
        checked,
        ("page",),
        (COUNT, TOTAL),
        Tumbling(timedelta(seconds=10)),
        WhenClosed(early=Repeat(AfterDelay(timedelta(seconds=5))), late=EACH_ROW),
        Refinement("retracting", keep_late=timedelta(seconds=10)),
        panes=True,
    )
    spread = Aggregate(
        counts,
        ("visits",),
        (Measure("pages", "count"), Measure("total", "sum", (Column("total"),))),
        Tumbling(timedelta(seconds=20)),
        WhenClosed(early=Repeat(AfterDelay(timedelta(seconds=2))), late=EACH_ROW),
        Refinement("retracting", keep_late=timedelta(seconds=20)),
        panes=True,
    )
    wide = Apply(source, "widen", widen, "map", Schema((Field("n", INT64), Field("text", STRING))))
    return Plan(
        "panes", tuple(Sink(*sink) for sink in zip((counts, spread, wide), TOPICS, strict=True))
    )


def batch_rows(number: int) -> list[Row]:
    """The rows of a batch: 12 seconds of them, one a little late and one too late."""
    fresh = rows(ROWS_A_BATCH - 2, first=12 * number, step=1.0, pages=3)
    late = [
        {"page": "/late", "n": 1000 * behind + number, "at": _seconds(12 * number - behind)}
        for behind in (8, 60)
    ]
    return [*fresh, *late]


def _seconds(at: float) -> datetime:
    return datetime.fromtimestamp(max(0.0, at), UTC)


@dataclass(frozen=True)
class Feed:
    """Gives a running program its next batch when one is done, however often it is done.

    It is called while Spark has the batch in hand, so nobody plans the next one meanwhile.
    """

    log: EmbeddedLog
    clock: FileClock
    batches: int = BATCHES
    rows_of: Callable[[int], list[Row]] = batch_rows

    def begin(self) -> None:
        """Bring the rows of the first batch."""
        if "visits" not in self.log.topics():
            self.log.create_topic("visits", partitions=2, schema=VISITS)
        self._bring(0)

    def __call__(self, progress: Progress) -> None:
        """Bring the rows of the batch after one that is done."""
        self._bring(min(progress.batch + 1, self.batches - 1))

    def _bring(self, number: int) -> None:
        self.clock.set(1_000_000 + 7_000 * number)
        given = self.rows_of(number)
        for place, bound in self.log.snapshot(["visits"]).items():
            share = given[place.partition :: 2]
            before = sum(len(self.rows_of(n)[place.partition :: 2]) for n in range(number))
            # A process that is killed while it brings them brings the rest when it is back.
            if bound.end == before:
                self.log.append("visits", place.partition, self._arrived(share))

    def _arrived(self, share: list[Row]) -> pa.Table:
        """Give rows that come by the clock of the test: arrival decides what meets in a join."""
        taken = pa.array([self.clock.now()] * len(share), pa.int64())
        return pa.Table.from_pylist(share, VISITS).append_column("_timestamp", taken)


def written(log: EmbeddedLog) -> dict[str, list[Row]]:
    """All that a program has written, record by record, with keys, timestamps and weights."""
    found = {topic: records(log, topic) for topic in log.topics() if topic != "visits"}
    for row in (row for written in found.values() for row in written):
        # A transaction that was given up leaves a gap in the offsets.
        del row["_offset"]
        if "text" in row:
            row["text"] = len(row["text"])
    return found


def told(progress: Progress | None) -> Progress:
    """What a program says of itself, without how long it took and who worked for it."""
    assert progress is not None
    assert all(account.balanced for account in progress.accounts), progress.accounts
    history = tuple(replace(instant, milliseconds=0) for instant in progress.history)
    return replace(
        progress, rows_per_second=0.0, batch_milliseconds=0, processes=(), history=history
    )


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
