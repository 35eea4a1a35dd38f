"""Programs of several inputs, run step by step: what a case of joins asks of an engine.

A record carries the time its log took it; where a stream has no column for it, that is its
event time, as a Kafka record's timestamp is. Watermarks are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from typing_extensions import override

from penstock.kernel.port import TIME, WEIGHT
from penstock.model.plan import Plan
from penstock.testing.driver import TestDriver
from tests.conformance.engine import OUTPUT, NotHereError, Pane, Row
from tests.conformance.engine_driver import panes_of
from tests.conformance.runner import Case, Check, Checks, Engine


class JoinRun(Protocol):
    """A program being run; times are milliseconds."""

    def push(self, topic: str, row: Row, *, at: int) -> None:
        """Give one row, which the log took at a time; rows may be one batch until `take`."""

    def delete(self, topic: str, row: Row, *, at: int) -> None:
        """Give one tombstone: a row that holds its key alone."""

    def watermark(self, to: int, *, topic: str | None = None) -> None:
        """Say that nothing before a time will come any more, from one topic or from all."""

    def finish(self) -> None:
        """End the input."""

    def take(self) -> list[Pane]:
        """Give what came out since the last time."""

    def late(self) -> list[Row]:
        """Give all rows that were too late."""

    def held(self) -> Mapping[str, list[int]]:
        """Give the times of the rows that each side of the only join holds."""


class DriverJoinRun(JoinRun):
    """A program in the test driver."""

    def __init__(self, program: Plan) -> None:
        self._driver = TestDriver(program, watermarks="manual")
        self._seen = 0

    @override
    def push(self, topic: str, row: Row, *, at: int) -> None:
        self._driver.push(topic, [row], at=at)

    @override
    def delete(self, topic: str, row: Row, *, at: int) -> None:
        self._driver.push(topic, [{**row, WEIGHT: -1}], at=at)

    @override
    def watermark(self, to: int, *, topic: str | None = None) -> None:
        self._driver.advance_watermark(to, topic=topic)

    @override
    def finish(self) -> None:
        self._driver.finish()

    @override
    def take(self) -> list[Pane]:
        frame = self._driver.frame(OUTPUT).slice(self._seen)
        self._seen += frame.height
        return panes_of(frame, self._driver.clock)

    @override
    def late(self) -> list[Row]:
        return [letter["row"] for letter in self._driver.late(OUTPUT)]

    @override
    def held(self) -> Mapping[str, list[int]]:
        (operator,) = self._driver.physical.operators
        tables = self._driver.state(operator.id)
        return {
            side: sorted(tables[side][TIME].to_list()) if side in tables else []
            for side in ("left", "right")
        }


def start(engine: Engine, program: Plan) -> JoinRun:
    """Begin to run a program."""
    if engine == "driver":
        return DriverJoinRun(program)
    run: JoinRun = _spark().SparkJoinRun(program)
    return run


def on_engine(checks: Checks, engine: Engine) -> Mapping[str, Check]:
    """Give the checks on an engine; what it cannot be asked is asked of the driver."""
    if engine == "driver":
        return checks("driver")
    by_driver = checks("driver")
    return {kind: _tried(check, by_driver[kind]) for kind, check in checks(engine).items()}


def _tried(check: Check, otherwise: Check) -> Check:
    def tried(case: Case) -> None:
        try:
            check(case)
        except NotHereError:
            otherwise(case)
        finally:
            _spark().close_runs()

    return tried


def _spark() -> Any:  # noqa: ANN401
    """Give the engine that needs Spark, which takes seconds to load."""
    return import_module("tests.conformance.joins_spark")
