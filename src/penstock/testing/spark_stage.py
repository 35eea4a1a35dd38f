"""Transcripts on Spark: rows in a log, a running query, and a clock that is a file.

Each step waits until Spark has done what it brings. Where a transcript's watermarks are
manual, rows of a column of their own tell them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from penstock.errors import RunError, UsageError
from penstock.kernel.changelog import fold_changelog, latest_by
from penstock.kernel.columns import frame_schema
from penstock.kernel.port import END_OF_TIME, PANE_COLUMNS, TIME, WEIGHT, Frame
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.record import TIMESTAMP_COLUMN
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.upsert_key import upsert_keys
from penstock.plan.planner import plan
from penstock.schema.arrow import to_arrow
from penstock.spark.file_clock import FileClock
from penstock.spark.job_files import current_files
from penstock.spark.progress_file import Left, left_before
from penstock.spark.query import ProgramQuery
from penstock.spark.run import start
from penstock.testing.moment import read_moment
from penstock.testing.stage import OpenStage, Row
from penstock.testing.told import TOLD, stored_schema, streams_of, told_by_rows, with_panes

PARTITIONS = 4
"""Of every topic that a transcript writes to; those without rows are not waited for."""
_PATIENCE_SECONDS = 120.0
_PAUSE_SECONDS = 0.01


@contextmanager
def spark_stages(folder: Path, session: Any = None) -> Iterator[OpenStage]:  # noqa: ANN401
    """Make stages on Spark, each with a log and a checkpoint of its own below a folder.

    At the end their queries are stopped.
    """
    made: list[SparkStage] = []

    def opened(program: Plan, settings: Mapping[str, Any]) -> SparkStage:
        made.append(SparkStage(program, settings, folder / str(len(made)), session))
        return made[-1]

    try:
        yield opened
    finally:
        for stage in made:
            stage.close()


class SparkStage:
    """A program on Spark that takes the steps of a transcript; `close` ends its query."""

    def __init__(
        self,
        program: Plan,
        settings: Mapping[str, Any],
        folder: Path,
        session: Any = None,  # noqa: ANN401
    ) -> None:
        how = dict(settings)
        clock = how.pop("clock", None)
        self._manual = how.pop("watermarks", "automatic") == "manual"
        self._session = session
        self._sinks = {sink.topic: sink for sink in program.sinks}
        shown = with_panes(program)
        if self._manual:
            shown = told_by_rows(shown)
        self._physical = plan(shown, Settings(**{"buckets": 2, "parallelism": 1, **how}))
        self._schemas = {
            stream.topic: to_arrow(stored_schema(stream)) for stream in streams_of(shown)
        }
        self._folder = folder
        self._log: EmbeddedLog = open_log(folder / "log")
        for topic, schema in self._schemas.items():
            self._log.create_topic(topic, partitions=PARTITIONS, schema=schema)
        self._clock = FileClock(folder / "clock")
        self._clock.set(0 if clock is None else read_moment(clock))
        self._query: ProgramQuery | None = None
        self._crash = False
        self._used: dict[str, set[int]] = {}
        self._seen: dict[tuple[str, int], int] = {}

    def push(
        self, topic: str, rows: Sequence[Mapping[str, Any]], *, partition: int, at: int | None
    ) -> None:
        """Append rows to a partition, and wait until Spark has taken them."""
        if at is not None and at > self._clock.now():
            self.advance_clock(to=at)
        taken = self._clock.now() if at is None else at
        self._append(topic, partition, rows, taken)
        self._used.setdefault(topic, set()).add(partition)
        self._catch_up()

    def advance_watermark(self, to: int, *, topic: str | None = None) -> None:
        """Append rows that tell the watermark of every partition that has rows."""
        if to >= END_OF_TIME:
            self.finish()
            return
        if not self._manual:
            raise UsageError(
                "STAGE_WATERMARK",
                "on Spark the watermark follows the rows and cannot be told",
                hint="Write `settings: {watermarks: manual}` into the transcript.",
            )
        for name in self._schemas if topic is None else (topic,):
            for partition in sorted(self._used.get(name, {0})):
                self._append(name, partition, [{TOLD: to}], self._clock.now())
        self._catch_up()

    def advance_clock(self, by: int | None = None, *, to: int | None = None) -> None:
        """Let time pass; Spark is waited for wherever something is due."""
        target = to if to is not None else self._clock.now() + (by or 0)
        while (due := self._wake_at) is not None and self._clock.now() < due < target:
            self._tick(due)
        if target > self._clock.now():
            self._tick(target)

    def finish(self) -> None:
        """End the input: every window closes and the query ends."""
        self._stop()
        self._start(until="end").await_end()

    def crash_after(self, step: str) -> None:  # noqa: ARG002
        """Stop the query in the middle of the next batch; another one does it again."""
        self._crash = True

    def take(self, topic: str) -> list[Row]:
        """Give what was written since the last `take`, with weight, time and pane."""
        frame = self._records(topic, new=True)
        named = {name.removeprefix("_"): name for name in PANE_COLUMNS}
        columns = [*self._sinks[topic].relation.schema.names, WEIGHT, TIME]
        panes = [pl.col(name).alias(named[name]) for name in named if name in frame.columns]
        return frame.select(*columns, *panes).to_dicts()

    def table(self, topic: str) -> list[Row]:
        """Give the table that the rows written amount to."""
        relation = self._sinks[topic].relation
        frame, columns = self._records(topic), list(relation.schema.names)
        keys = None if relation.retracts else upsert_keys(relation)
        if keys is None:
            return fold_changelog(frame, columns).to_dicts()
        return latest_by(frame, keys, columns).to_dicts()

    def late(self, topic: str) -> list[Row]:
        """Give all rows that came too late."""
        return self._letters(self._sinks[topic].late_topic)

    def dead_letters(self, topic: str) -> list[Row]:
        """Give all rows that failed."""
        return self._letters(self._sinks[topic].dead_topic)

    def close(self) -> None:
        """Stop the query and close the log."""
        self._stop()
        self._log.close()

    def _stop(self) -> None:
        if self._query is not None:
            self._query.stop()
        self._query = None

    def _start(self, until: Any = "stopped") -> ProgramQuery:  # noqa: ANN401
        return start(
            self._physical,
            home=self._folder / "log",
            checkpoint=self._folder / "job",
            session=self._session,
            clock=self._clock,
            until=until,
        )

    def _append(
        self, topic: str, partition: int, rows: Sequence[Mapping[str, Any]], taken: int
    ) -> None:
        table = pa.Table.from_pylist([dict(row) for row in rows], self._schemas[topic])
        stamps = pa.array([taken] * len(rows), pa.int64())
        self._log.append(topic, partition, table.append_column(TIMESTAMP_COLUMN, stamps))

    def _tick(self, to: int) -> None:
        due = self._wake_at
        self._clock.set(to)
        if due is not None and due <= to:
            self._catch_up()

    def _catch_up(self) -> None:
        """Wait until all rows are read and nothing is due."""
        self._query = self._query or self._start()
        if self._crash:
            self._crash = False
            self._stop()
            self._query = self._start()
        patience = time.monotonic() + _PATIENCE_SECONDS
        while not self._is_settled(self._query):
            if self._query.error is not None:
                raise self._query.error
            if time.monotonic() > patience:
                raise RunError(
                    "STAGE_PATIENCE",
                    f"Spark did not end a batch within {_PATIENCE_SECONDS:.0f} seconds",
                    hint="Look at the log of Spark, or run the transcript in the test driver.",
                )
            time.sleep(_PAUSE_SECONDS)

    def _is_settled(self, query: ProgramQuery) -> bool:
        left = self._left
        if left is None:
            return False
        ends = {place: bound.end for place, bound in self._log.snapshot(self._schemas).items()}
        waits = left.wake_at is None or left.wake_at > self._clock.now()
        return dict(left.at.positions) == ends and waits and not query.busy

    @property
    def _left(self) -> Left | None:
        return left_before(current_files(self._folder / "job"))

    @property
    def _wake_at(self) -> int | None:
        left = self._left
        return None if left is None else left.wake_at

    def _records(self, topic: str, *, new: bool = False) -> Frame:
        sink: Sink = self._sinks[topic]
        empty = pl.DataFrame(schema=frame_schema(sink.relation.schema))
        tables = self._read(topic, new=new)
        frame = pl.DataFrame(pl.from_arrow(pa.concat_tables(tables))) if tables else empty
        weight = pl.col(WEIGHT) if WEIGHT in frame.columns else pl.lit(1, pl.Int32)
        stamp = pl.col(TIMESTAMP_COLUMN) if TIMESTAMP_COLUMN in frame.columns else pl.lit(0)
        return frame.with_columns(weight.alias(WEIGHT), stamp.cast(pl.Int64).alias(TIME))

    def _letters(self, topic: str | None) -> list[Row]:
        tables = self._read(topic) if topic else []
        letters = [row for table in tables for row in table.to_pylist()]
        return [{**letter, "row": json.loads(letter["row"] or "null")} for letter in letters]

    def _read(self, topic: str, *, new: bool = False) -> list[pa.Table]:
        if topic not in self._log.topics():
            return []
        tables = []
        for place, bound in sorted(self._log.snapshot([topic]).items()):
            offset = self._seen.get((topic, place.partition), 0) if new else bound.start
            while offset < bound.end:
                chunk = self._log.read(*place, offset, ReadLimit(stop=bound.end))
                tables.append(chunk.rows)
                offset = chunk.next_offset
            if new:
                self._seen[topic, place.partition] = offset
        return tables
