"""Programs of several inputs, run step by step: what a case of joins asks of an engine.

A record carries the time its log took it; where a stream has no column for it, that is its
event time, as a Kafka record's timestamp is. Watermarks are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

from typing_extensions import override

from penstock.kernel.port import TIME, WEIGHT
from penstock.model.plan import Plan
from penstock.testing.driver import TestDriver
from tests.conformance.engine import OUTPUT, Pane, Row
from tests.conformance.engine_driver import panes_of
from tests.conformance.runner import Engine


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


SPARK = "tests.conformance.joins_spark"
"""The module of the runs that need Spark, which takes seconds to load."""


def start(engine: Engine, program: Plan) -> JoinRun:
    """Begin to run a program."""
    if engine == "driver":
        return DriverJoinRun(program)
    run: JoinRun = import_module(SPARK).SparkJoinRun(program)
    return run
