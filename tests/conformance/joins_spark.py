"""Programs of several inputs on Spark: each step of a case is appended to a log.

Spark is waited for when the watermark moves and when somebody looks: rows given in between are
one batch.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from typing_extensions import override

from penstock.kernel.port import TIME, WEIGHT
from penstock.log.record import DELETED_COLUMN, KEY_COLUMN, TIMESTAMP_COLUMN
from penstock.model.plan import Plan
from penstock.spark.session import spark_session
from penstock.testing.spark_stage import SparkStage
from tests.conformance.engine import OUTPUT, NotHereError, Pane, Row
from tests.conformance.joins_run import JoinRun

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OPEN: list[SparkJoinRun] = []


def close_runs() -> None:
    """End what a case has begun: a query that is forgotten runs on."""
    while _OPEN:
        _OPEN.pop().close()


class _Stage(SparkStage):
    """A stage that takes tombstones, and waits for Spark only when somebody looks."""

    def put(self, topic: str, row: Row, *, at: int) -> None:
        """Append a row."""
        self._reach(at)
        self._append(topic, 0, [row], at)
        self._used.setdefault(topic, set()).add(0)

    def delete(self, topic: str, key: str | None, *, at: int) -> None:
        """Append a record that has a key and no value."""
        self._reach(at)
        columns = {
            KEY_COLUMN: pa.array([None if key is None else key.encode()], pa.binary()),
            DELETED_COLUMN: pa.array([True]),
            TIMESTAMP_COLUMN: pa.array([at], pa.int64()),
        }
        self._log.append(topic, 0, pa.table(columns))
        self._used.setdefault(topic, set()).add(0)

    def wait(self) -> None:
        """Wait until Spark has taken what was appended."""
        self._catch_up()

    def _reach(self, at: int) -> None:
        if at > self._clock.now():
            self.advance_clock(to=at)


class SparkJoinRun(JoinRun):
    """A program on Spark, until `close_runs` is called."""

    def __init__(self, program: Plan) -> None:
        session = spark_session(master="local[2]")
        # A task of a query that was stopped may still be writing when its files go.
        self._folder = tempfile.TemporaryDirectory(
            prefix="conformance-", ignore_cleanup_errors=True
        )
        settings = {"watermarks": "manual"}
        self._stage = _Stage(program, settings, Path(self._folder.name), session)
        self._now = 0
        self._waiting = False
        _OPEN.append(self)

    def close(self) -> None:
        """Stop the query and remove its files."""
        self._stage.close()
        self._folder.cleanup()

    @override
    def push(self, topic: str, row: Row, *, at: int) -> None:
        self._now = max(self._now, at)
        self._stage.put(topic, row, at=at)
        self._waiting = True

    @override
    def delete(self, topic: str, row: Row, *, at: int) -> None:
        self._now = max(self._now, at)
        (key,) = row.values()
        self._stage.delete(topic, key, at=at)
        self._waiting = True

    @override
    def watermark(self, to: int, *, topic: str | None = None) -> None:
        self._catch_up()
        self._stage.advance_watermark(to, topic=topic)

    @override
    def finish(self) -> None:
        self._stage.finish()
        self._waiting = False

    @override
    def take(self) -> list[Pane]:
        self._catch_up()
        return [_pane(row, self._now) for row in self._stage.take(OUTPUT)]

    @override
    def late(self) -> list[Row]:
        self._catch_up()
        return [letter["row"] for letter in self._stage.late(OUTPUT)]

    @override
    def held(self) -> Mapping[str, list[int]]:
        raise NotHereError

    def _catch_up(self) -> None:
        if self._waiting:
            self._waiting = False
            self._stage.wait()


def _pane(row: Mapping[str, object], clock: int) -> Pane:
    columns = {name: _in_millis(row[name]) for name in row if name not in (WEIGHT, TIME)}
    weight, time = row[WEIGHT], row[TIME]
    assert isinstance(weight, int)
    assert isinstance(time, int)
    return Pane(columns, weight, time, clock)


def _in_millis(value: object) -> object:
    if not isinstance(value, datetime):
        return value
    return (value.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1)
