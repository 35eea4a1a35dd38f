"""Programs of cases on Spark: rows, and rows that tell the watermark, in a topic of a log.

Each step of a case is one batch of a query that runs on; its clock is a file.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from typing_extensions import override

from penstock.kernel.port import END_OF_TIME, WEIGHT
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.model.aggregate import Aggregate
from penstock.model.physical import Settings
from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter
from penstock.plan.planner import plan
from penstock.schema.arrow import to_arrow
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import current_files
from penstock.spark.progress_file import Left, left_before
from penstock.spark.query import ProgramQuery
from penstock.spark.run import start
from penstock.spark.session import spark_session
from tests.conformance.engine import INPUT, OUTPUT, SAYS, NotHereError, Pane, Row, Run

_PATIENCE = 120.0
_SETTINGS = Settings(buckets=2, parallelism=1)


_OPEN: list[SparkRun] = []


def close_runs() -> None:
    """End what a case has begun: a query that is forgotten runs on."""
    while _OPEN:
        _OPEN.pop().close()


class SparkRun(Run):
    """A program on Spark, until `close_runs` is called.

    The query starts with the step after the first rows: where that is the end of the input,
    one query does it all.
    """

    def __init__(self, program: Plan, clock: int) -> None:
        self._session = spark_session(master="local[2]")
        self._folder = tempfile.TemporaryDirectory(prefix="conformance-")
        self._home = Path(self._folder.name)
        self._log = open_log(self._home / "log")
        streams = {step.topic: step for step in program.walk() if isinstance(step, Stream)}
        self._schema = to_arrow(streams[INPUT].columns)
        self._log.create_topic(INPUT, partitions=1, schema=self._schema)
        self._clock = FileClock(self._home / "clock")
        self._clock.set(clock)
        self._physical = plan(_telling_panes(program), _SETTINGS)
        self._read: dict[str, int] = {}
        self._panes: list[Pane] = []
        self._query: ProgramQuery | None = None
        self._ended = False
        self._waiting = False
        _OPEN.append(self)

    def close(self) -> None:
        """Stop the query and remove its files."""
        self._stop()
        self._log.close()
        self._folder.cleanup()

    @override
    def push(self, rows: Sequence[Row]) -> None:
        self._catch_up()
        self._append([dict(row) for row in rows])

    @override
    def watermark(self, to: int) -> None:
        if to >= END_OF_TIME:
            # Rows say how far they are, and none says that it is the last.
            raise NotHereError
        self._catch_up()
        self._append([{SAYS: to, "time": to}])

    @override
    def clock(self, to: int) -> None:
        self._catch_up()
        while (due := self._wake_at) is not None and self._clock.now() < due < to:
            self._tick(due)
        if to > self._clock.now():
            self._tick(to)

    @override
    def finish(self) -> None:
        self._stop()
        self._started(until="end").await_end()
        self._ended, self._waiting = True, False
        self._look()

    @override
    def settle(self) -> None:
        self._catch_up()
        while (due := self._wake_at) is not None and due > self._clock.now():
            self._tick(due)

    @override
    def take(self) -> list[Pane]:
        self._catch_up()
        panes, self._panes = self._panes, []
        return panes

    @override
    def late(self) -> list[Row]:
        self._catch_up()
        letters = self._records(f"{OUTPUT}.late", first=0)
        return [{**json.loads(item["row"]), "time": item["time"]} for item in letters]

    @override
    def dead(self) -> list[Row]:
        self._catch_up()
        return [json.loads(item["row"]) for item in self._records(f"{OUTPUT}.dead", first=0)]

    @override
    def dropped_pairs(self) -> int:
        raise NotHereError

    @override
    def held(self) -> list[Row]:
        raise NotHereError

    @override
    def snapshot(self) -> Any:
        self._catch_up()
        return self._left

    @override
    def restore(self, snapshot: Any) -> None:
        """Stop the query and let another continue from its checkpoint."""
        if snapshot != self._left:
            raise NotHereError
        self._stop()
        self._query = self._started(until="stopped")

    def _started(self, **more: Any) -> ProgramQuery:  # noqa: ANN401
        return start(
            self._physical,
            home=self._home / "log",
            checkpoint=self._home / "job",
            session=self._session,
            clock=self._clock,
            **more,
        )

    def _stop(self) -> None:
        if self._query is not None:
            self._query.stop()
        self._query = None

    def _append(self, rows: list[dict[str, Any]]) -> None:
        if self._ended:
            raise NotHereError
        self._log.append(INPUT, 0, pa.Table.from_pylist(rows, self._schema))
        self._waiting = True

    def _catch_up(self) -> None:
        """Let Spark do what the last step gave it."""
        if not self._waiting:
            return
        if self._query is None:
            self._query = self._started(until="stopped")
        self._waiting = False
        self._settled()

    def _tick(self, to: int) -> None:
        due = self._wake_at
        self._clock.set(to)
        if due is not None and due <= to and self._query is not None:
            self._settled()

    def _settled(self) -> None:
        """Wait until all rows are read and nothing is due, and look at what came out."""
        assert self._query is not None
        end = time.monotonic() + _PATIENCE
        while not self._is_settled():
            if self._query.error is not None:
                raise self._query.error
            assert time.monotonic() < end, "Spark did not end the batch"
            time.sleep(0.01)
        self._look()

    def _is_settled(self) -> bool:
        left = self._left
        if left is None:
            return False
        ends = {place: bound.end for place, bound in self._log.snapshot([INPUT]).items()}
        waits = left.wake_at is None or left.wake_at > self._clock.now()
        return dict(left.at.positions) == ends and waits and not self._busy

    @property
    def _busy(self) -> bool:
        return self._query is not None and self._query.busy

    @property
    def _left(self) -> Left | None:
        return left_before(current_files(self._home / "job"))

    @property
    def _wake_at(self) -> int | None:
        left = self._left
        return None if left is None else left.wake_at

    def _look(self) -> None:
        self._panes += [
            _pane(item, self._clock.now())
            for item in self._records(OUTPUT, first=self._read.get(OUTPUT, 0))
        ]

    def _records(self, topic: str, *, first: int) -> list[dict[str, Any]]:
        if topic not in self._log.topics():
            return []
        bound = self._log.snapshot([topic])[(topic, 0)]  # type: ignore[index]
        found: list[dict[str, Any]] = []
        offset = first
        while offset < bound.end:
            chunk = self._log.read(topic, 0, offset, ReadLimit(stop=bound.end))
            found += _rows(chunk.rows)
            offset = chunk.next_offset
        self._read[topic] = bound.end
        return found


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    """Give records with their times in milliseconds."""
    frame = pl.DataFrame(pl.from_arrow(table))
    whole = frame.with_columns(
        pl.col(name).cast(pl.Int64)
        for name, kind in frame.schema.items()
        if isinstance(kind, pl.Datetime)
    )
    return whole.to_dicts()


def _pane(record: dict[str, Any], clock: int) -> Pane:
    row = {name: value for name, value in record.items() if not name.startswith(("_", "pane_"))}
    end = row.get("window_end")
    # A record without a usable event time has the clock as its timestamp.
    time_told = None if "window_end" in row and end is None else record["_timestamp"]
    if "pane_index" not in record:
        return Pane(row, record.get(WEIGHT, 1), time_told, clock, nonspeculative_index=None)
    return Pane(
        row,
        record.get(WEIGHT, 1),
        time_told,
        clock,
        record["pane_timing"],
        record["pane_index"],
        None,
        record["pane_first"],
        record["pane_last"],
    )


def _telling_panes(program: Plan) -> Plan:
    """Give the program with results that tell which pane they are."""
    sinks = tuple(replace(sink, relation=_told(sink.relation)) for sink in program.sinks)
    return replace(program, sinks=sinks)


def _told(relation: Relation) -> Relation:
    match relation:
        case Filter(source=source):
            return replace(relation, source=_told(source))
        case Aggregate():
            return replace(relation, panes=True)
        case _:
            return relation
